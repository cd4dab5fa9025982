import JSON
import Testing
import Varlink

@Suite("Frequent methods")
struct FrequentMethodTests {
    private static let methods = FrequentMethods(["a.Begin", "a.b.End"])

    private static let frames = [
        #"{"method":"a.Begin","parameters":{"name":"x"}}"#,
        #"{"method":"a.b.End","parameters":{"id":1,"more":{}},"more":true}"#,
        #"{"method":"a.Begin","parameters":{"a":{"b":[1,{}]}},"oneway":true,"other":[]}"#,
        #"{"method":"a.Begin","parameters":{"\u0061":"\n","b":2}}"#,
        #"{"method":"a.Begin","parameters":{}}"#,
        #"{"method":"a.Begin","parameters":{"}"#,
        #"{"method":"a.Begin","parameters":{"a""#,
        #"{"method":"a.Begin","parameters":{""#,
        #"{"method":"a.Begin","parameters":{"a":1},"parameters":{}}"#,
        #"{"method":"a.Begin","parameters":{"a":1},"method":"a.b.End"}"#,
        #"{"method":"a.Begin","parameters":{"a":1,"a":2}}"#,
        #"{"method":"a.Begin","parameters":{"a":1},"more":1}"#,
        #"{"method":"a.Begin","parameters":{"a":1},"upgrade":true}"#,
        #"{"method":"a.Begin","parameters":{"a":1}]"#,
        #"{"method":"a.Begin","parameters":{"a":1}}}"#,
        #"{"method":"a.Beginning","parameters":{"a":1}}"#,
        #"{"parameters":{"a":1},"method":"a.Begin"}"#,
    ]

    @Test("a frame means what it means without them, whole or broken", arguments: frames)
    func same(text: String) {
        for depthMax in [0, 1, 2, 3, 64] {
            #expect(
                read(text.utf8, Self.methods, depthMax) == read(text.utf8, nil, depthMax),
                "depth \(depthMax)")
        }
        for end in 0..<text.utf8.count {
            let part = text.utf8.prefix(end)
            #expect(read(part, Self.methods) == read(part, nil), "\(end) bytes")
        }
        for at in 0..<text.utf8.count {
            for byte in #" "{}[],:\0ae"#.utf8 + [0x80, 0x1F] {
                var bytes = Array(text.utf8)
                bytes[at] = byte
                #expect(read(bytes, Self.methods) == read(bytes, nil), "\(byte) at \(at)")
            }
        }
    }

    @Test("one that follows another on the same connection is read as well")
    func order() throws {
        var connection = ServerConnection(frequent: Self.methods)
        for number in 0..<100 {
            let name = ["a.Begin", "a.b.End", "a.Other"][number % 3]
            try connection.receive(
                frame(#"{"method":"\#(name)","parameters":{"number":\#(number)}}"#))
            let call = try #require(try connection.nextCall())
            #expect(call.method == name)
            #expect(try call.decode(Number.self).number == number)
            #expect(connection.reply(Empty()) == .queued)
        }
    }

    /// What became of a frame, in words.
    private func read(
        _ bytes: some Sequence<UInt8>, _ methods: FrequentMethods?, _ depthMax: Int = 64
    ) -> String {
        var limits = ConnectionLimits()
        limits.depthMax = depthMax
        var connection = ServerConnection(limits: limits, frequent: methods ?? FrequentMethods([]))
        do {
            try connection.receive(Array(bytes) + [0])
            guard let call = try connection.nextCall() else { return connection.takeOutput() }
            let value = try call.value().text
            return "\(call.method) \(call.oneway) \(call.more) \(call.byteCount) \(value)"
        } catch { return "\(error)" }
    }
}
