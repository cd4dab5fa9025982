/// Where a run task is between its submission and its end.
///
/// What it counts as, whether it has a slot and whether it stands in the queue follow from this, and so does what an
/// order can still do to it. `next(on:)` is the whole table of what can follow what.
package enum RunPhase: Equatable, Sendable {
    /// Its submission is on its way to the disk, and nobody but the store knows of it.
    ///
    /// Becomes `waiting`, or `launching` where it has a slot already; `withdrawing` where another task of its
    /// unique name comes in its place. Where the disk does not take it, it is forgotten.
    case submitting(startsAtOnce: Bool)
    /// An earlier daemon left it.
    ///
    /// Becomes `waiting`, or is recorded as interrupted where it had begun; `launching`, `running` or `stopping` where
    /// its command goes on.
    case restored
    /// It stands in the queue: for its turn, and before that for its earliest begin, for the delay before another
    /// attempt, or for the pause after a start that found no room.
    ///
    /// Becomes `starting`, `withdrawing`, or is recorded as interrupted where a daemon that keeps nothing stops.
    case waiting
    /// It has a slot, and its start is on its way to the disk.
    ///
    /// Becomes `launching`, `waiting` where the disk does not take the start, or `withdrawing`.
    case starting
    /// Its start is on disk, its budget runs, and its command is being started.
    ///
    /// - Parameter hasHandler: whether the command of its expiration handler runs, or is being started.
    ///
    /// Becomes `running`, `stopping`, `waiting` where it is not started after all, or is recorded as failed.
    case launching(hasHandler: Bool)
    /// Its main process runs.
    ///
    /// Becomes `stopping`, or with the exit of that process `outlived` or `reaping`.
    case running(hasHandler: Bool)
    /// Its main process is gone, and the command of its expiration handler still runs.
    ///
    /// Becomes `reaping`, or is recorded where nothing of it is left.
    case outlived(Outcome)
    /// Its processes are being stopped, and the main one is there, or is being started.
    ///
    /// Becomes `reaping`, or is recorded where it was not started, or where a daemon that stops gives it up.
    indirect case stopping(Teardown)
    /// Its main process is gone, and what is left of the others is being stopped.
    ///
    /// Is recorded once nothing of it is left, or where a daemon that stops gives it up.
    indirect case reaping(Teardown)
    /// It ends by an order that was taken before it had begun, and that is on its way to the disk.
    ///
    /// Becomes `ended`, or goes on with the phase in which it was where the disk does not take the order. What the
    /// disk answers meanwhile about its submission or its start moves that phase.
    indirect case withdrawing(Conclusion, from: RunPhase)
    /// An attempt is over and another one follows; that is on its way to the disk, or waits for one that takes it.
    ///
    /// - Parameter cancelledBy: the order to cancel it that was taken meanwhile.
    ///
    /// Becomes `waiting`.
    indirect case recordingAttempt(Conclusion, cancelledBy: Reason?)
    /// It has ended, and that is on its way to the disk.
    ///
    /// Becomes `ended`.
    indirect case recordingEnd(Conclusion)
    /// The end is on disk, or was told though the disk did not take it. Nothing follows.
    ///
    /// - Parameter conclusion: `nil` where an earlier daemon recorded it.
    indirect case ended(Conclusion?)
}

/// What happens to a run task.
package enum RunEvent: Equatable, Sendable {
    // The disk has answered.

    /// Its submission is on disk, and it waits for its turn.
    case admitted
    case startStored
    case startNotStored
    case withdrawalNotStored
    /// The end of an attempt is on disk.
    case attemptRecorded
    case attemptNotRecorded
    /// Its end is on disk, or is told without that.
    case endRecorded
    /// The order that it is not tried again is on disk, or is not.
    case retryBanAnswered

    // The queue.

    /// It is its turn.
    case slotTaken
    /// It is not started after all, though the disk knows of its start: there was no room, or the daemon stops.
    case notStarted
    /// What there is of it cannot go on: what had it is gone, or goes and keeps nothing.
    case lost(Conclusion)
    /// Its command was started by an earlier daemon, and goes on.
    case found(RunPhase)

    // Its processes.

    case started
    case startFailed(Conclusion)
    /// The main process is gone, with the outcome that this means.
    case mainExited(Outcome)
    case handlerLaunched
    case handlerExited
    case processesGone(Conclusion)

    // Orders and limits.

    /// It is cancelled before it has begun.
    case withdrawn(Conclusion)
    /// It is cancelled after it has begun, or says that its work is done.
    case stopped(Teardown)
    /// It is cancelled between two attempts.
    case cancelledBetween(Reason)
    /// It was there at its hard limit.
    case overran(Teardown)
    /// It is cancelled while it is being stopped for another reason.
    ///
    /// - Parameter isOrdered: whether that is on its way to the disk.
    case retryForbidden(isOrdered: Bool)
    /// A daemon that stops waits for its processes no longer.
    case givenUp(Conclusion)
}

