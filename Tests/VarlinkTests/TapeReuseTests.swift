import JSON
import Testing
import Varlink

@Suite("Calls that are parsed into the same tape")
struct TapeReuseTests {
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
}
