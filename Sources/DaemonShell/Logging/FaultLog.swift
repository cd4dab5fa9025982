package import BudgetCore
package import Logging
internal import Systemd

/// Tells of what must never happen: each time in the log, with how things stood, and in a count.
package final class FaultLog {
    private let log: Logger
    /// How often something did since the start.
    package private(set) var count = 0

    package init(_ log: Logger) { self.log = log }

    package func record(_ fault: Fault) {
        count += 1
        var fields: [JournalField: String] = [.reason: fault.event, .state: fault.state]
        fields[.taskID] = fault.task.map { "\($0)" }
        log.say(.fault, fields)
    }
}
