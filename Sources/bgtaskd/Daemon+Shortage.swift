internal import BudgetCore
internal import LinuxSystem
internal import Systemd

// Commands that were not started for want of room.
extension Daemon {
    /// A task goes back to the queue: what was made for its start is let go, and no attempt is used up.
    func postpone(_ id: TaskID, _ reason: String, _ scope: ShortageScope, at now: Instant) {
        guard let owner = registry.record(id)?.task.owner else { return }
        forgetProcesses(of: id, at: now)
        guard registry.startPostponed(id, reason, scope, at: now, &actions) else { return }
        switch scope {
        case .machine: log.say(.noRoom, [.reason: reason])
        case .command:
            // As many as a user submits, so that they count among the entries about them.
            guard journal.takesEntry(about: owner, at: now) else { return }
            log.say(.noRoomForTask, [.taskID: "\(id)", .owner: "\(owner)", .reason: reason])
        }
    }
}

extension LaunchError {
    /// For whom there was no room; `nil` where that is not what failed.
    var scope: ShortageScope? {
        switch shortage {
        case .general: .machine
        case .own: .command
        case nil: nil
        }
    }

    /// What failed, in words for who asked for the start and can ask again.
    var advice: String {
        shortage == nil ? description : "\(description); there is no room now, try again"
    }
}
