import Testing
import Varlink

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

    @Test("a call after a large one is read like the one before it, and each that is kept stays")
    func reuse() throws {
        var connection = ServerConnection()
        var kept: [(call: Call, text: String)] = []
        let large = "[\((0..<60_000).map(String.init).joined(separator: ","))]"
        let escaped = "[\(String(repeating: #""\"\\é\n","#, count: 10_000))0]"
        for round in 0..<3 {
            for value in ["[1,2]", large, #"["\n"]"#, escaped, "[]", #"["\t","a","\\"]"#] {
                let text = #"{"a":\#(value)}"#
                try connection.receive(frame(#"{"method":"a.B","parameters":\#(text)}"#))
                let call = try #require(try connection.nextCall())
                #expect(try call.value().text == text)
                if round > 0 { kept.append((call, text)) }
                #expect(connection.reply(Empty()) == .queued)
                connection.sent(connection.pendingOutputCount)
            }
        }
        for (call, text) in kept { #expect(try call.value().text == text) }
    }

    @Test(
        "a call with more values and keys than the limit is refused before the rest is read",
        arguments: ["[", #"{"a":"#])
    func tooMany(opening: String) throws {
        var limits = ConnectionLimits()
        limits.tokensMax = 1024
        let isArray = opening == "["
        func text(_ values: Int) -> String {
            let inside = (0..<values).map { isArray ? "0" : "\"\($0)\":0" }
            return isArray
                ? "[\(inside.joined(separator: ","))]" : "{\(inside.joined(separator: ","))}"
        }
        for (values, isTaken) in [(400, true), (2000, false)] {
            var connection = ServerConnection(limits: limits)
            // What follows is no JSON, and nobody comes so far.
            let end = isTaken ? "}" : ",x"
            try connection.receive(
                frame(#"{"method":"a.B","parameters":{"a":\#(text(values))}"# + end))
            if isTaken {
                #expect(try connection.nextCall()?.method == "a.B")
            } else {
                let error = #expect(throws: ProtocolViolation.self) { try connection.nextCall() }
                #expect(error?.description.contains("too many values") == true)
            }
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
