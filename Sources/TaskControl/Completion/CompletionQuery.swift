internal import TaskAPI
internal import Varlink

/// Asks the daemon what a word of the command line can be, while a shell waits for the answer.
struct CompletionQuery {
    private let client: VarlinkClient
    private let line: CompletedLine
    /// What of the word is there already.
    private let prefix: String

    /// How long an answer is waited for.
    private static let patience = Duration.seconds(1)
    /// Of tasks that have ended, the newest.
    private static let endedMax = 100

    /// - Returns: `nil` where nobody listens.
    init?(_ line: CompletedLine, prefix: String) {
        let socket = try? SocketChoice.here(
            socket: line.socket, user: line.isUser, system: line.isSystem)
        guard let socket,
            let client = try? VarlinkClient(address: socket.path, timeout: Self.patience)
        else { return nil }
        self.client = client
        self.line = line
        self.prefix = prefix
    }

    /// Numbers of tasks: of those that have ended too, where the verb takes them.
    func taskNumbers() throws(ClientError) -> [Candidate] { Self.numbers(try tasks()) }

    /// The same, and their names.
    func tasksByNumberOrName() throws(ClientError) -> [Candidate] {
        let tasks = try tasks()
        // What looks like a number is taken for one.
        return Self.numbers(tasks) + Self.names(tasks).filter { Int($0.word) == nil }
    }

    /// Names of tasks, whether they have ended or not.
    func taskNames() throws(ClientError) -> [Candidate] {
        Self.names(try liveTasks() + endedTasks())
    }

    func profiles() throws(ClientError) -> [Candidate] {
        try client.call(Manager.Describe.self, Empty()).profiles.compactMap { profile in
            Candidate(profile.name, profile.durationMs.map(TimeText.span) ?? "no limit")
        }
    }

    func groups() throws(ClientError) -> [Candidate] {
        try client.call(Tasks.Groups.self, Empty()).groups.compactMap { group in
            Candidate(group.name, group.paused ? "paused" : "")
        }
    }

    func applications() throws(ClientError) -> [Candidate] {
        var input = Applications.List.Input()
        input.all = line.isOfAll ? true : nil
        return try client.call(Applications.List.self, input).applications.compactMap {
            Candidate($0.id, $0.state.rawValue)
        }
    }

    func interfaces() throws(ClientError) -> [Candidate] {
        try client.call(ServiceInterface.GetInfo.self, Empty()).interfaces.compactMap {
            Candidate($0)
        }
    }

    // MARK: Tasks

    private func tasks() throws(ClientError) -> [Tasks.Task] {
        try liveTasks() + (line.takesEnded ? endedTasks() : [])
    }

    private func liveTasks() throws(ClientError) -> [Tasks.Task] {
        var input = Tasks.List.Input()
        input.all = line.isOfAll ? true : nil
        return try client.call(Tasks.List.self, input).tasks ?? []
    }

    private func endedTasks() throws(ClientError) -> [Tasks.Task] {
        var input = Tasks.History.Input()
        input.all = line.isOfAll ? true : nil
        let tasks = try client.call(Tasks.History.self, input).tasks ?? []
        let fitting = tasks.filter { "\($0.id)".hasPrefix(prefix) || $0.name.hasPrefix(prefix) }
        return Array(fitting.prefix(Self.endedMax))
    }

    private static func numbers(_ tasks: [Tasks.Task]) -> [Candidate] {
        tasks.compactMap { Candidate("\($0.id)", $0.name) }
    }

    private static func names(_ tasks: [Tasks.Task]) -> [Candidate] {
        var seen: Set<String> = []
        return tasks.filter { seen.insert($0.name).inserted }.compactMap { Candidate($0.name) }
    }
}
