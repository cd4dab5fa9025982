import Settings
import TestKit
import Testing

@Suite("Time spans")
struct TimeSpanTests {
    @Test(
        "systemd's time spans are read to the microsecond",
        arguments: [
            ("3min", 180_000_000), ("175s", 175_000_000), ("500ms", 500_000),
            ("1h 30min", 5_400_000_000), ("1h30min", 5_400_000_000), ("30d", 2_592_000_000_000),
            ("1.5s", 1_500_000), (".5s", 500_000), ("5", 5_000_000), (" 0 ", 0),
            ("2.25", 2_250_000),
            ("2 h", 7_200_000_000), ("2hours", 7_200_000_000), ("48hr", 172_800_000_000),
            ("1y 12month", 63_115_200_000_000), ("55s500ms", 55_500_000),
            ("300ms20s 5day", 432_020_300_000), ("1w", 604_800_000_000), ("1M", 2_629_800_000_000),
            ("1m", 60_000_000), ("3us", 3), ("3µs", 3), ("3μs", 3), ("7usec", 7),
            ("1.0000019s", 1_000_001),
            ("\t1s\n", 1_000_000), ("1s 1s", 2_000_000), ("0.1d", 8_640_000_000),
            ("292000y", 9_214_819_200_000_000_000),
        ]
    )
    func reads(_ text: String, _ microseconds: Int64) throws {
        #expect(try TimeSpan(parsing: text) == .finite(.microseconds(microseconds)))
    }

    @Test(
        "what is not a time span is refused with a plain reason",
        arguments: [
            ("", "empty"), ("  ", "empty"), ("-5s", #"expected a number at "-5s""#),
            ("+5s", #"expected a number at "+5s""#), ("s", #"expected a number at "s""#),
            ("5 parsecs", #"unknown unit "parsecs""#), ("5mins", #"unknown unit "mins""#),
            ("1.s", "expected digits after the point"),
            ("1..5s", "expected digits after the point"),
            ("1h 30", "30 has no unit"), ("30 1h", "30 has no unit"),
            ("infinity 5s", #"expected a number at "infinity 5s""#),
            ("Infinity", #"expected a number at "Infinity""#),
            ("99999999999999999999s", "longer than a time span can be"),
            ("300000y", "longer than a time span can be"),
            ("292000y 292000y", "longer than a time span can be"),
            ("5\u{1B}[2J", #"expected a number at "\u{1B}[2J""#),
            ("5s\u{0}", #"expected a number at "\u{0}""#),
            ("5S", #"unknown unit "S""#), ("1e3", #"unknown unit "e""#),
        ]
    )
    func refuses(_ text: String, _ reason: String) {
        #expect(throws: TimeSpan.Failure(description: reason)) { try TimeSpan(parsing: text) }
    }

    @Test("a text longer than any time span is refused at once")
    func refusesLongTexts() {
        let text = String(repeating: "1s ", count: 100_000)
        #expect(throws: TimeSpan.Failure(description: "too long for a time span")) {
            try TimeSpan(parsing: text)
        }
    }

    @Test("infinity is a span of its own")
    func infinity() throws {
        let span = try TimeSpan(parsing: " infinity ")
        #expect(span == .infinite)
        #expect(span.duration == nil)
        #expect(span.milliseconds == nil)
        #expect(span.description == "infinity")
    }

    @Test(
        "a span is printed short and for people",
        arguments: [
            (175_000_000, "2min 55s"), (180_000_000, "3min"), (0, "0s"), (500_000, "500ms"),
            (1_500_000, "1.5s"), (250, "250us"), (1_500, "1.5ms"), (5_400_000_000, "1h 30min"),
            (2_592_000_000_000, "30d"), (90_500_000, "1min 30.5s"),
            (86_400_000_001, "1d 0.000001s"),
            (1_050_000, "1.05s"),
        ]
    )
    func prints(_ microseconds: Int64, _ text: String) {
        #expect(TimeSpan.finite(.microseconds(microseconds)).description == text)
    }

    @Test("every printed span reads back as itself")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<Effort.choose(20_000) {
            let size = Int64.random(in: 0...62, using: &generator)
            let span = TimeSpan.finite(
                .microseconds(Int64.random(in: 0...(1 << size), using: &generator))
            )
            #expect(try TimeSpan(parsing: span.description) == span)
        }
    }

    @Test("milliseconds are rounded up, so that nothing waits too short")
    func milliseconds() throws {
        #expect(try TimeSpan(parsing: "1ms").milliseconds == 1)
        #expect(try TimeSpan(parsing: "1us").milliseconds == 1)
        #expect(try TimeSpan(parsing: "2.0001s").milliseconds == 2001)
        #expect(TimeSpan.finite(.seconds(Int64.max)).milliseconds == .max)
    }

    @Test("random texts never trap")
    func fuzz() {
        var generator = SeededGenerator(seed: 11)
        let alphabet = Array("0123456789. smhdinftyuµ-+e\u{0}")
        for _ in 0..<Effort.choose(20_000) {
            let length = Int.random(in: 0...24, using: &generator)
            let text = String(
                (0..<length).compactMap { _ in alphabet.randomElement(using: &generator) }
            )
            _ = try? TimeSpan(parsing: text)
        }
    }
}
