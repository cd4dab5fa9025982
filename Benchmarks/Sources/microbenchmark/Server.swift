internal import BudgetCore
internal import TaskAPI
internal import Varlink

/// Answers the calls of one client as the daemon does, without a socket, a loop and a journal: bytes in, the
/// registry, its actions, bytes out. Where the daemon comes to do something else for a begin or an end
/// (`Daemon+Borrowing.swift`, `Daemon+Turn.swift`), so should this.
final class Server {
    private var registry: BackgroundTaskRegistry
    private var connection = ServerConnection(
        frequent: FrequentMethods([Tasks.Begin.name, Tasks.End.name]))
    private var actions: [Action] = []
    private var now = Instant.start
    private let holder = HolderID(rawValue: 1)
    /// Bytes that were answered.
    private(set) var answeredBytes = 0

    init(_ registry: consuming BackgroundTaskRegistry) {
        self.registry = registry
    }

    /// One turn with one call: takes the frame, and gives out the reply.
    func answer(_ frame: [UInt8]) throws {
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

    private func begin(_ call: Call) throws {
        let input = try call.decode(Tasks.Begin.Input.self)
        var request = BeginRequest(name: input.name, owner: .measured, holder: holder)
        request.application = input.application
        request.profile = input.profile
        let id = try registry.begin(request, at: now, &actions)
        try perform()
        let output = Tasks.Begin.Begun(
            id: Int(id.rawValue), remaining: registry.remaining(of: id, at: now).map(remaining))
        guard connection.reply(output) == .queued else { throw Surprise.notAnswered }
    }

    private func end(_ call: Call) throws {
        let input = try call.decode(Tasks.End.Input.self)
        let id = TaskID(rawValue: UInt64(input.id))
        let outcome = try registry.end(id, by: .measured, at: now, &actions)
        var output = Tasks.End.Output()
        output.outcome = outcome == .completed ? .completed : .expired
        guard connection.reply(output) == .queued else { throw Surprise.notAnswered }
    }

    /// What the daemon does with the actions of held tasks at the least: it looks at the task that each is about.
    private func perform() throws {
        var index = 0
        while index < actions.count {
            switch actions[index] {
            case .tell(_, let id):
                guard let brief = registry.brief(of: id), brief.owner == .measured else {
                    throw Surprise.noTask
                }
            case .store(let step): registry.stored(step, at: now, &actions)
            default: break
            }
            index += 1
        }
        actions.clear()
    }

    private func remaining(_ remaining: Remaining) -> Tasks.Remaining {
        var output = Tasks.Remaining()
        output.ms = remaining.untilHandlerMilliseconds
        output.hardMs = remaining.untilHardLimitMilliseconds
        output.bound = remaining.bound == nil ? nil : .ownBudget
        return output
    }
}
