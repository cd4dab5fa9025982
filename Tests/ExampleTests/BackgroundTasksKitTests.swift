import Foundation
import TaskAPI
import TestKit
import Testing
import Varlink

/// A program for iOS that nobody has registered, a daemon, and what a test asks both.
private final class CheckedProgram {
    let daemon: Daemon
    let lines: OutputLines
    private let client: VarlinkClient
    private let program: Program

    init(settings: String = "", socket: String? = nil) throws {
        daemon = try Daemon(settings: settings)
        client = try VarlinkClient(address: daemon.socket, timeout: .seconds(60))
        lines = try OutputLines(path: daemon.folder + "/lines")
        program = try Program(
            Programs.path("background-tasks-check"), ["program", lines.path],
            variables: ["BGTASK_SOCKET": socket ?? daemon.socket], takesInput: true)
    }

    /// Has the program do something, which it says a line about.
    func perform(_ command: String) throws -> String {
        program.say(command + "\n")
        return try lines.next()
    }

    func stop() { program.stop() }

    func tasks(_ name: String) throws -> [Tasks.Task] {
        var input = Tasks.List.Input()
        (input.name, input.ended) = (name, true)
        return try client.call(Tasks.List.self, input).tasks ?? []
    }

    /// The only task of this name in this state.
    func task(_ name: String, _ state: Tasks.State) throws -> Tasks.Task {
        let found = try tasks(name).filter { $0.state == state }
        return try #require(found.count == 1 ? found.first : nil, "\(name): \(found)")
    }

    func order<M: Varlink.Method>(_ method: M.Type, _ task: Tasks.Task) throws
    where M.Input == Tasks.Reference {
        var input = Tasks.Reference()
        input.id = task.id
        _ = try client.call(method, input)
    }

    /// Waits until it has ended.
    func end(of task: Tasks.Task) throws -> Tasks.Task {
        var input = Tasks.Wait.Input()
        input.id = task.id
        return try #require(try client.call(Tasks.Wait.self, input).task)
    }

    /// Waits until something is so that follows from what was done, whenever that is.
    func wait(until isSo: () throws -> Bool) throws {
        let begin = ContinuousClock.now
        while try !isSo() {
            try #require(begin.duration(to: .now) < .seconds(60), "it is not so after a minute")
        }
    }

    var connectionCount: Int? {
        get throws {
            try client.call(Manager.Statistics.self, Empty()).counters
                .first { $0.name == "bgtaskd_connections" }?.value
        }
    }
}

@Suite("The library BackgroundTasksKit", .timeLimit(.minutes(15)))
struct BackgroundTasksKitTests {
    @Test("tasks begin and end over two connections, and handlers are called on the main thread")
    func held() throws {
        let program = try CheckedProgram()
        #expect(try program.perform("remaining") == "no limit")
        #expect(try program.perform("begin one") == "begun true")
        #expect(try program.perform("begin two") == "begun true")
        #expect(try program.connectionCount == 3)
        #expect(try program.perform("remaining") == "a limit")
        try program.order(Tasks.SimulateExpiration.self, program.task("one", .running))
        #expect(try program.lines.next() == "expired one, true")
        #expect(try program.perform("end") == "ended")
        #expect(try program.tasks("one").map(\.outcome) == [.expired])
        #expect(try program.perform("end") == "ended")
        #expect(try program.tasks("two").map(\.outcome) == [.completed])
        #expect(try program.perform("remaining") == "no limit")
        try program.wait { try program.connectionCount == 1 }
    }

    @Test("everything is granted, but there is no token for messages")
    func grants() throws {
        let program = try CheckedProgram()
        #expect(try program.perform("settings") == "granted true, badge true")
        #expect(try program.perform("register") == "no token: NSCocoaErrorDomain 3010")
    }

    @Test("the handler of a task that has ended is not called any more")
    func late() throws {
        let program = try CheckedProgram()
        #expect(try program.perform("wait") == "waits, expired: false")
        #expect(try program.perform("late one") == "begun true")
        try program.order(Tasks.SimulateExpiration.self, program.task("one", .running))
        // What is told after it means that it has come.
        try program.order(Tasks.SimulateExpiration.self, program.task("waiting", .running))
        #expect(try program.lines.next() == "waits, expired: true")
        #expect(try program.perform("") == "ended")
        #expect(try program.lines.next() == "no handler was called")
    }

    @Test("a task that is still there at the limit is taken back, and another one can begin")
    func overrun() throws {
        let program = try CheckedProgram(
            settings: "[profiles.default]\nduration = \"1s\"\ngrace = \"900ms\"")
        #expect(try program.perform("begin one") == "begun true")
        #expect(try program.lines.next() == "expired one, true")
        let task = try #require(try program.tasks("one").first)
        #expect(try program.end(of: task).outcome == .overrun)
        try program.wait { try program.perform("remaining") == "no limit" }
        try program.wait { try program.connectionCount == 1 }
        #expect(try program.perform("end") == "ended")
        #expect(try program.perform("begin two") == "begun true")
    }

