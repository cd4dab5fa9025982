import TaskAPI
import Testing
import Varlink

extension VarlinkClient {
    /// Calls a method with what `fill` puts into its parameters.
    @discardableResult
    func ask<M: Method>(
        _ method: M.Type, _ fill: (inout M.Input) -> Void = { _ in }
    ) throws(ClientError) -> M.Output {
        var input = M.Input()
        fill(&input)
        return try call(method, input)
    }

    /// Calls a method that is to be refused.
    func refusal<M: Method>(
        of method: M.Type, _ fill: (inout M.Input) -> Void = { _ in }
    ) throws -> RemoteError {
        var answered: M.Output?
        do throws(ClientError) {
            answered = try ask(method, fill)
        } catch .remote(let error) {
            return error
        }
        throw NeverHappened(description: "refused: it answered \(answered as Any)")
    }

    /// Has a command run.
    func submit(
        _ command: [String], _ fill: (inout Tasks.Work) -> Void = { _ in }
    ) throws(ClientError) -> Int {
        var work = Tasks.Work()
        work.name = "test"
        work.command = command
        fill(&work)
        return try ask(Tasks.Submit.self) { $0.work = work }.id
    }

    /// Has a shell script run.
    func submit(
        script: String, _ fill: (inout Tasks.Work) -> Void = { _ in }
    ) throws(ClientError) -> Int {
        try submit(["sh", "-c", script], fill)
    }

    /// Begins a held task.
    func begin(
        _ name: String = "held", _ fill: (inout Tasks.Begin.Input) -> Void = { _ in }
    ) throws(ClientError) -> Int {
        try ask(Tasks.Begin.self) {
            $0.name = name
            fill(&$0)
        }.id
    }

    func show(_ id: Int) throws(ClientError) -> Tasks.Task {
        try ask(Tasks.Show.self) { $0.id = id }.task
    }

    /// A counter without labels.
    func counter(_ name: String) throws(ClientError) -> Int? {
        try ask(Manager.Statistics.self).counters.first { $0.name == "bgtaskd_" + name }?.value
    }

    /// Waits for the end of a task.
    func ended(_ id: Int) throws -> Tasks.Task {
        try #require(try ask(Tasks.Wait.self) { $0.id = id }.task)
    }
}

extension DaemonProcess {
    /// Connects, and waits until the daemon knows that all others are gone.
    func connectAlone() throws -> VarlinkClient {
        let client = try connect()
        try eventually("one connection is left") {
            try client.counter("connections") == 1
        }
        return client
    }

    /// Waits until a task has printed this; it is the task of this user, or of the tests'.
    func waitForOutput(_ wanted: String, of id: Int, as user: TestUser? = nil) throws {
        let client = try user.map(connect) ?? connect()
        var input = Tasks.Output.Input()
        input.id = id
        input.follow = true
        var text = ""
        try client.callMore(Tasks.Output.self, input) { piece in
            text += piece.text
            return !text.contains(wanted)
        }
        try #require(text.contains(wanted), "it ended, and had printed: \(text)")
    }

    /// All that a task has printed, as far as it is kept.
    func output(of id: Int, as user: TestUser? = nil) throws -> [Tasks.Output.Output] {
        let client = try user.map(connect) ?? connect()
        var pieces: [Tasks.Output.Output] = []
        var input = Tasks.Output.Input()
        input.id = id
        try client.callMore(Tasks.Output.self, input) { piece in
            pieces.append(piece)
            return true
        }
        return pieces
    }

    /// What a task has printed to one of its streams.
    func text(
        of id: Int, stream: String = "stdout", as user: TestUser? = nil
    ) throws -> String {
        try output(of: id, as: user).filter { $0.stream == stream }.map(\.text).joined()
    }
}

extension Tasks.Budget {
    init(ms duration: Int, grace: Int) {
        self.init()
        durationMs = duration
        graceMs = grace
    }
}

extension Tasks.ExpirationHandler {
    init(signal: String? = nil, command: [String]? = nil) {
        self.init()
        self.signal = signal
        self.command = command
    }
}