extension RunPhase {
    /// What an event means in a phase.
    package enum Step: Equatable, Sendable {
        case goes(to: RunPhase)
        /// It comes too late to change anything.
        case stays
    }

    /// The table of phases and events.
    ///
    /// - Returns: `nil` where the event cannot happen in this phase.
    package func next(on event: RunEvent) -> Step? {
        switch event {
        case .admitted, .startStored, .startNotStored, .withdrawalNotStored, .attemptRecorded,
            .attemptNotRecorded, .endRecorded, .retryBanAnswered:
            nextOnAnswer(event)
        case .slotTaken, .notStarted, .lost, .found: nextInQueue(event)
        case .started, .startFailed, .mainExited, .handlerLaunched, .handlerExited,
            .processesGone:
            nextOnNews(event)
        case .withdrawn, .stopped, .cancelledBetween, .overran, .retryForbidden, .givenUp:
            nextOnOrder(event)
        }
    }

    private func nextOnAnswer(_ event: RunEvent) -> Step? {
        switch (event, self) {
        case (.admitted, .submitting(startsAtOnce: false)), (.admitted, .restored):
            return .goes(to: .waiting)

        case (.startStored, .submitting(startsAtOnce: true)), (.startStored, .starting):
            return .goes(to: .launching(hasHandler: false))
        case (.startNotStored, .starting): return .goes(to: .waiting)

        case (.admitted, .withdrawing(let conclusion, let phase)),
            (.startStored, .withdrawing(let conclusion, let phase)),
            (.startNotStored, .withdrawing(let conclusion, let phase)):
            guard case .goes(let next) = phase.nextOnAnswer(event) else { return nil }
            return .goes(to: .withdrawing(conclusion, from: next))
        case (.withdrawalNotStored, .withdrawing(_, .waiting)): return .goes(to: .waiting)
        case (.withdrawalNotStored, .withdrawing(_, .launching)):
            return .goes(to: .launching(hasHandler: false))

        case (.attemptRecorded, .recordingAttempt): return .goes(to: .waiting)
        case (.attemptNotRecorded, .recordingAttempt(let conclusion, _)):
            return .goes(to: .recordingAttempt(conclusion, cancelledBy: nil))
        // What a disk took late is ordered once more when it takes writes again, and is then answered twice.
        case (.attemptRecorded, _), (.attemptNotRecorded, _): return isAdmitted ? .stays : nil

        case (.endRecorded, .recordingEnd(let conclusion)),
            (.endRecorded, .withdrawing(let conclusion, _)):
            return .goes(to: .ended(conclusion))

        case (.retryBanAnswered, .stopping(let teardown)):
            return .goes(to: .stopping(teardown.retryBanAnswered))
        case (.retryBanAnswered, .reaping(let teardown)):
            return .goes(to: .reaping(teardown.retryBanAnswered))
        case (.retryBanAnswered, .recordingEnd), (.retryBanAnswered, .ended): return .stays

        default: return nil
        }
    }

    private func nextInQueue(_ event: RunEvent) -> Step? {
        switch (event, self) {
        case (.slotTaken, .waiting): .goes(to: .starting)
        case (.notStarted, .launching): .goes(to: .waiting)
        case (.lost(let conclusion), .restored), (.lost(let conclusion), .waiting):
            .goes(to: .recording(conclusion))
        case (.lost(let conclusion), _) where isBegun: .goes(to: .recording(conclusion))
        case (.found(let phase), .restored): phase.isBegun ? .goes(to: phase) : nil
        default: nil
        }
    }

