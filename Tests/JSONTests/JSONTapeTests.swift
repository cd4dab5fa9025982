import JSON
import Testing

@Suite("Tapes of tokens")
struct JSONTapeTests {
    /// Around each size at which a tape is full.
    private static let counts =
        Array(0...40)
        + [5, 6, 7, 8].flatMap { bits in
            (-3...3).map { (1 << bits) + $0 }
        }

    @Test("a text is read whole, wherever its tape is full", arguments: counts)
    func growth(count: Int) throws {
        let numbers = (0..<count).map(String.init)
        let texts = [
            "[\(numbers.joined(separator: ","))]",
            "[\(numbers.map { "[\($0)]" }.joined(separator: ","))]",
            "{\(numbers.map { #""\#($0)":\#($0)"# }.joined(separator: ","))}",
            "{\(numbers.map { #""\#($0)":{"a":[],"b":"\n"}"# }.joined(separator: ","))}",
            #"{"a":\#(String(repeating: "[", count: min(count, 63)))"#
                + #"\#(String(repeating: "]", count: min(count, 63)))"#
                + "\(count == 0 ? "0" : "")}",
        ]
        for text in texts {
            #expect(try JSONDocument(parsing: text.utf8).value().text == text)
            let error = #expect(throws: JSONError.self) {
                try JSONDocument(parsing: text.utf8.dropLast())
            }
            #expect(error == JSONError(.unexpectedEnd, at: text.utf8.count - 1))
        }
    }

    @Test(
        "a repeated key is refused where it repeats the first that does, or first in a large object",
        arguments: [3, 7, 8, 9, 15, 16, 17, 18, 40]
    )
    func repetitions(members: Int) {
        // As many as are asked for, of which the last two repeat the second and the first.
        let keys = (0..<members - 2).map { "key\($0)" } + (members > 3 ? ["key1"] : []) + ["key0"]
        let fields = keys.map { #""\#($0)":{"a":0}"# }
        let text = "{\(fields.joined(separator: ","))}"
        let repetition = keys.count <= 8 ? keys.count - 1 : keys.count - 2
        let offset = fields[..<repetition].reduce(1) { $0 + $1.utf8.count + 1 }
        #expect(throws: JSONError(.duplicateKey, at: offset)) {
            try JSONDocument(parsing: text.utf8)
        }
    }
}
