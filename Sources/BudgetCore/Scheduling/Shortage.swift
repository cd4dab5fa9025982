/// What a start met that is nobody's fault: the machine, or the daemon in it, had no room for it.
package enum ShortageScope: Sendable {
    /// There was no room for any command: a process, a descriptor, memory.
    case machine
    /// The program that runs commands is not there, or does not answer.
    case executor
    /// What is short is short for this command alone, such as the processes of its user.
    case command
}

/// How long nothing is started after the machine had no room for a command.
///
/// Each pause is twice as long as the one before, until a command starts: a machine in need is not asked more often
/// than that, and whose turn it is stays as it was. Where it is the program that runs commands that is missed, the pause
/// ends as soon as that is there.
struct Shortage: Sendable {
    private static let pauseMax = Duration.seconds(30)

    private var pauses = 0
    /// What was short, in words, and until when nothing starts for it.
    private(set) var present: (reason: String, until: BootInstant)?
    /// Whether that is the program that runs commands.
    private var isOfExecutor = false

    /// The pause after that many starts that found no room, from 1: a second, then twice as long each time.
    static func pause(after count: Int) -> Duration {
        min(.seconds(1 << min(max(count, 1) - 1, 5)), pauseMax)
    }

    /// A start found no room. Those that were under way when a pause began make it no longer.
    ///
    /// - Returns: whether a pause begins.
    mutating func found(_ reason: String, _ scope: ShortageScope, at boot: BootInstant) -> Bool {
        if let present, present.until > boot { return false }
        pauses += 1
        isOfExecutor = scope == .executor
        present = (reason, boot + Shortage.pause(after: pauses))
        return true
    }

    /// A command has been started: there is room.
    mutating func isOver() {
        pauses = 0
    }

    /// The program that runs commands is there.
    mutating func executorIsThere() {
        guard isOfExecutor else { return }
        (pauses, present, isOfExecutor) = (0, nil, false)
    }
}
