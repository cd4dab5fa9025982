import JSON
import TaskAPI
import Testing
import Varlink

extension VarlinkClient {
    /// Makes an application known.
    @discardableResult
    func register(
        _ id: String, _ command: [String]? = ["sleep", "1000"],
        _ fill: (inout Applications.Registration) -> Void = { _ in }
    ) throws(ClientError) -> Applications.Application {
        var registration = Applications.Registration()
        registration.id = id
        registration.command = command
        fill(&registration)
        return try ask(Applications.Register.self) { $0.registration = registration }.application
    }

    /// Gives an order about an application, and tells how it is then.
    @discardableResult
    func order<M: Method>(
        _ method: M.Type, _ id: String
    ) throws(ClientError) -> Applications.Application
    where M.Input == Applications.Reference, M.Output == Applications.Answer {
        try ask(method) { $0.id = id }.application
    }

    /// Makes an application known that runs a shell script, and launches it.
    @discardableResult
    func launch(
        _ id: String, script: String = "exec sleep 1000",
        _ fill: (inout Applications.Registration) -> Void = { _ in }
    ) throws(ClientError) -> Applications.Application {
        try register(id, ["sh", "-c", script], fill)
        return try order(Applications.Launch.self, id)
    }

    func application(_ id: String) throws(ClientError) -> Applications.Application {
        try order(Applications.Show.self, id)
    }

    /// Sends an application to the background, and waits until it is suspended.
    @discardableResult
    func suspend(_ id: String) throws -> Applications.Application {
        try order(Applications.EnterBackground.self, id)
        return try waitForState(.suspended, of: id)
    }

    @discardableResult
    func waitForState(
        _ state: Applications.State, of id: String
    ) throws -> Applications.Application {
        try eventually("\(id) is \(state); it is \(try application(id))") {
            try application(id).state == state
        }
        return try application(id)
    }

    /// Sends an application a message.
    func push(
        _ kind: Applications.MessageKind, _ action: Applications.UserAction = .none, to id: String,
        _ fill: (inout Applications.Push.Input) -> Void = { _ in }
    ) throws(ClientError) -> Applications.Push.Output {
        try ask(Applications.Push.self) {
            $0.id = id
            $0.kind = kind
            $0.action = action
            fill(&$0)
        }
    }

    func setBadge(_ badge: Int, of id: String) throws(ClientError) {
        try ask(Applications.SetBadge.self) {
            $0.id = id
            $0.badge = badge
        }
    }

    /// The rules that the daemon names for an application.
    func applicationRules(_ id: String) throws(ClientError) -> [String] {
        try ask(Applications.Explain.self) { $0.id = id }.explanations.map(\.rule)
    }
}

/// What an observer of one application is told.
final class ApplicationWatch {
    /// The first event: how it was.
    let present: Applications.Event
    private let id: String
    private let client: VarlinkClient
    private let other: VarlinkClient

    init(_ id: String, _ daemon: DaemonProcess, as user: TestUser? = nil) throws {
        self.id = id
        other = try user.map(daemon.connect) ?? daemon.connect()
        client = try user.map(daemon.connect) ?? daemon.connect()
        try client.send(Applications.Watch.self, with { $0.id = id }, more: true)
        present = try client.receive(Applications.Watch.self).output.event
    }

    func next() throws -> Applications.Event {
        try client.receive(Applications.Watch.self).output.event
    }

    /// Takes events up to one that is as wanted.
    func events(
        until isLast: (Applications.Event) -> Bool
    ) throws -> [Applications.Event] {
        var events: [Applications.Event] = []
        repeat { events.append(try next()) } while !events.suffix(1).contains(where: isLast)
        return events
    }

    /// The texts of all events up to one that has this text.
    func steps(until last: String) throws -> [String] {
        try events { $0.step == last }.map(\.step)
    }

    /// The texts of all events that were on their way, by a badge that nothing else sets.
    func stepsUntilNow() throws -> [String] {
        let badge = try other.application(id).badge + 1
        try other.setBadge(badge, of: id)
        return try events { $0.badge == badge }.dropLast().map(\.step)
    }
}

extension Applications.Event {
    /// What the application was told, if anything, and where it is then.
    var step: String {
        let number = callback == .badgeChanged ? " \(badge ?? 0)" : ""
        return (callback.map { "\($0) " } ?? "") + "\(state)" + number
    }
}

extension RemoteError {
    static func noSuchApplication(_ id: String) -> RemoteError {
        RemoteError(
            name: Applications.NoSuchApplication.name, parameters: .object([("id", .string(id))]))
    }

    static func wrongState(_ id: String, _ state: Applications.State) -> RemoteError {
        RemoteError(
            name: Applications.WrongState.name,
            parameters: .object([("id", .string(id)), ("state", .string(state.rawValue))]))
    }
}
