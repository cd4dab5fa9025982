import JSON
import TaskAPI
import Varlink
import TestKit

/// The languages that each example of an application is written in.
enum Language: String, CaseIterable {
    case swift, python

    func program(_ name: String) -> String {
        switch self {
        case .swift: Programs.path("\(name)-example")
        case .python: Place.examples + "/" + name + ".py"
        }
    }
}

/// An example that a daemon of its own has launched as an application, and the orders of a test.
final class LaunchedExample {
    let id: String
    let daemon: Daemon
    let lines: OutputLines
    private let orders: VarlinkClient
    private let events: VarlinkClient

    /// Launches an example.
    ///
    /// - Parameters:
    ///   - settings: of the daemon. By them nothing is suspended by the passing of time alone, since a
    ///     slow machine may take any time for what a test waits for.
    ///   - arguments: of the example, made from the daemon's folder.
    convenience init(
        _ name: String, _ language: Language, _ containment: String, settings: String = "",
        arguments: (_ folder: String) throws -> [String]
    ) throws {
        try self.init(
            name, language.program(name), containment, settings: settings, arguments: arguments)
    }

    /// Launches a program that is no example.
    init(
        _ name: String, _ program: String, _ containment: String, settings: String = "",
        arguments: (_ folder: String) throws -> [String]
    ) throws {
        id = name
        daemon = try Daemon(
            settings: """
                [daemon]
                containment = "\(containment)"
                [applications]
                suspendAfter = "1h"
                \(settings)
                """)
        lines = try OutputLines(path: daemon.folder + "/lines")
        orders = try VarlinkClient(address: daemon.socket, timeout: .seconds(60))
        events = try VarlinkClient(address: daemon.socket, timeout: .seconds(60))
        var register = Applications.Register.Input()
        register.registration.id = name
        register.registration.command =
            ["/bin/sh", "-c", "exec \"$@\" >\"$0\" 2>&1", lines.path, program]
            + (try arguments(daemon.folder))
        _ = try orders.call(Applications.Register.self, register)
        var watch = Applications.Watch.Input()
        watch.id = id
        try events.send(Applications.Watch.self, watch, more: true)
        try order(Applications.Launch.self)
    }

    /// Gives an order about the application.
    @discardableResult
    func order<M: Method>(_ method: M.Type) throws -> Applications.Application
    where M.Input == Applications.Reference, M.Output == Applications.Answer {
        try orders.call(method, reference).application
    }

    /// How it is now.
    var present: Applications.Application {
        get throws { try order(Applications.Show.self) }
    }

    private var reference: Applications.Reference {
        var reference = Applications.Reference()
        reference.id = id
        return reference
    }

    /// Waits until an event says this of it.
    @discardableResult
    func wait(
        until isMeant: (Applications.Event) -> Bool
    ) throws -> Applications.Event {
        while true {
            let event = try events.receive(Applications.Watch.self).output.event
            if isMeant(event) { return event }
        }
    }

    func waitForSuspension() throws {
        try wait { $0.state == .suspended && $0.previous == .background }
    }

    /// Has it suspended: what a last task leaves behind is suspended when that ends.
    func suspend() throws {
        var begin = Tasks.Begin.Input()
        begin.name = "last"
        begin.application = id
        var end = Tasks.End.Input()
        end.id = try orders.call(Tasks.Begin.self, begin).id
        _ = try orders.call(Tasks.End.self, end)
        try waitForSuspension()
    }

    func push(
        _ kind: Applications.MessageKind, _ action: Applications.UserAction = .none,
        message: String, badge: Int? = nil
    ) throws -> Applications.Push.Output {
        try push(
            kind, action, payload: .object([(key: "message", value: .string(message))]),
            badge: badge)
    }

    func push(
        _ kind: Applications.MessageKind, _ action: Applications.UserAction = .none,
        payload: JSONValue, badge: Int? = nil
    ) throws -> Applications.Push.Output {
        var push = Applications.Push.Input()
        push.id = id
        push.kind = kind
        push.action = action
        push.payload = payload
        push.badge = badge
        return try orders.call(Applications.Push.self, push)
    }

    /// Kills suspended applications.
    ///
    /// - Returns: which ones.
    func simulateMemoryPressure() throws -> [String] {
        try orders.call(
            Applications.SimulateMemoryPressure.self, Applications.SimulateMemoryPressure.Input()
        ).terminated
    }

    /// Runs the expiration handler of its own task of this name, as if its time were nearly over.
    func simulateExpiration(of name: String) throws {
        try order(Tasks.SimulateExpiration.self, of: name, .running)
    }

    /// Has its queued task of this name start, whatever it waits for.
    func simulateLaunch(of name: String) throws {
        try order(Tasks.SimulateLaunch.self, of: name, .queued)
    }

    /// Waits until its own tasks of this name have ended.
    func waitForEnd(of name: String) throws {
        var list = Tasks.List.Input()
        (list.name, list.application) = (name, id)
        for task in try orders.call(Tasks.List.self, list).tasks ?? [] {
            var input = Tasks.Wait.Input()
            input.id = task.id
            _ = try orders.call(Tasks.Wait.self, input)
        }
    }

    private func order<M: Varlink.Method>(
        _ method: M.Type, of name: String, _ state: Tasks.State
    ) throws where M.Input == Tasks.Reference {
        var list = Tasks.List.Input()
        (list.name, list.application, list.states) = (name, id, [state])
        for task in try orders.call(Tasks.List.self, list).tasks ?? [] {
            var input = Tasks.Reference()
            input.id = task.id
            _ = try orders.call(method, input)
        }
    }

    /// Waits until a task of this name has ended like this.
    func waitForOutcome(_ outcome: Tasks.Outcome, of name: String) throws {
        let begin = ContinuousClock.now
        while try !outcomes(of: name).contains(outcome) {
            guard begin.duration(to: .now) < .seconds(60) else {
                throw Failure.hasNotEnded(name)
            }
        }
    }

    private enum Failure: Error {
        case hasNotEnded(String)
    }

    /// How its own tasks of this name have ended, the newest first.
    func outcomes(of name: String) throws -> [Tasks.Outcome?] {
        var list = Tasks.List.Input()
        list.name = name
        list.application = id
        list.states = [.ended]
        list.ended = true
        let tasks = try orders.call(Tasks.List.self, list).tasks ?? []
        return tasks.sorted { $0.id > $1.id }.map(\.outcome)
    }
}
