internal import BudgetCore
internal import LinuxSystem
internal import Systemd

/// The id, the level and the words of what happened to a task.
///
/// The ids are what the message catalog and `journalctl MESSAGE_ID=` know it by; they never change. The
/// words follow the task's number and name, so that plain `journalctl` shows which task it was.
struct JournalMessage {
    static let outputNotLogged: JournalMessageID = "a1a286ae6a2843b0aa370d7cf8df1ae8"
    static let oldTasksNotNamed: JournalMessageID = "8d6f21429e4748aba6b0def6addd3120"
    static let endOfNothing: JournalMessageID = "3e5c7db5335d4884b24d7e6d92fd9959"
    static let entriesNotLogged: JournalMessageID = "860b2bb980714d72b80ed6f1b4fe15a3"
    static let ordered: JournalMessageID = "2699c33241384240ab502175dc2de360"
    static let handlerNotStarted: JournalMessageID = "991d9ffd2b6d4c939308cd83af6af1c3"

    let id: JournalMessageID
    let level: JournalLevel
    /// What the task did, as it follows its name.
    let predicate: String

    private init(_ id: JournalMessageID, _ level: JournalLevel, _ predicate: String) {
        self.id = id
        self.level = level
        self.predicate = predicate
    }

    /// `nil` for what is told to those who watch, and not in the journal: a task may say thousands of things.
    init?(_ happening: Happening, _ record: TaskRecord) {
        let quiet = JournalMessage.quietLevel(of: record.task.kind)
        // An ended task is told by its outcome.
        switch happening {
        case .ended: self.init(record.task.outcome ?? .interrupted, quiet: quiet)
        case .handlerFired:
            self.init(
                "1bf92097fb474945ad55a2b5bf32f8df", .notice,
                JournalMessage.warning(of: record.run?.work))
        default: self.init(happening, quiet: quiet)
        }
    }

    /// How a task was warned. Its reason is a field: the limit is near, or the daemon stops, and more.
    private static func warning(of work: Work?) -> String {
        guard let work, !work.wakesApplication else { return "was warned by an event" }
        let handler = work.expiration
        let ways = [
            handler.signal.map { "sent \(SignalName.name(of: $0.rawValue))" },
            handler.command.map { _ in "its expiration command runs" },
        ].compactMap(\.self)
        return ways.isEmpty
            ? "is in its grace, without a warning" : "was warned: \(ways.joined(separator: ", "))"
    }

    /// The level of what happens to every task, where all goes well.
    ///
    /// 100,000 held tasks may begin and end in a second.
    static func quietLevel(of kind: TaskKind) -> JournalLevel {
        kind == .held ? .debug : .info
    }

    private init?(_ happening: Happening, quiet: JournalLevel) {
        let words: (JournalMessageID, JournalLevel, String)? =
            switch happening {
            case .status, .handlerFired: nil
            case .queued:
                ("6754203f44c84129aac3a3f794ed0122", .info, "is queued")
            case .began:
                ("32654dea66b540f3be3c095f5b68464a", quiet, "began")
            case .dormant:
                (
                    "f7b014da9f90478d9be117bccf44b019", .info,
                    "is dormant while its application is in front"
                )
            case .resumed:
                ("459f60364139433491c82b95c0d42b9e", .info, "runs again")
            case .extended:
                ("aebda05dba1a48e58fdc1ce869c4e04d", .info, "was given more time")
            case .cancelling:
                ("a0eef4a9d1654771858e6faa323df4c7", .notice, "is being cancelled")
            case .overrunning:
                (
                    "2f187a47a2af4a9084f83df0130ec75b", .warning,
                    "reached its hard limit and is being killed"
                )
            case .attemptEnded:
                ("90b5e6a3c17f4d2ab8e4f26d70c3915b", .notice, "will be tried again")
            case .grewOld:
                ("fcb88ee0ba174734b4ba95ca79149d1e", .notice, "has been running for long")
            case .stuck:
                ("438090ed52184a8b880f65aa0bfb1081", .error, "was killed and is still there")
            case .ended:
                ("a3217d6199de4f8eb939b485bf9e31b3", quiet, "ended")
            }
        guard let (id, level, predicate) = words else { return nil }
        self.init(id, level, predicate)
    }

    private init(_ outcome: Outcome, quiet: JournalLevel) {
        let (id, level, predicate): (JournalMessageID, JournalLevel, String) =
            switch outcome {
            case .completed:
                ("aceaa8a988224864bba8fe9887bfb0b7", quiet, "completed")
            case .failed:
                ("252ba797f4a34803825182c655f4ef4b", .notice, "failed")
            case .expired:
                (
                    "cf936cb0f9ad462888df1d4332304f30", .notice,
                    "expired: it ended after its warning and before its limit"
                )
            case .overrun:
                (
                    "6a2e7442eb64447db577da173d8280a6", .warning,
                    "overran: it was stopped at its hard limit"
                )
            case .cancelled:
                ("2674e7ea79de42159f90e79b41d78095", .notice, "was cancelled")
            case .abandoned:
                (
                    "fdc5e3d3fa1c42fa8e015204ba4939f5", .notice,
                    "was abandoned by the program that held it"
                )
            case .interrupted:
                ("9ee4f8fa7acf4d06a0247328d20d8aa9", .notice, "was interrupted")
            }
        self.init(id, level, predicate)
    }
}
