import Foundation
import SmallFoundation
import Testing

@Suite("The JSON encoder of `make build`")
struct JSONEncoderTests {
    private struct Command: Encodable {
        var name = "run"
        var abstract: String? = nil
        var count = -3
        var share = 0.5
        var isShown = true
        var kind = Kind.custom(words: ["a", "b"], limit: 2)
        var plain = Kind.plain
        var empty: [Int] = []
        var nothing: [String: Int] = [:]
        var nulls: [Int?] = [1, nil]
        var inner: [[String: UInt8]] = [["z": 1, "a": 2, "valueName": 3, "value": 4], [:]]
    }

    private enum Kind: Encodable {
        case plain
        case custom(words: [String], limit: Int)
    }

    private func small(_ value: some Encodable) throws -> String? {
        let encoder = SmallFoundation.JSONEncoder()
        encoder.outputFormatting = .prettyPrinted
        encoder.outputFormatting.insert(.sortedKeys)
        return String(data: try encoder.encode(value), encoding: .utf8)
    }

    private func large(_ value: some Encodable) throws -> String? {
        let encoder = Foundation.JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(data: try encoder.encode(value), encoding: .utf8)
    }

    @Test("writes members, elements, nulls and enumerations as Foundation's does")
    func values() throws {
        #expect(
            try small([Command(), Command(abstract: "Runs.")])
                == large([Command(), Command(abstract: "Runs.")]))
    }

    @Test("writes each character below 256, and some above, as Foundation's does")
    func characters() throws {
        let texts = (0..<256).compactMap(Unicode.Scalar.init(_:)).map { "a\($0)b" }
        try #require(texts.count == 256)
        for text in texts + ["", "\r\n", "e\u{301}", "👨‍👩‍👧", "\u{2028}", "\u{FFFF}"] {
            #expect(try small([text: text]) == large([text: text]))
        }
    }
}
