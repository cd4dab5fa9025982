import BudgetCore
import TestKit
import Testing

@Suite("What a task says of itself, as sd_notify(3) has it")
struct TaskNoticeTests {
    private static func notice(_ text: String) -> TaskNotice {
        TaskNotice(parsing: Array(text.utf8))
    }

    @Test("assignments are read line by line, and the first of a kind counts")
    func assignments() {
        let notice = Self.notice(
            "READY=1\nSTATUS=half done: a=b\nSTATUS=other\n\nEXTEND_TIMEOUT_USEC=1500000\r\nnonsense"
        )
        #expect(notice == TaskNotice(status: "half done: a=b", atLeast: .milliseconds(1500)))
    }

    @Test(
        "what has no meaning for a task is taken and says nothing",
        arguments: [
            "", "\n", "=", "STATUS", "status=x", " STATUS=x", "XSTATUS=x", "READY=1\nMAINPID=1",
            "BARRIER=1", "WATCHDOG=1", "ERRNO=2", "FDSTORE=1\nFDNAME=x",
            "EXTEND_TIMEOUT_USEC=", "EXTEND_TIMEOUT_USEC=-1", "EXTEND_TIMEOUT_USEC=+1",
            "EXTEND_TIMEOUT_USEC= 1", "EXTEND_TIMEOUT_USEC=1s", "EXTEND_TIMEOUT_USEC=0x10",
            "EXTEND_TIMEOUT_USEC=18446744073709551616",
            "EXTEND_TIMEOUT_USEC=99999999999999999999999999",
        ])
    func nothing(text: String) {
        #expect(Self.notice(text).isEmpty)
    }

    @Test("an empty status takes back what was said")
    func empty() {
        #expect(Self.notice("STATUS=").status == "")
    }

    @Test("the largest number is a time, and no arithmetic overflows with it")
    func largest() throws {
        let notice = Self.notice("EXTEND_TIMEOUT_USEC=18446744073709551615")
        let atLeast = try #require(notice.atLeast)
        #expect(Instant(nanoseconds: 5) + atLeast == .never)
    }

    @Test(
        "a long status is cut between two characters, and bytes that are no UTF-8 are shown as such"
    )
    func shown() throws {
        let long = try #require(Self.notice("STATUS=" + String(repeating: "ä", count: 3000)).status)
        #expect(long.utf8.count <= TaskNotice.statusBytesMax)
        #expect(long.hasSuffix("ä…"))
        let broken = TaskNotice(parsing: Array("STATUS=a".utf8) + [0xFF, 0xC3] + Array("b".utf8))
        #expect(broken.status == "a\u{FFFD}\u{FFFD}b")
    }

    @Test("no more than 64 lines of a message are read, and those that are empty are none")
    func lines() {
        let line = "\n\r\nREADY=1"
        let wanted = TaskNotice(status: "x", atLeast: .seconds(1))
        for ending in [
            "\nSTATUS=x\nEXTEND_TIMEOUT_USEC=1000000", "\rEXTEND_TIMEOUT_USEC=1000000\rSTATUS=x\n",
        ] {
            #expect(Self.notice(String(repeating: line, count: 62) + ending) == wanted)
            #expect(Self.notice(String(repeating: line, count: 63) + ending) != wanted)
            #expect(Self.notice(String(repeating: line, count: 64) + ending).isEmpty)
        }
        #expect(TaskNotice.linesMax == 64)
    }

    @Test("nothing is read after the first of both kinds, whatever it is")
    func rest() {
        let both = "STATUS=x\nEXTEND_TIMEOUT_USEC=1000000"
        #expect(Self.notice(both + "\nSTATUS=y\nEXTEND_TIMEOUT_USEC=2000000") == Self.notice(both))
    }

    @Test("the beginning of a status decides what is kept of it", arguments: 0..<Effort.choose(100))
    func deciding(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces: [[UInt8]] = [
            [0x61], [0xFF], [0xC3, 0xA4], [0xE2, 0x82, 0xAC], [0xE2, 0x82],
            [0xF0, 0x9F, 0x98, 0x80], [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0x80], [0xC0, 0x80],
            [0x80], [0xCC, 0x88],
        ]
        let kinds = pieces.filter { _ in Bool.random(using: &random) } + [[0x61]]
        for length in [1019, 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1027, 1028, 1029, 4089] {
            var text: [UInt8] = []
            while text.count < length { text += kinds.randomElement(using: &random) ?? [] }
            text.removeLast(text.count - length)
            let whole = String(decoding: text, as: UTF8.self)
                .cut(toBytes: TaskNotice.statusBytesMax)
            #expect(TaskNotice(parsing: Array("STATUS=".utf8) + text).status == whole)
            #expect(TaskNotice.deciding(text[...]).count <= TaskNotice.statusBytesMax + 4)
        }
    }

    @Test("of several messages the newest status counts, and the longest time")
    func added() {
        var notice = Self.notice("STATUS=one\nEXTEND_TIMEOUT_USEC=5000000")
        notice.add(Self.notice("EXTEND_TIMEOUT_USEC=2000000"))
        notice.add(Self.notice("STATUS=two"))
        #expect(notice == TaskNotice(status: "two", atLeast: .seconds(5)))
    }

    @Test(
        "any bytes are read without harm and change a task within its limits",
        arguments: 0..<Effort.choose(200))
    func fuzzed(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var clerk = Clerk()
        let id = try clerk.run(budget: RunTaskTests.brief)
        let limit = try #require(clerk.task(id)).lifetimeEndsAt
        for _ in 0..<100 {
            let notice = TaskNotice(parsing: Self.bytes(&random))
            #expect(notice.status?.utf8.count ?? 0 <= TaskNotice.statusBytesMax)
            #expect(notice.status?.utf8.contains { $0 == 0x0A || $0 == 0x0D } != true)
            #expect(notice.atLeast ?? .zero >= .zero)
            let before = try #require(clerk.task(id)).hardAt
            clerk.call { $0.noted(id, notice, at: $1, &$2) }
            let after = try #require(clerk.task(id)).hardAt
            #expect(after >= before && after <= limit)
            clerk.now = clerk.now + .milliseconds(10)
        }
    }

    /// Pieces of messages between random bytes.
    private static func bytes(_ random: inout SeededGenerator) -> [UInt8] {
        let pieces = [
            "STATUS=", "EXTEND_TIMEOUT_USEC=", "\n", "\r", "9", "18446744073709551615", "ä",
        ]
        return (0..<Int.random(in: 0...12, using: &random)).flatMap { _ -> [UInt8] in
            if Bool.random(using: &random) {
                return Array((pieces.randomElement(using: &random) ?? "").utf8)
            }
            return (0..<Int.random(in: 0...400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
        }
    }
}
