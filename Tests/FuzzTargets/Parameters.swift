import JSON
import TaskAPI
import Varlink

/// The parameters of the methods.
enum Parameters {
    private static let readers: [@Sendable (Call) -> Void] = [
        reader(Tasks.Begin.self), reader(Tasks.End.self), reader(Tasks.Extend.self),
        reader(Tasks.Submit.self), reader(Tasks.Cancel.self), reader(Tasks.RemainingTime.self),
        reader(Tasks.Show.self), reader(Tasks.List.self), reader(Tasks.Watch.self),
        reader(Tasks.Output.self), reader(Tasks.Wait.self), reader(Tasks.Explain.self),
        reader(Tasks.SimulateExpiration.self), reader(Tasks.PauseGroup.self),
        reader(Tasks.ResumeGroup.self), reader(Manager.Describe.self),
        reader(Manager.Statistics.self), reader(Manager.Reload.self),
        reader(SystemdService.Ping.self), reader(SystemdService.Reload.self),
        reader(SystemdService.SetLogLevel.self), reader(SystemdService.GetEnvironment.self),
    ]

    /// The first byte chooses the method, or an interface description instead.
    static func run(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let rest = bytes.dropFirst()
        guard Int(first) < 2 * readers.count else { return describe(rest) }
        let frame = Array("{\"method\":\"a.b.C\",\"parameters\":".utf8) + rest + Array("}".utf8)
        guard let call = call(frame) else { return }
        readers[Int(first) % readers.count](call)
    }

    private static func describe(_ bytes: ArraySlice<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let description = try? InterfaceDescription(parsing: text) else { return }
        for method in description.methods { _ = description.resolved(method.input) }
    }

    private static func call(_ frame: [UInt8]) -> Call? {
        var connection = ServerConnection()
        do throws(ProtocolViolation) {
            try Frames.receive(frame + [0], on: &connection)
            return try connection.nextCall()
        } catch {
            return nil
        }
    }

    /// Reads the input, and both as an answer; what was read is the same when written and read again.
    private static func reader<M: Method>(_ method: M.Type) -> @Sendable (Call) -> Void {
        { call in
            expectSame(try? call.decode(M.Input.self))
            expectSame(try? call.decode(M.Output.self))
        }
    }

    private static func expectSame<M: Message>(_ message: M?) {
        guard let message else { return }
        let text = text(message)
        guard let call = call(Array("{\"method\":\"a.b.C\",\"parameters\":\(text)}".utf8)),
            let again = try? call.decode(M.self)
        else { preconditionFailure("what was written cannot be read: \(text)") }
        precondition(self.text(again) == text, "what was written reads otherwise: \(text)")
    }

    private static func text<M: Message>(_ message: M) -> String {
        var writer = JSONWriter()
        message.write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
