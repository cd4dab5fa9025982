import JSON
import TestKit
import Testing

@Suite("JSON texts")
struct JSONGoldenTests {
    static let validTexts: [(String, String)] = [
        ("null", "null"), ("true", "true"), ("false", "false"), (" 1 ", "1"), ("\t\r\n[]\n", "[]"),
        ("[ ]", "[]"), ("{ }", "{}"), ("[1 , 2]", "[1,2]"), ("[[],[[]]]", "[[],[[]]]"),
        (#"{"a":{"b":[1,{"c":null}]}}"#, #"{"a":{"b":[1,{"c":null}]}}"#),
        (#"{"":0}"#, #"{"":0}"#), (#"{"a" : 1 , "b":2}"#, #"{"a":1,"b":2}"#),
        (#"{"A":1,"a":2}"#, #"{"A":1,"a":2}"#),
        ("0", "0"), ("-0", "0"), ("-1", "-1"), ("10", "10"), ("0.5", "0.5"), ("-0.0", "-0.0"),
        ("1e5", "100000.0"), ("1E+2", "100.0"), ("25e-1", "2.5"), ("1.25", "1.25"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        (#""""#, #""""#), (#""abc""#, #""abc""#), (#""\"\\\/\b\f\n\r\t""#, #""\"\\/\b\f\n\r\t""#),
        (#""\u0041\u00e9\u20AC""#, "\"Aé€\""), (#""\uD83D\uDE00""#, "\"😀\""),
        (#""\ud83d\ude00x""#, "\"😀x\""), (#""\u0000""#, #""\u0000""#), (#""\u001f""#, #""\u001f""#),
        ("\"\u{7F}\"", "\"\u{7F}\""), ("\"é€😀\"", "\"é€😀\""), ("\"\u{10FFFF}\"", "\"\u{10FFFF}\""),
        ("\"\u{FEFF}\"", "\"\u{FEFF}\""), ("\"\u{2028}\"", "\"\u{2028}\""),
        (#"{"\u0061":1,"b":2}"#, #"{"a":1,"b":2}"#),
        ("\"a long string that does not fit into a few bytes at all\"", ""),
    ]

    @Test(
        "a text that RFC 8259 allows is read, and written as briefly as it can be",
        arguments: validTexts
    )
    func valid(text: String, written: String) throws {
        let value = try JSONDocument(parsing: text.utf8).value()
        #expect(value.text == (written.isEmpty ? text : written))
    }

    static let invalidTexts: [(String, JSONError.Reason, Int)] = [
        ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("nul", .badLiteral, 0),
        ("True", .unexpectedByte, 0), ("nulL", .badLiteral, 0), ("truex", .trailingBytes, 4),
        ("1 2", .trailingBytes, 2), ("[]]", .trailingBytes, 2), ("{}x", .trailingBytes, 2),
        ("[", .unexpectedEnd, 1), ("{", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2),
        ("[1,", .unexpectedEnd, 3), ("[1,]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1),
        ("[1 2]", .unexpectedByte, 3), ("[1}", .unexpectedByte, 2), ("]", .unexpectedByte, 0),
        (#"{"a"}"#, .unexpectedByte, 4), (#"{"a":}"#, .unexpectedByte, 5),
        (#"{"a":1,}"#, .unexpectedByte, 7), (#"{"a":1"#, .unexpectedEnd, 6),
        (#"{a:1}"#, .unexpectedByte, 1), (#"{"a":1 "b":2}"#, .unexpectedByte, 7),
        (#"{1:2}"#, .unexpectedByte, 1), (#"{"a":1]"#, .unexpectedByte, 6),
        (#"{"a""#, .unexpectedEnd, 4), (#"{"a":"#, .unexpectedEnd, 5),
        ("01", .leadingZero, 0), ("-01", .leadingZero, 1), ("00", .leadingZero, 0),
        ("-", .unexpectedEnd, 1), ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0),
        ("1.", .unexpectedEnd, 2), ("1.e1", .badNumber, 2), ("1e", .unexpectedEnd, 2),
        ("1e+", .unexpectedEnd, 3), ("--1", .badNumber, 1), ("1.2.3", .trailingBytes, 3),
        ("0x10", .trailingBytes, 1), ("NaN", .unexpectedByte, 0), ("-Infinity", .badNumber, 1),
        ("1e1.5", .trailingBytes, 3), ("１", .unexpectedByte, 0),
        ("'a'", .unexpectedByte, 0), (#"""#, .unexpectedEnd, 1), (#""a"#, .unexpectedEnd, 2),
        (#""\"#, .unexpectedEnd, 2), (#""\x""#, .badEscape, 1), (#""\u12""#, .badEscape, 1),
        (#""\u12G4""#, .badEscape, 1), (#""\U0041""#, .badEscape, 1),
        ("\"\n\"", .controlCharacter, 1),
        ("\"a\u{1F}\"", .controlCharacter, 2), ("\"\0\"", .controlCharacter, 1),
        (#""\uD800""#, .loneSurrogate, 1), (#""\uDC00""#, .loneSurrogate, 1),
        (#""\uD800\uD800""#, .loneSurrogate, 1), (#""\uD83Dx""#, .loneSurrogate, 1),
        (#""\uD83D\n""#, .loneSurrogate, 1), (#""\uDE00\uD83D""#, .loneSurrogate, 1),
        (#"{"a":1,"a":2}"#, .duplicateKey, 7), (#"{"a":1,"b":{},"a":2}"#, .duplicateKey, 14),
        (#"[{"":1,"":2}]"#, .duplicateKey, 7), ("/**/1", .unexpectedByte, 0),
        ("\u{FEFF}1", .unexpectedByte, 0), ("\u{A0}1", .unexpectedByte, 0),
    ]

    @Test("a text that RFC 8259 forbids is refused, with the place", arguments: invalidTexts)
    func invalid(text: String, reason: JSONError.Reason, offset: Int) {
        #expect(throws: JSONError(reason, at: offset)) { try JSONDocument(parsing: text.utf8) }
    }

    static let badSequences: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80],
        [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28],
        [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
        [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x28, 0x80],
        [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
        [0xFE], [0xFF],
    ]

    @Test("bytes that are not UTF-8 are refused in strings and keys", arguments: badSequences)
    func badUTF8(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let offset = 2
        #expect(throws: JSONError(.badUTF8, at: offset)) {
            try JSONDocument(parsing: [quote, 0x61] + bytes + [quote])
        }
        #expect(throws: JSONError.self) { try JSONDocument(parsing: [quote] + bytes) }
        #expect(throws: JSONError(.badUTF8, at: offset)) {
            try JSONDocument(parsing: [UInt8(ascii: "{"), quote] + bytes + Array("\":1}".utf8))
        }
    }

    @Test("a byte that ends or breaks a string is found at every place in it")
    func specialBytes() throws {
        for before in 0..<20 {
            for after in 0..<20 {
                let start = String(repeating: "~", count: before)
                let end = String(repeating: "!", count: after)
                for (written, read) in [("\\\\", "\\"), ("\\\"", "\""), ("é", "é"), ("]", "]")] {
                    let value = try JSONDocument(parsing: "\"\(start)\(written)\(end)\"".utf8)
                        .value()
                    #expect(value == .string(start + read + end))
                }
                for (byte, reason) in [
                    (0x00, JSONError.Reason.controlCharacter), (0x1F, .controlCharacter),
                    (0x80, .badUTF8), (0xFF, .badUTF8), (0x22, .trailingBytes),
                ] {
                    let text = Array("\"\(start)".utf8) + [UInt8(byte)] + Array("\(end)\"".utf8)
                    let offset = before + (byte == 0x22 ? 2 : 1)
                    #expect(throws: JSONError(reason, at: offset)) {
                        try JSONDocument(parsing: text)
                    }
                }
            }
        }
    }

    @Test("arrays and objects nest 64 deep and no deeper")
    func depth() throws {
        let nested = { (depth: Int, open: String, close: String) in
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        _ = try JSONDocument(parsing: nested(64, "[", "]").utf8)
        _ = try JSONDocument(parsing: nested(64, #"{"a":"#, "}").utf8)
        #expect(throws: JSONError(.tooDeep, at: 64)) {
            try JSONDocument(parsing: nested(65, "[", "]").utf8)
        }
        #expect(throws: JSONError.self) {
            try JSONDocument(parsing: nested(65, #"{"a":"#, "}").utf8)
        }
        #expect(throws: JSONError(.tooDeep, at: 64)) {
            try JSONDocument(parsing: String(repeating: "[", count: 1_000_000).utf8)
        }
    }

    @Test("a key given twice is found in small and large objects, however it is written")
    func duplicateKeys() {
        for count in [2, 7, 8, 9, 10, 100, 5000] {
            let fields = (0..<count - 1).map { #""key\#($0)":[{}]"# }
            for repeated in [#""key0""#, #""\u006bey0""#] {
                let text = "{" + (fields + ["\(repeated):0"]).joined(separator: ",") + "}"
                let error = #expect(throws: JSONError.self) {
                    try JSONDocument(parsing: text.utf8)
                }
                #expect(error?.reason == .duplicateKey)
            }
        }
    }

    @Test("the cost of an object grows with its size and not with its square")
    func largeObject() throws {
        // The square of so many keys would take an hour, and a run of tests has half of one.
        let fields = (0..<1_000_000).map { #""k\#($0)":0"# }
        let text = "{" + fields.joined(separator: ",") + "}"
        _ = try JSONDocument(parsing: text.utf8)
    }
}
