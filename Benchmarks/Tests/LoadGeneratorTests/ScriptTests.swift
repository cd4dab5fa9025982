import BenchmarkSockets
import Testing

@testable import load_generator

@Suite("The check of replies")
struct ScriptTests {
    /// How many digits of a number the first reply of an exchange has; `nil` where it is refused.
    private func digits(_ exchange: String, _ reply: String) throws -> Int? {
        let named = try #require(Exchange.named.first { $0.name == exchange })
        let frame = FixedBytes(reply)
        let script = Script(named.exchange)
        return Script.digits(in: frame.start, length: frame.count, of: script.reply)
    }

    @Test(
        "finds the number of what was made",
        arguments: [
            ("begin-end", #"{"parameters":{"id":7,"remaining":{"ms":175000}}}"#, 1),
            ("submit", #"{"parameters":{"id":1234,"receipt":"accepted"}}"#, 4),
            ("put-delete", "INSERTED 18446744073709551615\r", 20),
            ("put", "INSERTED 10\r", 2),
        ])
    func good(exchange: String, reply: String, expected: Int) throws {
        #expect(try digits(exchange, reply) == expected)
    }

    @Test(
        "takes nothing else for a success",
        arguments: [
            ("begin-end", #"{"error":"org.bgtaskd.Tasks.LimitReached","parameters":{"value":3}}"#),
            ("begin-end", #"{"parameters":{"id":"#),
            ("begin-end", #"{"parameters":{"id":7"#),
            ("begin-end", #"{"parameters":{"id":,"#),
            ("submit", #"{"parameters":{"id":12,"receipt":"coalesced"}}"#),
            ("put", "BURIED 10\r"), ("put", "OUT_OF_MEMORY\r"), ("put", "INSERTED x\r"),
            ("put", "INSERTED 184467440737095516150\r"), ("put", ""),
        ])
    func bad(exchange: String, reply: String) throws {
        #expect(try digits(exchange, reply) == nil)
    }
}