    @Test("a daemon that goes has handlers called, and the next one takes new tasks")
    func lost() throws {
        let program = try CheckedProgram(
            settings: "[profiles.default]\nduration = \"1h\"\ngrace = \"200ms\"")
        #expect(try program.perform("begin one") == "begun true")
        try program.daemon.restart()
        #expect(try program.lines.next() == "expired one, true")
        #expect(try program.perform("end") == "ended")
        #expect(try program.perform("begin two") == "begun true")
    }

    @Test("activities hold time while they last")
    func activities() throws {
        let program = try CheckedProgram()
        #expect(try program.perform("activity") == "activity, expired: false")
        try program.wait { try program.tasks("activity").map(\.outcome) == [.completed] }
        #expect(try program.perform("hold two") == "held")
        #expect(try program.tasks("two").map(\.outcome) == [.completed])
    }

    @Test("a refresh is launched in the background, submits its successor, and is told of its end")
    func refresh() throws {
        let program = try CheckedProgram()
        #expect(try program.perform("refresh refresh 3600") == "submitted")
        let task = try program.task("refresh", .queued)
        #expect(task.profile == "short")
        try program.order(Tasks.SimulateLaunch.self, task)
        #expect(
            try program.lines.next(3) == ["refreshes, background", "submitted", "a limit"])
        let successor = try program.task("refresh", .queued)
        #expect(successor.id > task.id)
        try program.order(Tasks.SimulateExpiration.self, task)
        #expect(try program.lines.next(2) == ["expiring", "behind its completion"])
        let ended = try program.end(of: task)
        #expect(ended.outcome == .expired && ended.exit?.status == 1)
        #expect(try program.task("refresh", .queued).id == successor.id)
    }

    @Test("a processing task that succeeds completes")
    func processing() throws {
        let program = try CheckedProgram()
        #expect(try program.perform("process clean 3600") == "submitted")
        let task = try program.task("clean", .queued)
        #expect(task.profile == "extended")
        try program.order(Tasks.SimulateLaunch.self, task)
        #expect(try program.lines.next() == "cleans, true")
        let ended = try program.end(of: task)
        #expect(ended.outcome == .completed && ended.exit?.status == 0)
    }

    @Test("a task that nobody has registered for fails, and says so")
    func unregistered() throws {
        let program = try CheckedProgram()
        #expect(try program.perform("refresh nobody 3600") == "submitted")
        let task = try program.task("nobody", .queued)
        try program.order(Tasks.SimulateLaunch.self, task)
        let ended = try program.end(of: task)
        #expect(ended.outcome == .failed && ended.exit?.status == 78)
    }

    @Test("requests that wait are given back as they were submitted, replaced, and taken back")
    func pending() throws {
        let program = try CheckedProgram()
        #expect(try program.perform("pending") == "")
        #expect(try program.perform("refresh refresh 3600") == "submitted")
        #expect(try program.perform("process clean 7200") == "submitted")
        #expect(try program.perform("pending") == "clean true true true, refresh true")
        // The same identifier again takes the place of the first.
        #expect(try program.perform("refresh refresh 9000") == "submitted")
        #expect(try program.tasks("refresh").filter { $0.state == .queued }.count == 1)
        #expect(try program.perform("cancel clean") == "cancelled")
        #expect(try program.tasks("clean").map(\.outcome) == [.cancelled])
        #expect(try program.perform("pending").hasSuffix("refresh true"))
        #expect(try program.perform("cancelAll") == "cancelled")
        #expect(try program.perform("pending") == "")
    }

    @Test("what the user has begun goes on, and shows how far it is")
    func continued() throws {
        let program = try CheckedProgram()
        #expect(try program.perform("export") == "submitted")
        #expect(try program.lines.next() == "exports")
        try program.wait {
            let task = try program.task("export", .running)
            return task.status == "Export: 3 of 8 files" && task.progress?.completed == 3
                && task.progress?.total == 8
        }
        try program.order(Tasks.SimulateExpiration.self, program.task("export", .running))
        #expect(try program.lines.next() == "export expires")
        #expect(try program.perform("finish") == "finished")
        #expect(try program.tasks("export").map(\.outcome) == [.expired])
    }

    @Test("without a daemon it behaves as on the Simulator")
    func alone() throws {
        let program = try CheckedProgram(socket: "/nonexistent/socket")
        #expect(try program.perform("begin one") == "begun false")
        #expect(try program.perform("remaining") == "no limit")
        #expect(try program.perform("end") == "ended")
        #expect(try program.perform("activity") == "activity, expired: true")
        #expect(try program.perform("hold two") == "held")
        #expect(try program.perform("refresh refresh") == "unavailable")
        #expect(try program.perform("export") == "unavailable")
        #expect(try program.perform("pending") == "")
        #expect(try program.perform("cancelAll") == "cancelled")
        program.stop()
        #expect(try program.lines.next() == "willTerminate active")
    }
}
