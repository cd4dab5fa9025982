internal import TaskAPI
internal import Varlink

/// Finds the tasks that a person names.
struct TaskFinder {
    /// A task that was chosen.
    struct Chosen: Equatable {
        let id: Int
        /// Whether it was chosen by what it is, and not by its number: then it may end meanwhile, and nobody minds.
        let isFound: Bool
        /// Why there is none, where a name has no task.
        var failure: Failure?
    }

    private let connection: DaemonConnection
    private let all: Bool?
    private let states: [Tasks.State]?
    private let includesEnded: Bool

    /// - Parameters:
    ///   - all: whether those of all users are meant.
    ///   - states: in which of them those are that are not named by number; `nil`: all but ended ones.
    ///   - includesEnded: whether a name may also stand for the newest task of that name which has ended.
    init(
        _ connection: DaemonConnection, all: Bool?, states: [Tasks.State]? = nil,
        includesEnded: Bool = false
    ) {
        self.connection = connection
        self.all = all
        self.states = states
        self.includesEnded = includesEnded
    }

    /// Finds tasks by number or name.
    ///
    /// - Returns: with a failure for each name that has no task.
    func find(_ words: [String]) throws(Failure) -> [Chosen] {
        var chosen: [Chosen] = []
        for word in words {
            if let number = Int(word), number >= 0 {
                chosen.append(Chosen(id: number, isFound: false))
                continue
            }
            let named = try find(named: word)
            chosen +=
                named.isEmpty ? [Chosen(id: 0, isFound: false, failure: unknown(word))] : named
        }
        return chosen
    }

    /// Finds the tasks of a group.
    ///
    /// - Throws: where there is no such group.
    func find(ofGroup group: String) throws(Failure) -> [Chosen] {
        let found = try find { $0.group = group }
        if found.isEmpty { try Self.requireGroup(group, connection) }
        return found
    }

    /// Refuses a group that the settings do not name, so that a mistyped one is not taken for an empty one.
    static func requireGroup(
        _ name: String, _ connection: DaemonConnection
    ) throws(Failure) {
        let groups = try connection.call(Tasks.Groups.self, Empty()).groups
        guard !groups.contains(where: { $0.name == name }) else { return }
        throw Failure("there is no group \(name); bgtaskctl group list names them")
    }

    /// The command that was submitted last, live or ended.
    func findLast() throws(Failure) -> (id: Int, name: String) {
        var input = Tasks.List.Input()
        input.all = all
        input.ended = true
        var last: (id: Int, name: String)?
        try connection.stream(Tasks.List.self, input) { reply throws(Failure) in
            for task in [reply.task].compactMap(\.self) + (reply.tasks ?? [])
            where task.kind == .run && task.id > last?.id ?? 0 && !isOfOnEnd(task) {
                last = (task.id, task.name)
            }
        }
        if let last { return last }
        // The daemon has so many of the others' in memory that only the disk has this one.
        var past = Tasks.History.Input()
        past.all = all
        let ended = try connection.call(Tasks.History.self, past).tasks ?? []
        guard let newest = ended.filter({ !isOfOnEnd($0) }).max(by: { $0.id < $1.id }) else {
            throw Failure("you have submitted no command yet; see: bgtaskctl help run")
        }
        return (newest.id, newest.name)
    }

    /// Whether it came with another task, by --on-end.
    private func isOfOnEnd(_ task: Tasks.Task) -> Bool {
        task.command.flatMap(EndCommand.script) != nil
    }

    private func find(named name: String) throws(Failure) -> [Chosen] {
        let live = try find { $0.name = name }
        if !live.isEmpty { return live }
        if includesEnded {
            let ended = try find {
                $0.name = name
                $0.states = [.ended]
                $0.ended = true
            }
            if let newest = ended.max(by: { $0.id < $1.id }) { return [newest] }
        }
        return []
    }

    private func unknown(_ name: String) -> Failure {
        let kind =
            includesEnded
            ? ""
            : states == nil
                ? " that has not ended" : states == [.queued] ? " that waits" : " that runs"
        return Failure("there is no task \(name)\(kind), or it is not yours; see: bgtaskctl list")
    }

    /// Finds the tasks that a listing has.
    func find(_ choose: (inout Tasks.List.Input) -> Void) throws(Failure) -> [Chosen] {
        var input = Tasks.List.Input()
        input.all = all
        input.states = states
        choose(&input)
        var found: [Chosen] = []
        try connection.stream(Tasks.List.self, input) { reply throws(Failure) in
            for task in [reply.task].compactMap(\.self) + (reply.tasks ?? []) {
                found.append(Chosen(id: task.id, isFound: true))
            }
        }
        return found
    }
}
