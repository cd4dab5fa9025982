import JSON
import Testing
import Varlink

@Suite("A server's connection")
struct ServerConnectionTests {
    /// Answers every call that is there: echoes `deep`, streams where more is asked, refuses where
    /// the method is `Fail`.
    static func answerAll(_ connection: inout ServerConnection) throws {
        while let call = try connection.nextCall() {
            #expect(try connection.nextCall() == nil)
            switch call.member {
            case "Fail": #expect(connection.reply(.permissionDenied) != .noCallInProgress)
            case "Stream":
                for index in 1...3 {
                    var part = Number()
                    part.number = index
                    #expect(connection.reply(part, continues: index < 3) == .queued)
                }
            default:
                do throws(MessageError) {
                    let number = try call.decode(Number.self)
                    #expect(connection.reply(number) == (call.oneway ? .suppressed : .queued))
                } catch {
                    #expect(connection.reply(ServiceError(error)) == .queued)
                }
            }
        }
    }

    static let transcript = [
        (#"{"method":"a.b.Echo","parameters":{"number":1}}"#, #"{"parameters":{"number":1}}"#),
        (#"{"oneway":true,"method":"a.b.Echo","parameters":{"number":2}}"#, nil),
        (
            #"{"method":"a.b.Fail","parameters":null,"more":false}"#,
            #"{"error":"org.varlink.service.PermissionDenied","parameters":{}}"#
        ),
        (
            #" { "more" : true , "method" : "a.b.Stream" , "later" : [ { } ] } "#,
            #"{"parameters":{"number":1},"continues":true}"# + "\0"
                + #"{"parameters":{"number":2},"continues":true}"# + "\0"
                + #"{"parameters":{"number":3}}"#
        ),
        (
            #"{"method":"a.b.Echo"}"#,
            #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"number"}}"#
        ),
        (
            #"{"method":"a.b.Up","upgrade":true}"#,
            #"{"error":"org.varlink.service.MethodNotImplemented","parameters":{"method":"a.b.Up"}}"#
        ),
        (#"{"method":"a.b.Up","upgrade":true,"oneway":true}"#, nil),
        (#"{"method":"a.b.Echo","parameters":{"number":4e0}}"#, #"{"parameters":{"number":4}}"#),
    ]

    @Test("the same bytes get the same replies, at whatever byte they are cut")
    func cuts() throws {
        let input = Self.transcript.flatMap { frame($0.0) }
        let expected = Self.transcript.compactMap { $0.1.map { $0 + "\0" } }.joined()
        for cut in 0...input.count {
            var connection = ServerConnection()
            var output = ""
            for part in [input[..<cut], input[cut...]] {
                try connection.receive(part)
                try Self.answerAll(&connection)
                output += connection.takeOutput()
            }
            #expect(output == expected, "cut at \(cut)")
        }
        for size in 1...7 {
            var connection = ServerConnection()
            for start in stride(from: 0, to: input.count, by: size) {
                try connection.receive(input[start..<min(start + size, input.count)])
                try Self.answerAll(&connection)
            }
            #expect(connection.takeOutput() == expected, "pieces of \(size)")
            #expect(connection.bufferedBytes == 0)
        }
    }

    @Test("a call is handed out only after the one before it has had its final reply")
    func order() throws {
        var connection = ServerConnection()
        try connection.receive(
            frame(#"{"method":"a.A","more":true}"#) + frame(#"{"method":"a.B"}"#)
        )
        let first = try #require(try connection.nextCall())
        #expect(first.method == "a.A" && first.interface == "a" && first.member == "A")
        #expect(first.more && !first.oneway && connection.isCallInProgress)
        #expect(try connection.nextCall() == nil)
        #expect(connection.reply(Empty(), continues: true) == .queued)
        #expect(try connection.nextCall() == nil)
        #expect(connection.reply(Empty()) == .queued)
        #expect(try connection.nextCall()?.method == "a.B")
    }

    @Test("a reply that cannot be right is told to the caller, and nothing is sent")
    func wrongReplies() throws {
        var connection = ServerConnection()
        #expect(connection.reply(Empty()) == .noCallInProgress)
        #expect(connection.reply(.expectedMore) == .noCallInProgress)
        try connection.receive(frame(#"{"method":"a.B"}"#))
        _ = try connection.nextCall()
        #expect(connection.reply(Empty(), continues: true) == .moreNotAsked)
        #expect(connection.pendingOutputCount == 0 && connection.isCallInProgress)
        #expect(connection.reply(Empty()) == .queued)
        #expect(connection.reply(Empty()) == .noCallInProgress)
        #expect(connection.takeOutput() == #"{"parameters":{}}"# + "\0")
    }

    @Test("a oneway call gets no reply, no error, and no stream")
    func oneway() throws {
        var connection = ServerConnection()
        for _ in 0..<3 { try connection.receive(frame(#"{"method":"a.B","oneway":true}"#)) }
        _ = try connection.nextCall()
        #expect(connection.reply(Empty()) == .suppressed)
        _ = try connection.nextCall()
        #expect(connection.reply(.methodNotFound(method: "a.B")) == .suppressed)
        try connection.receive(frame(#"{"method":"a.B","oneway":true,"more":true}"#))
        _ = try connection.nextCall()
        #expect(connection.replyError("a.E", Empty()) == .suppressed)
        _ = try connection.nextCall()
        #expect(connection.reply(Empty(), continues: true) == .suppressed)
        #expect(connection.isCallInProgress)
        #expect(connection.reply(Empty()) == .suppressed)
        #expect(connection.pendingOutputCount == 0 && !connection.isCallInProgress)
    }

    static let violationTexts: [(String, ProtocolViolation)] = [
        ("", .notJSON(JSONError(.unexpectedEnd, at: 0))),
        ("GET / HTTP/1.1", .notJSON(JSONError(.unexpectedByte, at: 0))),
        (#"{"method":"a.B""#, .notJSON(JSONError(.unexpectedEnd, at: 15))),
        (#"{"method":"a.B"}x"#, .notJSON(JSONError(.trailingBytes, at: 16))),
        (
            #"{"method":"a.B","method":"a.C"}"#, .notJSON(JSONError(.duplicateKey, at: 16))
        ),
        ("[]", .notAnObject), ("null", .notAnObject), (#""a.B""#, .notAnObject),
        ("{}", .missing("method")), (#"{"parameters":{}}"#, .missing("method")),
        (#"{"method":1}"#, .wrongType("method")), (#"{"method":null}"#, .wrongType("method")),
        (#"{"method":""}"#, .badName), (#"{"method":"Begin"}"#, .badName),
        (#"{"method":".B"}"#, .badName), (#"{"method":"a."}"#, .badName),
        (#"{"method":"a.B","parameters":[]}"#, .wrongType("parameters")),
        (#"{"method":"a.B","parameters":"x"}"#, .wrongType("parameters")),
        (#"{"method":"a.B","more":1}"#, .wrongType("more")),
        (#"{"method":"a.B","more":"true"}"#, .wrongType("more")),
        (#"{"method":"a.B","oneway":{}}"#, .wrongType("oneway")),
        (#"{"method":"a.B","upgrade":0}"#, .wrongType("upgrade")),
    ]

    @Test(
        "what is not a call is a violation, and the calls before it are answered",
        arguments: violationTexts
    )
    func violations(text: String, violation: ProtocolViolation) throws {
        var connection = ServerConnection()
        try connection.receive(frame(#"{"method":"a.b.Echo","parameters":{"number":9}}"#))
        try connection.receive(frame(text) + frame(#"{"method":"a.B"}"#))
        _ = try connection.nextCall()
        #expect(connection.reply(Empty()) == .queued)
        #expect(throws: violation) { try connection.nextCall() }
        #expect(throws: violation) { try connection.nextCall() }
        #expect(throws: violation) { try connection.receive(frame("{}")) }
        #expect(!connection.wantsInput)
        #expect(connection.takeOutput() == #"{"parameters":{}}"# + "\0")
    }

    @Test("flags that are false, null or absent are the same")
    func flags() throws {
        for flags in [
            "", #","more":false,"oneway":false,"upgrade":false"#, #","more":null,"oneway":null"#,
        ] {
            var connection = ServerConnection()
            try connection.receive(frame(#"{"method":"a.B"\#(flags)}"#))
            let call = try #require(try connection.nextCall())
            #expect(!call.more && !call.oneway)
            #expect(try call.value() == .object([]))
        }
    }

    @Test("many methods called in turn keep their names")
    func methodNames() throws {
        var connection = ServerConnection()
        for round in 0..<3 {
            for index in 0..<20 {
                try connection.receive(frame(#"{"method":"org.example.M\#(index)"}"#))
                #expect(try connection.nextCall()?.method == "org.example.M\(index)", "\(round)")
                #expect(connection.reply(Empty()) == .queued)
            }
        }
        try connection.receive(frame(#"{"method":"org.example.\u004d1"}"#))
        #expect(try connection.nextCall()?.method == "org.example.M1")
    }
}

/// One number.
struct Number: Message, Equatable {
    var number = 0

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("number", &number)
    }
}
