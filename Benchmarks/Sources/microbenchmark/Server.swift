internal import BudgetCore
internal import TaskAPI
internal import Varlink

/// Answers the calls of one client as the daemon does, without a socket, a loop and a journal: bytes in, the
/// registry, its actions, bytes out. Where the daemon comes to do something else for a begin or an end
/// (`Daemon+Borrowing.swift`, `Daemon+Turn.swift`), so should this.
struct Server {
    private var registry: BackgroundTaskRegistry
    private var connection = ServerConnection()
    private var actions: [Action] = []
    private var now = Instant.start
    private let holder = HolderID(rawValue: 1)
    /// Bytes that were answered.
    private(set) var answeredBytes = 0

    init(_ registry: BackgroundTaskRegistry) {
        self.registry = registry
    }

    /// One turn with one call: takes the frame, and gives out the reply.
    mutating func answer(_ frame: [UInt8]) throws {
        try frame.withUnsafeBytes { bytes in try connection.receive(bytes) }
        now = now + .microseconds(1)
        guard let call = try connection.nextCall() else { throw Surprise.noCall }
        switch call.method {
        case Tasks.Begin.name: try begin(call)
        case Tasks.End.name: try end(call)
        default: throw Surprise.unknownMethod(call.method)
        }
        try perform()
        let count = connection.withPendingOutput { bytes in bytes.count }
        connection.sent(count)
        answeredBytes += count
        _ = registry.forgetExcess()
        _ = registry.nextDeadline
    }

    private mutating func begin(_ call: Call) throws {
        let input = try call.decode(Tasks.Begin.Input.self)
        var request = BeginRequest(name: input.name, owner: .measured, holder: holder)
        request.application = input.application
        request.profile = input.profile
        let id = try registry.begin(request, at: now, &actions)
        try perform()
        var output = Tasks.Begin.Output()
        output.id = Int(id.rawValue)
        if let task = registry.record(id)?.task {
            output.remaining = remaining(registry.remaining(of: task, at: now))
        }
        guard connection.reply(output) == .queued else { throw Surprise.notAnswered }
    }

    private mutating func end(_ call: Call) throws {
        let input = try call.decode(Tasks.End.Input.self)
        let id = TaskID(rawValue: UInt64(input.id))
        let outcome = try registry.end(id, by: .measured, at: now, &actions)
        var output = Tasks.End.Output()
        output.outcome = outcome == .completed ? .completed : .expired
        guard connection.reply(output) == .queued else { throw Surprise.notAnswered }
    }

    /// What the daemon does with the actions of held tasks at the least: it looks at the task that each is about.
    private mutating func perform() throws {
        var index = 0
        while index < actions.count {
            switch actions[index] {
            case .tell(_, let id):
                guard let record = registry.record(id), record.task.id == id else {
                    throw Surprise.noTask
                }
            case .store(let step): registry.stored(step, at: now, &actions)
            default: break
            }
            index += 1
        }
        actions.removeAll(keepingCapacity: true)
    }

    private func remaining(_ remaining: Remaining) -> Tasks.Remaining {
        var output = Tasks.Remaining()
        output.ms = remaining.untilHandler?.wholeMilliseconds
        output.hardMs = remaining.untilHardLimit?.wholeMilliseconds
        output.bound = remaining.bound == nil ? nil : .ownBudget
        return output
    }
}
