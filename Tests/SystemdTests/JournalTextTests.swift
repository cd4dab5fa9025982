import Systemd
import Testing

@Suite("Entries as text")
struct JournalTextTests {
    private func line(_ entry: JournalEntry, levelPrefix: Bool = false) -> String {
        String(decoding: JournalText.line(entry, levelPrefix: levelPrefix), as: UTF8.self)
    }

    @Test("an entry is one line: level, message, fields in their order")
    func isOneLine() {
        let entry = JournalEntry(
            level: .notice,
            message: "background task ended",
            messageID: "0123456789abcdef0123456789abcdef",
            fields: [(.taskID, 42), (.taskName, "sync mail"), (.outcome, "completed")]
        )
        let text = "background task ended  BGTASK_ID=42 BGTASK_NAME=\"sync mail\""
        #expect(line(entry) == "notice \(text) BGTASK_OUTCOME=completed\n")
        #expect(line(entry, levelPrefix: true).hasPrefix("<5>notice background"))
    }

    @Test(
        "no message forges a line, a field, an escape or a writing direction",
        arguments: [
            ("done\nerr task failed", #""done\nerr task failed""#),
            ("done  BGTASK_OUTCOME=completed", #""done  BGTASK_OUTCOME=completed""#),
            (" BGTASK_ID=1", #"" BGTASK_ID=1""#),
            ("ends here ", #""ends here ""#),
            ("\u{1b}[2J\u{7}\u{0}", #""\x1b[2J\x07\x00""#),
            ("a\u{9b}31mb", #""a\xc2\x9b31mb""#),
            ("a\u{2028}b\u{202e}c\u{85}", #""a\xe2\x80\xa8b\xe2\x80\xaec\xc2\x85""#),
            ("say \"hi\"\\n", #""say \"hi\"\\n""#),
            ("tab\there\r", #""tab\there\x0d""#),
            ("Größe 10 µs 🙂", #""Größe 10 µs 🙂""#),
            ("", #""""#),
            ("plain sentence, as it is: 100 %", "plain sentence, as it is: 100 %"),
        ]
    )
    func escapesMessage(message: String, shown: String) {
        let text = line(JournalEntry(.output, level: .info, message: .string(message)))
        #expect(text == "info \(shown)\n")
    }

    @Test("bytes that are not UTF-8 are shown as numbers")
    func escapesBytes() {
        let bytes: [UInt8] = [0x61, 0xff, 0xc3, 0x28, 0xe2, 0x82, 0xed, 0xa0, 0x80, 0x62]
        let text = line(JournalEntry(level: .info, message: .bytes(bytes)))
        #expect(text == #"info "a\xff\xc3(\xe2\x82\xed\xa0\x80b""# + "\n")
    }

    @Test("a value that is not one word is quoted, so that it cannot forge a field")
    func quotesValues() {
        let entry = JournalEntry(
            level: .error,
            message: "m",
            fields: [(.reason, "x BGTASK_ID=1"), (.taskName, ""), (.state, "a\"b")]
        )
        let text = #"err m  BGTASK_REASON="x BGTASK_ID=1" BGTASK_NAME="" BGTASK_STATE="a\"b""#
        #expect(line(entry) == text + "\n")
    }

    @Test("whatever the bytes, the line holds one newline, at its end, and no control character")
    func holdsForAllBytes() {
        for first in UInt8.min...UInt8.max {
            for second: UInt8 in [0x0a, 0x1b, 0x80, 0x9b, 0xbf, 0x41] {
                let value = JournalValue.bytes([0xc2, first, second, 0xe2, 0x80, first])
                let entry = JournalEntry(level: .info, message: value, fields: [(.reason, value)])
                let bytes = JournalText.line(entry, levelPrefix: false)
                let text = String(validating: bytes, as: UTF8.self)
                #expect(bytes.last == 0x0a)
                let controls = text?.unicodeScalars.dropLast().contains {
                    $0.properties.generalCategory == .control
                }
                #expect(controls == false)
            }
        }
    }

    @Test("field names follow journald's rule", arguments: ["", "_PID", "1A", "a", "A-B", "Ä"])
    func validatesNames(name: String) {
        #expect(JournalFieldName(rawValue: name) == nil)
    }

    @Test("any key becomes a name of ours")
    func namesKeys() {
        #expect(JournalFieldName(key: "retry-after").rawValue == "BGTASK_RETRY_AFTER")
        #expect(JournalFieldName(key: "MESSAGE").rawValue == "BGTASK_MESSAGE")
        #expect(JournalFieldName(key: "bgtask_id").rawValue == "BGTASK_ID")
        #expect(JournalFieldName(key: "_PID=1\n").rawValue == "BGTASK__PID_1_")
        let long = JournalFieldName(key: String(repeating: "ü", count: 99))
        #expect(JournalFieldName(rawValue: long.rawValue) == long)
        #expect(long.rawValue.utf8.count == 64)
    }

    @Test("message ids are 32 lower-case hexadecimal digits")
    func validatesMessageIDs() {
        #expect(JournalMessageID(hex: "0123456789abcdef0123456789abcdef") != nil)
        #expect(JournalMessageID(hex: "0123456789ABCDEF0123456789abcdef") == nil)
        #expect(JournalMessageID(hex: "0123") == nil)
    }
}
