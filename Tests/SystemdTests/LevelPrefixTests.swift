import Systemd
import Testing

@Suite("The level before a line")
struct LevelPrefixTests {
    private func split(_ line: String) -> (level: JournalLevel?, text: String) {
        // A slice that does not begin at 0, as lines of a buffer do.
        let (level, text) = LevelPrefix.split(Array("x\(line)".utf8).dropFirst())
        return (level, String(decoding: text, as: UTF8.self))
    }

    @Test("is taken off and says how urgent the line is")
    func isTaken() {
        for level in JournalLevel.allCases where level >= .critical {
            let result = split("<\(level.rawValue)>a <1> b")
            #expect(result.level == level)
            #expect(result.text == "a <1> b")
        }
        #expect(split("<3>") == (.error, ""))
        #expect(split("<3><4>a") == (.error, "<4>a"))
    }

    @Test("makes no line more urgent than crit, which no terminal is interrupted for")
    func isCapped() {
        #expect(split("<0>a") == (.critical, "a"))
        #expect(split("<1>a") == (.critical, "a"))
    }

    @Test(
        "is nothing but a digit from 0 to 7 between < and > at the start",
        arguments: [
            "", "<", "<3", "<8>a", "<9>a", "<33>a", "<-1>a", "< 3>a", " <3>a", "<a>", "<>a",
        ]
    )
    func isExact(line: String) {
        #expect(split(line) == (nil, line))
    }
}