    /// News of processes may come after all is decided, as of a process whose task was given up.
    private func nextOnNews(_ event: RunEvent) -> Step? {
        switch (event, self) {
        case (.started, .launching(let hasHandler)):
            .goes(to: .running(hasHandler: hasHandler))
        case (.started, .stopping): .goes(to: self)

        case (.startFailed(let conclusion), .launching),
            (.startFailed(let conclusion), .stopping):
            .goes(to: .recording(conclusion))

        case (.mainExited(let outcome), .launching(let hasHandler)),
            (.mainExited(let outcome), .running(let hasHandler)):
            .goes(to: hasHandler ? .outlived(outcome) : .reaping(Teardown(outcome, [.killAll])))
        case (.mainExited(let outcome), .stopping(let teardown)):
            .goes(to: .reaping(teardown.anew(outcome, [.killAll])))

        case (.handlerLaunched, .launching(hasHandler: false)):
            .goes(to: .launching(hasHandler: true))
        case (.handlerLaunched, .running(hasHandler: false)):
            .goes(to: .running(hasHandler: true))
        case (.handlerLaunched, .launching), (.handlerLaunched, .running),
            (.handlerLaunched, .outlived):
            .stays
        case (.handlerLaunched, _): nil

        case (.handlerExited, .launching(hasHandler: true)):
            .goes(to: .launching(hasHandler: false))
        case (.handlerExited, .running(hasHandler: true)):
            .goes(to: .running(hasHandler: false))
        case (.handlerExited, .outlived(let outcome)):
            .goes(to: .reaping(Teardown(outcome, [.killAll])))
        case (.handlerExited, .reaping(let teardown)):
            .goes(to: .reaping(teardown.anew(teardown.outcome, [.killAll])))

        case (.processesGone(let conclusion), .outlived),
            (.processesGone(let conclusion), .reaping):
            .goes(to: .recording(conclusion))

        default: .stays
        }
    }

    private func nextOnOrder(_ event: RunEvent) -> Step? {
        switch (event, self) {
        case (.withdrawn(let conclusion), .submitting), (.withdrawn(let conclusion), .waiting),
            (.withdrawn(let conclusion), .starting):
            .goes(to: .withdrawing(conclusion, from: self))

        case (.stopped(let teardown), .launching), (.stopped(let teardown), .running):
            .goes(to: .stopping(teardown))
        case (.stopped(let teardown), .outlived): .goes(to: .reaping(teardown))

        case (.cancelledBetween(let reason), .recordingAttempt(let conclusion, _)):
            .goes(to: .recordingAttempt(conclusion, cancelledBy: reason))

        case (.overran(let teardown), .launching), (.overran(let teardown), .running):
            .goes(to: .stopping(teardown))
        // How it ends was decided by the exit of its main process.
        case (.overran(let teardown), .outlived(let outcome)):
            .goes(to: .reaping(teardown.anew(outcome, teardown.steps)))

        case (.retryForbidden(let isOrdered), .stopping(let teardown)):
            .goes(to: .stopping(teardown.forbiddingRetry(isOrdered: isOrdered)))
        case (.retryForbidden(let isOrdered), .reaping(let teardown)):
            .goes(to: .reaping(teardown.forbiddingRetry(isOrdered: isOrdered)))

        case (.givenUp(let conclusion), .stopping), (.givenUp(let conclusion), .reaping):
            .goes(to: .recording(conclusion))

        default: nil
        }
    }

    /// The phase in which the disk is told how it ends, or that an attempt of it is over.
    private static func recording(_ conclusion: Conclusion) -> RunPhase {
        conclusion.retryDelay == nil
            ? .recordingEnd(conclusion) : .recordingAttempt(conclusion, cancelledBy: nil)
    }
}

extension RunPhase {
    /// That of a task whose command an earlier daemon has started, and which goes on.
    ///
    /// - Parameter isRetried: whether another attempt might follow.
    init(
        _ command: FoundCommand, _ notes: CommandNotes, _ restored: RestoredTask,
        isRetried: Bool
    ) {
        let hasHandler = command.handlerRuns
        switch notes.course {
        case .goesOn, .dormant:
            self =
                command.isRunning
                ? .running(hasHandler: hasHandler) : .launching(hasHandler: hasHandler)
        case .stops(let outcome, let at), .killed(let outcome, since: let at):
            let isKilled = if case .killed = notes.course { true } else { false }
            let isOwed = outcome == .cancelled && isRetried
            self = .stopping(
                Teardown(
                    outcome, killAt: at, isKilled: isKilled,
                    retryBan: restored.isCancelled ? .taken : isOwed ? .ordered : .none))
        }
    }
}

