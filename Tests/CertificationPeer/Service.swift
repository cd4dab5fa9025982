internal import JSON
package import Varlink

/// Answers the calls of the certification, each only where the one before it was right.
package struct CertificationService {
    private let service = ServiceInterface(
        .init(
            vendor: "bgtaskd",
            product: "Varlink certification",
            version: "1",
            url: "https://varlink.org"
        ),
        interfaces: ["org.varlink.certification": CertificationService.description]
    )
    private var clients = 0
    /// The method that each client has to call next.
    private var expected: [String: String] = [:]

    package init() {}

    package mutating func answer(_ call: Call, on connection: inout ServerConnection) {
        guard service.answer(call, on: &connection) == nil else { return }
        do throws(MessageError) {
            if try answerScalars(call, &connection) { return }
            if try answerText(call, &connection) { return }
            if try answerContainers(call, &connection) { return }
            if try answerModes(call, &connection) { return }
            _ = connection.reply(service.refusal(of: call))
        } catch {
            _ = connection.reply(ServiceError(error))
        }
    }

    private mutating func answerScalars(
        _ call: Call,
        _ connection: inout ServerConnection
    ) throws(MessageError) -> Bool {
        switch call.method {
        case Start.name: start(&connection)
        case Test01.name:
            let wants = Test01.Input(clientID: "")
            try check(Test01.self, call, wants, &connection, next: Test02.name, .init(bool: true))
        case Test02.name:
            let wants = Test02.Input(clientID: "", bool: true)
            try check(Test02.self, call, wants, &connection, next: Test03.name, .init(int: 1))
        case Test03.name:
            let wants = Test03.Input(clientID: "", int: 1)
            try check(Test03.self, call, wants, &connection, next: Test04.name, .init(float: 1))
        default: return false
        }
        return true
    }

    private mutating func answerText(
        _ call: Call,
        _ connection: inout ServerConnection
    ) throws(MessageError) -> Bool {
        switch call.method {
        case Test04.name:
            let wants = Test04.Input(clientID: "", float: 1)
            try check(
                Test04.self,
                call,
                wants,
                &connection,
                next: Test05.name,
                .init(string: "ping")
            )
        case Test05.name:
            let wants = Test05.Input(clientID: "", string: "ping")
            try check(Test05.self, call, wants, &connection, next: Test06.name, Fixtures.scalars)
        case Test06.name:
            let scalars = Fixtures.scalars
            let wants = Test06.Input(
                clientID: "",
                bool: scalars.bool,
                int: scalars.int,
                float: scalars.float,
                string: scalars.string
            )
            try check(
                Test06.self,
                call,
                wants,
                &connection,
                next: Test07.name,
                .init(struct: scalars)
            )
        default: return false
        }
        return true
    }

    private mutating func answerContainers(
        _ call: Call,
        _ connection: inout ServerConnection
    ) throws(MessageError) -> Bool {
        switch call.method {
        case Test07.name:
            let wants = Test07.Input(clientID: "", struct: Fixtures.scalars)
            try check(
                Test07.self,
                call,
                wants,
                &connection,
                next: Test08.name,
                .init(map: Fixtures.map)
            )
        case Test08.name:
            let wants = Test08.Input(clientID: "", map: Fixtures.map)
            try check(
                Test08.self,
                call,
                wants,
                &connection,
                next: Test09.name,
                .init(set: Fixtures.set)
            )
        case Test09.name:
            let wants = Test09.Input(clientID: "", set: Fixtures.set)
            try check(
                Test09.self,
                call,
                wants,
                &connection,
                next: Test10.name,
                .init(mytype: Fixtures.myType)
            )
        default: return false
        }
        return true
    }

    private mutating func answerModes(
        _ call: Call,
        _ connection: inout ServerConnection
    ) throws(MessageError) -> Bool {
        switch call.method {
        case Test10.name: try stream(call, &connection)
        case Test11.name:
            let wants = Test11.Input(clientID: "", lastMoreReplies: Fixtures.replies)
            try check(
                Test11.self,
                call,
                wants,
                &connection,
                next: End.name,
                Empty(),
                mode: call.oneway
            )
        case End.name:
            let wants = End.Input(clientID: "")
            try check(End.self, call, wants, &connection, next: nil, .init(allOK: true))
        default: return false
        }
        return true
    }

    private mutating func start(_ connection: inout ServerConnection) {
        clients += 1
        let client = "client-\(clients)"
        expected[client] = Test01.name
        _ = connection.reply(Start.Output(clientID: client))
    }

    private mutating func stream(
        _ call: Call,
        _ connection: inout ServerConnection
    ) throws(MessageError) {
        let wants = Test10.Input(clientID: "", mytype: Fixtures.myType)
        guard
            try isRight(Test10.self, call, wants, &connection, next: Test11.name, mode: call.more)
        else { return }
        for (index, text) in Fixtures.replies.enumerated() {
            let last = index == Fixtures.replies.count - 1
            _ = connection.reply(Test10.Output(string: text), continues: !last)
        }
    }

    private mutating func check<M: Varlink.Method>(
        _ method: M.Type,
        _ call: Call,
        _ wants: M.Input,
        _ connection: inout ServerConnection,
        next: String?,
        _ output: M.Output,
        mode: Bool? = nil
    ) throws(MessageError) where M.Input: CertificationInput {
        let mode = mode ?? (!call.more && !call.oneway)
        guard try isRight(method, call, wants, &connection, next: next, mode: mode) else { return }
        _ = connection.reply(output)
    }

    /// Tells whether a call is the one that its client has to make now; where it is not, says so to
    /// the client.
    private mutating func isRight<M: Varlink.Method>(
        _ method: M.Type,
        _ call: Call,
        _ wants: M.Input,
        _ connection: inout ServerConnection,
        next: String?,
        mode: Bool
    ) throws(MessageError) -> Bool where M.Input: CertificationInput {
        let got = try call.decode(M.Input.self)
        var wants = wants
        wants.clientID = got.clientID
        if expected[got.clientID] == M.name, got == wants, mode {
            expected[got.clientID] = next
            return true
        }
        var error = CertificationError()
        error.got = .object([("method", .string(call.method)), ("parameters", try call.value())])
        error.wants = .object([("method", .string(expected[got.clientID] ?? Start.name))])
        expected[got.clientID] = nil
        _ = connection.replyError(CertificationError.name, error)
        return false
    }
}

/// What the certification passes around.
package enum Fixtures {
    package static let scalars = Scalars(
        bool: false,
        int: 2,
        float: .pi,
        string: "a lot of string"
    )
    package static let map = ["foo": "Foo", "bar": "Bar"]
    package static let set: StringSet = ["one", "two", "three"]
    package static let replies = (1...10).map { "Reply number \($0)" }

    package static let myType: MyType = {
        var value = MyType()
        let map = JSONValue.object([("foo", .string("Foo")), ("bar", .string("Bar"))])
        value.object = .object([
            ("method", .string(Test09.name)), ("parameters", .object([("map", map)])),
        ])
        value.enum = .two
        value.struct = MyType.Pair(first: 1, second: "2")
        value.array = ["one", "two", "three"]
        value.dictionary = Fixtures.map
        value.stringset = set
        value.interface.foo = [
            nil, ["foo": .foo, "bar": .bar], nil, ["one": .foo, "two": .bar],
        ]
        value.interface.anon = Interface.Flags(foo: true, bar: false)
        return value
    }()
}
