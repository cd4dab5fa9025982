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
    case slots(Int)
    /// Nothing holds it back: its start is on its way to the disk.
    case starting

    /// The name of the rule.
    package var rule: String {
        switch self {
        case .store: "store"
        case .shutdown: "shutdown"
        case .shortage, .postponed: "shortage"
        case .paused: "paused"
        case .earliestBegin: "earliestBegin"
        case .retry: "retry"
        case .network: "network"
        case .externalPower: "externalPower"
        case .idle: "idle"
        case .minimumInterval, .sameName: "minimumInterval"
        case .replaced: "unique"
        case .tasksPerOwnerMax: "tasksPerOwnerMax"
        case .slotsPerOwnerMax: "slotsPerOwnerMax"
        case .groupSlots: "groupSlots"
        case .slots: "slots"
        case .starting: "starting"
        }
    }

    /// The rule's number, in the rule's unit.
    package var value: Int? {
        switch self {
        case .minimumInterval(let interval, _), .sameName(let interval):
            interval.wholeMilliseconds
        case .tasksPerOwnerMax(let count), .slotsPerOwnerMax(let count),
            .groupSlots(let count, _), .slots(let count), .postponed(_, _, let count):
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
        case .shortage(let reason, _): "the machine has no room to start it: \(reason)"
        case .postponed(let reason, _, let count):
            "it could not be started for want of room, \(count == 1 ? "once" : "\(count) times"): \(reason)"
        case .paused(let group): "group \(group) is paused"
        case .earliestBegin: "its earliest begin has not come"
        case .retry(_, let attempt): "attempt \(attempt) waits for the delay after the one before"
        case .network: "there is no network"
        case .externalPower: "the machine is on battery"
        case .idle: "the machine is busy"
        case .minimumInterval: "the interval since the last success of its name is not over"
        case .sameName:
            "another task of its name is running; if that one succeeds, an interval has to pass first"
        case .replaced: "the task that it replaces is being stopped"
        case .tasksPerOwnerMax: "its owner has as many live tasks as are allowed"
        case .slotsPerOwnerMax:
            "its owner has as many commands running, dormant or stuck as one owner may have"
        case .groupSlots(_, let group): "all slots of group \(group) are taken"
        case .slots: "all slots are taken"
        case .starting: "its start is being written to disk"
        }
    }
}
