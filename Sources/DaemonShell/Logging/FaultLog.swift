internal import BudgetCore
internal import Logging
internal import Systemd

/// Tells of what must never happen: each time in the log, with how things stood, and in a count.
final class FaultLog {
    private let log: Logger
    /// How often something did since the start.
    private(set) var count = 0

    init(_ log: Logger) { self.log = log }

    func record(_ fault: Fault) {
        count += 1
        var fields: [JournalField: String] = [.reason: fault.event, .state: fault.state]
        fields[.taskID] = fault.task.map { "\($0)" }
        log.say(.fault, fields)
    }
}