// What follows from the phase.
extension RunPhase {
    /// What a task counts as.
    package enum Tally: Sendable {
        case queued
        /// Its slot is taken, or it has begun.
        case live
        /// How it ends is decided.
        case nothing
    }

    package var tally: Tally {
        switch self {
        case .submitting(startsAtOnce: false), .restored, .waiting: .queued
        case .submitting(startsAtOnce: true), .starting, .launching, .running, .outlived,
            .stopping, .reaping:
            .live
        case .withdrawing, .recordingAttempt, .recordingEnd, .ended: .nothing
        }
    }

    /// Whether it has a slot. One whose start is on its way to the disk keeps it until the disk has the end too.
    package var hasSlot: Bool {
        switch self {
        case .submitting(let startsAtOnce): startsAtOnce
        case .starting, .launching, .running, .outlived, .stopping, .reaping: true
        case .withdrawing(_, let phase): phase.hasSlot
        case .restored, .waiting, .recordingAttempt, .recordingEnd, .ended: false
        }
    }

    /// Whether its submission is on disk.
    package var isAdmitted: Bool {
        switch self {
        case .submitting: false
        case .withdrawing(_, let phase): phase.isAdmitted
        default: true
        }
    }

    /// Whether it comes to the queue, or came to it, once the disk has its submission.
    package var isArriving: Bool {
        switch self {
        case .submitting(let startsAtOnce): !startsAtOnce
        case .withdrawing(_, let phase): phase.isArriving
        default: false
        }
    }

    /// Whether its start is on its way to the disk, and it is not withdrawn.
    var isStarting: Bool {
        switch self {
        case .submitting(let startsAtOnce): startsAtOnce
        case .starting: true
        default: false
        }
    }

    /// Whether it has begun and nothing stops it.
    package var isUnderWay: Bool {
        switch self {
        case .launching, .running, .outlived: true
        default: false
        }
    }

    /// Whether its processes are being stopped.
    package var isStopping: Bool { teardown != nil }

    /// Whether it has begun, and how it ends is not on its way to the disk.
    var isBegun: Bool { isUnderWay || isStopping }

    /// Whether how it ends, or how this attempt of it does, is decided.
    package var isConcluded: Bool { tally == .nothing }

    var isWaiting: Bool {
        if case .waiting = self { true } else { false }
    }

    var isLaunching: Bool {
        if case .launching = self { true } else { false }
    }

    /// How it is being stopped.
    package var teardown: Teardown? {
        switch self {
        case .stopping(let teardown), .reaping(let teardown): teardown
        default: nil
        }
    }

    /// How it ends, or how this attempt of it does, where that is decided.
    package var conclusion: Conclusion? {
        switch self {
        case .withdrawing(let conclusion, _), .recordingAttempt(let conclusion, _),
            .recordingEnd(let conclusion):
            conclusion
        case .ended(let conclusion): conclusion
        default: nil
        }
    }

    /// The outcome that it has once its processes are gone, where that is decided before they are.
    var outcome: Outcome? {
        if case .outlived(let outcome) = self { return outcome }
        return teardown?.outcome ?? conclusion?.outcome
    }

    /// Whether it may be tried again after this attempt, as far as orders go.
    package var mayBeTriedAgain: Bool { teardown?.mayBeTriedAgain ?? true }

    /// Goes on with stopping it, in the phase in which it is.
    ///
    /// - Returns: `nil` where it is not being stopped.
    mutating func withTeardown<Result>(_ change: (inout Teardown) -> Result) -> Result? {
        switch self {
        case .stopping(var teardown):
            let result = change(&teardown)
            self = .stopping(teardown)
            return result
        case .reaping(var teardown):
            let result = change(&teardown)
            self = .reaping(teardown)
            return result
        default: return nil
        }
    }
}
