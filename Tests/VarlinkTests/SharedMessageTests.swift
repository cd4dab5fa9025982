import Testing
import Varlink

@Suite("Messages that many readers get")
struct SharedMessageTests {
    struct Event: Message, Equatable {
        var text = ""
        var number = 0
        var note: String?

        mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("text", &text)
            try fields.field("number", &number)
            try fields.field("note", &note)
        }
    }

    struct Output: Message {
        var event = Event()

        mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("event", &event)
        }
    }

    private func connection() throws -> ServerConnection {
        var connection = ServerConnection()
        let call = Array(#"{"method":"a.b.C","more":true}"#.utf8) + [0]
        try call.withUnsafeBytes { try connection.receive($0) }
        #expect(try connection.nextCall() != nil)
        return connection
    }

    private func pending(_ connection: ServerConnection) -> String {
        connection.withPendingOutput { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "each reader gets what a reply of its own would have been",
        arguments: [0, 7, -1, Int.max, Int.min], [nil, "number", #""number":5"#] as [String?])
    func same(number: Int, text: String?) throws {
        var event = Event()
        event.text = text ?? ""
        event.note = text
        event.number = 4711
        let shared = SharedMessage(event, as: "event", number: "number")
        event.number = number
        var output = Output()
        output.event = event
        for continues in [true, false] {
            var (one, other) = (try connection(), try connection())
            #expect(one.reply(shared, number: number, continues: continues) == .queued)
            #expect(other.reply(output, continues: continues) == .queued)
            #expect(pending(one) == pending(other))
            #expect(one.isCallInProgress == continues)
        }
        #expect(shared.byteCount > 0)
    }

    @Test("a message without a number is the same for all")
    func withoutNumber() throws {
        var event = Event()
        event.text = "\u{1}"
        let shared = SharedMessage(event)
        var (one, other) = (try connection(), try connection())
        #expect(one.reply(shared, continues: true) == .queued)
        #expect(other.reply(event, continues: true) == .queued)
        #expect(pending(one) == pending(other))
    }

    @Test("nothing is written where nobody waits, or only one reply is wanted")
    func refused() throws {
        let shared = SharedMessage(Event(), as: "event", number: "number")
        var none = ServerConnection()
        #expect(none.reply(shared, number: 1, continues: true) == .noCallInProgress)
        var once = ServerConnection()
        let call = Array(#"{"method":"a.b.C"}"#.utf8) + [0]
        try call.withUnsafeBytes { try once.receive($0) }
        #expect(try once.nextCall() != nil)
        #expect(once.reply(shared, number: 1, continues: true) == .moreNotAsked)
        #expect(once.pendingOutputCount == 0)
    }
}
