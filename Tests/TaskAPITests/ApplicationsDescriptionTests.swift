import JSON
import TaskAPI
import Testing
import Varlink

@Suite("The messages of org.bgtaskd.Applications are those of its description")
struct ApplicationsDescriptionTests {
    @Test("every method has the fields of its description")
    func methods() throws {
        let text = try DescriptionTests.description(Applications.name)
        let differences = [
            text.differences(of: Applications.Register.self),
            text.differences(of: Applications.Launch.self),
            text.differences(of: Applications.Adopt.self),
            text.differences(of: Applications.Activate.self),
            text.differences(of: Applications.Resign.self),
            text.differences(of: Applications.EnterBackground.self),
            text.differences(of: Applications.Terminate.self),
            text.differences(of: Applications.Unregister.self),
            text.differences(of: Applications.Show.self),
            text.differences(of: Applications.List.self),
            text.differences(of: Applications.History.self),
            text.differences(of: Applications.Watch.self),
            text.differences(of: Applications.Delivered.self),
            text.differences(of: Applications.Push.self),
            text.differences(of: Applications.SetBadge.self),
            text.differences(of: Applications.SetHandles.self),
            text.differences(of: Applications.SimulateMemoryPressure.self),
            text.differences(of: Applications.Explain.self),
        ]
        #expect(differences.count == text.methods.count)
        #expect(differences.flatMap(\.self) == [])
    }

    @Test("every type has the fields of its description")
    func types() throws {
        let text = try DescriptionTests.description(Applications.name)
        let differences = [
            text.differences(ofType: "State", Applications.State.self),
            text.differences(ofType: "Callback", Applications.Callback.self),
            text.differences(ofType: "TerminationReason", Applications.TerminationReason.self),
            text.differences(ofType: "HeldTask", Applications.HeldTask.self),
            text.differences(ofType: "Termination", Applications.Termination.self),
            text.differences(ofType: "Registration", Applications.Registration.self),
            text.differences(ofType: "Freezer", Applications.Freezer.self),
            text.differences(ofType: "Application", Applications.Application.self),
            text.differences(ofType: "Span", Applications.Span.self),
            text.differences(ofType: "MessageKind", Applications.MessageKind.self),
            text.differences(ofType: "UserAction", Applications.UserAction.self),
            text.differences(ofType: "Event", Applications.Event.self),
            text.differences(ofType: "Receipt", Applications.Receipt.self),
            text.differences(ofType: "Explanation", Applications.Explanation.self),
        ]
        #expect(differences.count == text.types.count)
        #expect(differences.flatMap(\.self) == [])
    }

    @Test("every error has the parameters of its description")
    func errors() throws {
        let text = try DescriptionTests.description(Applications.name)
        let differences = [
            DescriptionTests.differences(text, Applications.NoSuchApplication.self),
            DescriptionTests.differences(text, Applications.CannotContain.self),
            DescriptionTests.differences(text, Applications.WrongState.self),
            DescriptionTests.differences(text, Applications.NotRegistered.self),
            DescriptionTests.differences(text, Applications.CannotStart.self),
        ]
        #expect(differences.count == text.errors.count)
        #expect(differences.flatMap(\.self) == [])
    }

    @Test("a payload of any depth comes out as it went in")
    func payload() throws {
        let payload = #"{"z":1,"a":[null,true,1.5,{"é":"\n"}],"":{}}"#
        let push = try Self.push(payload)
        #expect(push.payload?.text == payload)
        var event = Applications.Event()
        event.payload = push.payload
        var writer = JSONWriter()
        event.write(to: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self).contains(#""payload":\#(payload)"#))
    }

    @Test("a payload that is no object is refused by its name", arguments: ["1", "[]", #""a""#])
    func payloadType(payload: String) {
        #expect(throws: MessageError("payload", .wrongType(expected: "object"))) {
            try Self.push(payload)
        }
    }

    /// What a server reads of a message with this payload.
    private static func push(_ payload: String) throws -> Applications.Push.Input {
        let parameters = #"{"id":"clock","kind":"silent","action":"none","payload":\#(payload)}"#
        let call = #"{"method":"\#(Applications.Push.name)","parameters":\#(parameters)}"#
        var connection = ServerConnection()
        try (Array(call.utf8) + [0]).withUnsafeBytes { try connection.receive($0) }
        return try #require(try connection.nextCall()).decode(Applications.Push.Input.self)
    }
}
