/// What a start met that is nobody's fault: the machine, or the daemon in it, had no room for it.
package enum ShortageScope: Sendable {
    /// There was no room for any command: a process, a descriptor, memory.
    case machine
    /// What is short is short for this command alone, such as the processes of its user.
    case command
}

/// How long nothing is started after the machine had no room for a command.
///
/// Each pause is twice as long as the one before, until a command starts: a machine in need is not asked more often
/// than that, and whose turn it is stays as it was.
struct Shortage: Sendable {
    private static let pauseMax = Duration.seconds(30)

    private var pauses = 0
    /// What was short, in words, and until when nothing starts for it.
    private(set) var present: (reason: String, until: BootInstant)?

    /// The pause after that many starts that found no room, from 1: a second, then twice as long each time.
    static func pause(after count: Int) -> Duration {
        min(.seconds(1 << min(max(count, 1) - 1, 5)), pauseMax)
    }

    /// A start found no room. Those that were under way when a pause began make it no longer.
    ///
    /// - Returns: whether a pause begins.
    mutating func found(_ reason: String, at boot: BootInstant) -> Bool {
        if let present, present.until > boot { return false }
        pauses += 1
        present = (reason, boot + Shortage.pause(after: pauses))
        return true
    }

    /// A command has been started: there is room.
    mutating func isOver() {
        pauses = 0
    }
}

extension BackgroundTaskRegistry {
    /// There was no room to start the command of a task: it goes back to the queue, and has its turn again after a
    /// pause that doubles each time, from a second to half a minute. No attempt is used up by it. One that has met
    /// that before lets others go before it, for it may be the one that there is never room for.
    ///
    /// - Parameters:
    ///   - text: what was short, in words for the person who submitted it.
    ///   - scope: where the machine had no room, nobody's command is started for a while.
    /// - Returns: whether that is to be said in the log: when such a pause begins, and once of a command.
    package mutating func startPostponed(
        _ id: TaskID, _ text: String, _ scope: ShortageScope, at now: Instant,
        _ actions: inout [Action]
    ) -> Bool {
        guard let slot = table.slot(of: id), let run = table[run: id] else { return false }
        switch run.phase {
        case .launching, .stopping: break
        default: return false
        }
        let boot = boot(at: now)
        let text = text.cut(toBytes: Reason.textBytesMax)
        var isNews = scope == .machine && shortage.found(text, at: boot)
        if let outcome = run.phase.outcome {
            conclude(
                slot, as: RunEvent.startFailed, outcome, reason: table[slot].reason, at: now,
                &actions)
            return isNews
        }
        let count = (run.postponed?.count ?? 0) + 1
        if scope == .command { isNews = count == 1 }
        counts.begunRun -= 1
        applicationTaskEnded(table[slot], at: now)
        var until = boot + Shortage.pause(after: count)
        if scope == .machine, count > 1 {
            until = max(until, shortage.present?.until ?? until) + .seconds(1)
        }
        table[slot].prepareAgain(isCut: run.isGrantCut)
        table[run: id]?.postpone(
            Postponement(reason: text, count: count),
            until: until)
        advance(slot, on: .notStarted)
        if !isDraining || keepsQueue { actions.append(.store(.requeued(id))) }
        loseIfDrained(slot, at: now, &actions)
        startQueued(at: now, &actions)
        return isNews
    }

    /// The disk takes for begun what went back to the queue: it is told again when it can write.
    mutating func returnNotStored(_ id: TaskID) {
        unstoredReturns.insert(id)
    }

    /// The disk takes writes again.
    mutating func storeReturnsAgain(_ actions: inout [Action]) {
        for id in unstoredReturns.sorted() {
            guard table[run: id]?.phase.isWaiting == true else { continue }
            actions.append(.store(.requeued(id)))
        }
        unstoredReturns = []
    }
}
