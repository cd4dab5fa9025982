import JSON
import TestKit
import Testing

@Suite("Strings of many escapes")
struct EscapedStringTests {
    /// Texts in JSON, and what they say.
    private static let pieces: [(text: String, meaning: String)] = [
        (#"\n"#, "\n"), (#"\\"#, "\\"), (#"\/"#, "/"), (#"\""#, "\""),
        (#"\b\f\r\t"#, "\u{8}\u{C}\r\t"),
        (#"\u0041"#, "A"), (#"\u00e9"#, "é"), (#"\u07FF"#, "\u{7FF}"), (#"\u0800"#, "\u{800}"),
        (#"\uFFFF"#, "\u{FFFF}"), (#"\ud83d\uDE00"#, "\u{1F600}"), (#"\udbff\udfff"#, "\u{10FFFF}"),
        ("plain text", "plain text"), ("é", "é"), ("a", "a"), (#"\na"#, "\na"),
        (#"\nabcd"#, "\nabcd"),
        (#"\u0041abcde"#, "Aabcde"),
    ]

    private func read(_ text: String) throws -> JSONValue {
        try JSONDocument(parsing: Array(text.utf8)).value(at: 0)
    }

    @Test("each is what it says, however many follow one another", arguments: 0..<pieces.count)
    func runs(index: Int) throws {
        let (text, meaning) = Self.pieces[index]
        for count in [1, 1023, 1024, 1025, 5000] {
            let string = try read("\"" + String(repeating: text, count: count) + "\"")
            #expect(string == .string(String(repeating: meaning, count: count)), "\(count)")
        }
    }

    @Test("mixed as they come they are what they say", arguments: 0..<20)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (text, meaning) = ("\"", "")
        for _ in 0..<2000 {
            let piece = Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)]
            let count = Int.random(in: 1...3, using: &random)
            text += String(repeating: piece.text, count: count)
            meaning += String(repeating: piece.meaning, count: count)
        }
        #expect(try read(text + "\"") == .string(meaning), "seed \(seed)")
    }

    @Test("one that is cut anywhere is refused", arguments: [#""\n\u0041\ud83d\ude00"#, #""\n\n"#])
    func cut(text: String) {
        for count in 0...text.utf8.count {
            #expect(throws: JSONError.self, "\(count)") { try read(String(text.prefix(count))) }
        }
    }
}
