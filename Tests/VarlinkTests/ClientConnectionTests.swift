import JSON
import Testing
import Varlink

@Suite("A client's connection")
struct ClientConnectionTests {
    @Test("false flags are never sent")
    func flags() {
        var client = ClientConnection()
        client.call("a.b.C", Number())
        client.call("a.b.C", Empty(), .more)
        client.call("a.b.C", Empty(), .oneway)
        #expect(
            client.takeOutput() == #"{"method":"a.b.C","parameters":{"number":0}}"# + "\0"
                + #"{"method":"a.b.C","parameters":{},"more":true}"# + "\0"
                + #"{"method":"a.b.C","parameters":{},"oneway":true}"# + "\0"
        )
        #expect(client.callsWaiting == 2)
    }

    @Test("replies come out the same, at whatever byte they are cut")
    func cuts() throws {
        let input =
            frame(#"{"parameters":{"number":1}}"#)
            + frame(#"{"continues":true,"parameters":{"number":2}}"#)
            + frame(#"{"continues":false,"parameters":{"number":3},"error":null}"#)
            + frame(#"{"error":"a.b.Failed","parameters":{"number":4,"why":"é"}}"#)
            + frame("{}")
        for cut in 0...input.count {
            var client = ClientConnection()
            client.call("a.A", Empty())
            client.call("a.B", Empty(), .more)
            client.call("a.C", Empty())
            client.call("a.D", Empty())
            var seen: [String] = []
            for part in [input[..<cut], input[cut...]] {
                try client.receive(part)
                while let reply = try client.nextReply() {
                    let number = try? reply.decode(Number.self).number
                    let error = try reply.error?.decode(Number.self).number
                    seen.append("\(number ?? -1) \(reply.continues) \(error ?? 0)")
                }
            }
            #expect(
                seen == ["1 false 0", "2 true 0", "3 false 0", "4 false 4", "-1 false 0"],
                "cut at \(cut)"
            )
            #expect(client.callsWaiting == 0)
        }
    }

    static let violationTexts: [(String, ProtocolViolation)] = [
        ("x", .notJSON(JSONError(.unexpectedByte, at: 0))), ("[]", .notAnObject),
        (#"{"error":1}"#, .wrongType("error")), (#"{"error":"Failed"}"#, .badName),
        (#"{"parameters":1}"#, .wrongType("parameters")),
        (#"{"continues":1}"#, .wrongType("continues")),
        (#"{"continues":true}"#, .unexpectedContinues),
    ]

    @Test("what is not a reply is a violation", arguments: violationTexts)
    func violations(text: String, violation: ProtocolViolation) throws {
        var client = ClientConnection()
        client.call("a.A", Empty())
        try client.receive(frame(text))
        #expect(throws: violation) { try client.nextReply() }
        #expect(throws: violation) { try client.nextReply() }
    }

    @Test("a reply that no call waits for is a violation; a oneway call waits for none")
    func unexpected() throws {
        var client = ClientConnection()
        client.call("a.A", Empty(), .oneway)
        try client.receive(frame("{}"))
        #expect(throws: ProtocolViolation.unexpectedReply) { try client.nextReply() }
    }

    @Test("errors of org.varlink.service are recognised")
    func serviceErrors() throws {
        let errors: [ServiceError] = [
            .interfaceNotFound(interface: "i"), .methodNotFound(method: "m"),
            .methodNotImplemented(method: "m"), .invalidParameter(parameter: "p.q[1]"),
            .permissionDenied, .expectedMore,
        ]
        for error in errors {
            var server = ServerConnection()
            var client = ClientConnection()
            client.call("a.B", Empty())
            try server.receive(Array(client.takeOutput().utf8))
            _ = try server.nextCall()
            #expect(server.reply(error) == .queued)
            try client.receive(Array(server.takeOutput().utf8))
            let remote = try #require(try client.nextReply()?.error)
            #expect(ServiceError(remote) == error)
        }
        #expect(ServiceError(RemoteError(name: "a.B", parameters: .object([]))) == nil)
    }

    @Test("thousands of calls on the way get their replies in order")
    func pipelining() throws {
        var server = ServerConnection()
        var client = ClientConnection()
        for number in 0..<5000 {
            var message = Number()
            message.number = number
            client.call("a.b.Echo", message)
        }
        try server.receive(Array(client.takeOutput().utf8))
        try ServerConnectionTests.answerAll(&server)
        try client.receive(Array(server.takeOutput().utf8))
        for number in 0..<5000 {
            let reply = try #require(try client.nextReply())
            #expect(try reply.decode(Number.self).number == number)
        }
        #expect(client.callsWaiting == 0)
    }
}
