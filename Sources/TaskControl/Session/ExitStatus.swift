internal import LinuxSystem
package import TaskAPI

/// What bgtaskctl says to the shell.
package enum ExitStatus {
    static let refused: Int32 = 1
    /// The command line is wrong (sysexits.h).
    package static let usage: Int32 = 64
    /// A message was dropped.
    static let dropped: Int32 = 2
    /// The time was up: `expired` or `overrun`; as timeout(1).
    static let timeUp: Int32 = 124
    /// Not the command but bgtaskctl, the daemon or an order is the reason.
    static let ours: Int32 = 125

    /// The status of whoever waited for a task: its command's where that decided.
    package static func status(of task: Tasks.Task) -> Int32 {
        switch task.outcome {
        case .completed: 0
        // One that has said that it failed may exit with 0.
        case .failed:
            task.exit.map { max(status(of: $0), refused) } ?? (task.wake == true ? refused : ours)
        case .expired, .overrun: timeUp
        case .cancelled, .abandoned, .interrupted, nil: ours
        }
    }

    /// A command's status as a shell tells it: 128+N where signal N ended it.
    static func status(of exit: Tasks.Exit) -> Int32 {
        if let signal = exit.signal {
            return SignalName.number(of: signal).map { 128 + $0 } ?? ours
        }
        return exit.status.flatMap { Int32(exactly: $0) } ?? ours
    }

    /// Says why the status is not the command's; `nil` where it is.
    package static func reason(for task: Tasks.Task) -> String? {
        let subject = "task \(task.id)"
        let limit = task.budget.map { " of \(TimeText.span($0.durationMs))" } ?? ""
        switch task.outcome {
        case .completed: return nil
        case .failed where task.exit != nil: return nil
        case .failed where task.wake == true: return "\(subject) failed" + because(task)
        case .failed: return "\(subject) could not be started" + because(task)
        case .expired:
            let used = task.usedMs.map { ", after \(TimeText.span($0))\(limit)" } ?? ""
            return "\(subject) expired: it ended in its grace\(used)"
        case .overrun: return "\(subject) overran its limit\(limit) and was stopped"
        case .cancelled, .abandoned, .interrupted: return "\(subject) was " + stopped(task)
        case nil: return "\(subject) has not ended"
        }
    }

    /// The outcome and its reason, which may begin with the outcome's own word.
    private static func stopped(_ task: Tasks.Task) -> String {
        let outcome = task.outcome?.rawValue ?? ""
        if let reason = task.reason, reason.hasPrefix(outcome) { return reason }
        return outcome + because(task)
    }

    private static func because(_ task: Tasks.Task) -> String {
        task.reason.map { ": \($0)" } ?? ""
    }
}
