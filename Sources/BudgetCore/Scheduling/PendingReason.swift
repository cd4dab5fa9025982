/// A rule that holds a queued task back.
///
/// Each is decided in one function of `Scheduler`, or of `NameRules` for the rules of a name, which is asked before
/// a task starts and by `explain` to say why it does not (rule 28 in docs/architecture.md).
package enum PendingReason: Equatable, Sendable {
    /// Nothing can be written to disk.
    case store(String)
    case shutdown
    /// The machine had no room for a command, of whomever.
    case shortage(String, until: BootInstant)
    /// There was no room for this command, when it was to start for the count-th time.
    case postponed(String, until: BootInstant, count: Int)
    case paused(group: String)
    /// Somebody holds all tasks of its owner back.
    case pausedOwner
    /// Somebody holds it back, and nothing else.
    case pausedTask
    /// It comes after these, which have not ended.
    case after([TaskID])
    case earliestBegin(until: BootInstant)
    /// The delay before another attempt.
    case retry(until: BootInstant, attempt: Int)
    case network
    case externalPower
    case idle
    case minimumInterval(Duration, until: BootInstant)
    /// Another task of the name is live, which keeps an interval.
    case sameName(Duration)
    /// The task that it replaces is still there.
    case replaced
    case tasksPerOwnerMax(Int)
    case slotsPerOwnerMax(Int)
    case groupSlots(Int, group: String)
    /// It takes several slots of its group, and so many are not free.
    case groupSlotsNeeded(Int, group: String)
    case slots(Int)
    /// It takes several slots, and so many are not free.
    case slotsNeeded(Int)
    /// The slots that are free are kept for a task that takes several, whose turn it is.
    case slotsReserved
    /// A change of it is on its way to the disk.
    case changing
    /// Nothing holds it back: its start is on its way to the disk.
    case starting

    /// The name of the rule.
    package var rule: String {
        switch self {
        case .store: "store"
        case .shutdown: "shutdown"
        case .shortage, .postponed: "shortage"
        case .paused: "paused"
        case .pausedOwner: "pausedOwner"
        case .pausedTask: "pausedTask"
        case .after: "after"
        case .earliestBegin: "earliestBegin"
        case .retry: "retry"
        case .network: "network"
        case .externalPower: "externalPower"
        case .idle: "idle"
        case .minimumInterval, .sameName: "minimumInterval"
        case .replaced: "unique"
        case .tasksPerOwnerMax: "tasksPerOwnerMax"
        case .slotsPerOwnerMax: "slotsPerOwnerMax"
        case .groupSlots, .groupSlotsNeeded: "groupSlots"
        case .slots, .slotsNeeded, .slotsReserved: "slots"
        case .changing: "changing"
        case .starting: "starting"
        }
    }

    /// The rule's number, in the rule's unit.
    package var value: Int? {
        switch self {
        case .minimumInterval(let interval, _), .sameName(let interval):
            interval.wholeMilliseconds
        case .tasksPerOwnerMax(let count), .slotsPerOwnerMax(let count),
            .groupSlots(let count, _), .groupSlotsNeeded(let count, _), .slots(let count),
            .slotsNeeded(let count), .postponed(_, _, let count):
            count
        case .retry(_, let attempt): attempt
        default: nil
        }
    }

    /// Until when it holds the task back at least, where that is known.
    package var until: BootInstant? {
        switch self {
        case .earliestBegin(let until), .retry(let until, _), .minimumInterval(_, let until),
            .shortage(_, let until), .postponed(_, let until, _):
            until
        default: nil
        }
    }

    /// Whether it is a rule of time, for which a submitter gets a receipt (rule 25 in docs/architecture.md).
    var defers: Bool {
        switch self {
        case .earliestBegin, .retry, .minimumInterval, .sameName: true
        default: false
        }
    }

    var condition: Conditions? {
        switch self {
        case .network: .network
        case .externalPower: .externalPower
        case .idle: .idle
        default: nil
        }
    }

    var text: String {
        switch self {
        case .store(let text): text
        case .shutdown: "the daemon is stopping"
        case .shortage(let reason, _): "no command can be started now: \(reason)"
        case .postponed(let reason, _, let count):
            "its start has been put off, \(count == 1 ? "once" : "\(count) times"): \(reason)"
        case .paused(let group): "group \(group) is paused"
        case .pausedOwner: "all tasks of its user are paused"
        case .pausedTask: "it is paused"
        case .after(let ids): PendingReason.text(after: ids)
        case .earliestBegin: "its start time has not come"
        case .retry(_, let attempt): "attempt \(attempt) waits for the delay after the last attempt"
        case .network: "there is no network"
        case .externalPower: "the machine is on battery"
        case .idle: "the machine is busy"
        case .minimumInterval: "the interval since the last success of its name is not over"
        case .sameName:
            "another task of its name is running; if that one succeeds, an interval has to pass first"
        case .replaced: "the task that it replaces is being stopped"
        case .tasksPerOwnerMax: "its user has as many live tasks as one user may have"
        case .slotsPerOwnerMax:
            "its user has all slots that one user may have"
        case .groupSlots(_, let group): "all slots of group \(group) are taken"
        case .groupSlotsNeeded(let count, let group):
            "it needs \(count) slots of group \(group), and fewer are free"
        case .slots: "all slots are taken"
        case .slotsNeeded(let count): "it needs \(count) slots, and fewer are free"
        case .slotsReserved:
            "a task of the same user that needs several slots comes first"
        case .changing: "a change of it is being written to disk"
        case .starting: "its start is being written to disk"
        }
    }

    private static let namedMax = 8

    private static func text(after ids: [TaskID]) -> String {
        let named = ids.prefix(namedMax).map { "\($0)" }.joined(separator: ", ")
        let others = ids.count - namedMax
        return "it starts after \(ids.count == 1 ? "task" : "tasks") \(named)"
            + (others > 0 ? " and \(others) others" : "")
    }
}
