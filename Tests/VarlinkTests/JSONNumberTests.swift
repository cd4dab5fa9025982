import TestKit
import Testing
import Varlink

@Suite("JSON numbers")
struct JSONNumberTests {
    static let wholeTexts: [(String, Int)] = [
        ("0", 0), ("-0", 0), ("1.0", 1), ("1e2", 100), ("100e-2", 1), ("1.50e1", 15), ("0e999", 0),
        ("0.000e-5", 0), ("-1.0e0", -1), ("12345.678e3", 12_345_678), ("1E+3", 1000),
        ("9223372036854775807", .max), ("-9223372036854775808", .min),
        ("9223372036854775807.000", .max), ("-9223372036854775808e0", .min),
        ("9223372036854775807000e-3", .max), ("922337203685477580.7e1", .max),
        ("0.000000000000000000000000001e27", 1), ("9e18", 9_000_000_000_000_000_000),
        ("1000000000000000000", 1_000_000_000_000_000_000),
        ("0e999999999999999999999999999999", 0), ("0e-999999999999999999999999999999", 0),
        ("1" + String(repeating: "0", count: 40) + "e-40", 1),
    ]

    @Test("a whole number is whole however it is written, and exact", arguments: wholeTexts)
    func wholeNumbers(text: String, value: Int) throws {
        #expect(try One<Int>.parsing(#"{"value":\#(text)}"#).value == value)
    }

    static let notWholeTexts: [(String, MessageError.Reason)] = [
        ("0.5", .wrongType(expected: "int")), ("1.5e0", .wrongType(expected: "int")),
        ("-1e-1", .wrongType(expected: "int")),
        ("1e-999999999999999999999", .wrongType(expected: "int")),
        ("9223372036854775808", .outOfRange()), ("-9223372036854775809", .outOfRange()),
        ("9223372036854775807.5", .outOfRange()), ("1e19", .outOfRange()), ("1e400", .outOfRange()),
        ("1e999999999999999999999999", .outOfRange()),
        ("18446744073709551616", .outOfRange()),
        ("99999999999999999999999999999999", .outOfRange()),
        (String(repeating: "9", count: 100_000), .outOfRange()),
    ]

    @Test(
        "a number that is no whole number in range is an error of its parameter",
        arguments: notWholeTexts
    )
    func notWholeNumbers(text: String, reason: MessageError.Reason) {
        #expect(throws: MessageError("value", reason)) {
            try One<Int>.parsing(#"{"value":\#(text)}"#)
        }
    }

    static let doubleTexts: [(String, Double)] = [
        ("1", 1), ("0.1", 0.1), ("-0.0", -0.0), ("1e308", 1e308),
        ("5e-324", .leastNonzeroMagnitude),
        ("2.2250738585072009e-308", Double.leastNormalMagnitude.nextDown), ("1e-400", 0),
        ("123456789012345678901234567890", 123456789012345678901234567890.0),
        ("0.30000000000000004", 0.30000000000000004),
    ]

    @Test("a floating-point number is the nearest double", arguments: doubleTexts)
    func doubles(text: String, value: Double) throws {
        #expect(try One<Double>.parsing(#"{"value":\#(text)}"#).value == value)
    }

    @Test(
        "a floating-point number out of range is an error of its parameter",
        arguments: ["1e309", "-1e999"]
    )
    func infinite(text: String) {
        #expect(throws: MessageError("value", .outOfRange())) {
            try One<Double>.parsing(#"{"value":\#(text)}"#)
        }
    }

    @Test(
        "what JSON has no number for is written as null",
        arguments: [Double.nan, .infinity, -.infinity]
    )
    func nonFinite(value: Double) {
        #expect(One(value).text == #"{"value":null}"#)
    }

    @Test("any double and any integer reads back as itself", arguments: 1...Effort.choose(20))
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let double = Double(bitPattern: random.next())
            if double.isFinite {
                let text = One(double).text
                #expect(try One<Double>.parsing(text).value == double, "seed \(seed): \(text)")
            }
            let shift = Int.random(in: 0..<64, using: &random)
            let integer = Int(truncatingIfNeeded: random.next()) >> shift
            let text = One(integer).text
            #expect(text == #"{"value":\#(integer)}"#, "seed \(seed)")
            #expect(try One<Int>.parsing(text).value == integer, "seed \(seed): \(text)")
        }
    }
}
