// How applications end.
extension BackgroundTaskRegistry {
    /// How long before its end was seen an application's tasks may have been abandoned by it.
    private static let endSpread = Duration.seconds(1)

    /// Ends an application: one that runs is told and has its grace, one that is frozen is killed without a
    /// word. The first reason counts.
    mutating func end(
        _ key: ApplicationKey, _ reason: TerminationReason, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard let application = applications[key], let run = application.run, !run.isEnding
        else { return }
        let verdict = termination(of: application, reason, at: now)
        applications.update(key) {
            $0.run?.phase = .ending
            $0.run?.verdict = verdict
            $0.run?.rest()
        }
        note(key, .ending(reason), &actions)
        guard application.state != .notRunning, application.state != .suspended else {
            return kill(key, at: now, &actions)
        }
        move(key, on: .ending, reason: reason.text, at: now, &actions)
        actions.append(.application(key, .signal(.terminate)))
        let grace = grace(of: key)
        applications.update(key) { $0.run?.killAt = now + grace }
    }

    /// What is known of the end of an application at its beginning.
    private func termination(
        of application: ManagedApplication, _ reason: TerminationReason, at now: Instant
    ) -> Termination {
        let boot = boot(at: now)
        let live = applications.tasks(of: application.key)
            .prefix(Termination.heldMax)
            .compactMap { record($0)?.task }.map { HeldTask($0, at: now) }
        return Termination(
            reason: reason, held: live, background: application.background(at: boot),
            endedAt: boot)
    }

    /// The main process of an application has ended: what remains of it is killed.
    package mutating func applicationExited(
        _ key: ApplicationKey, _ exit: ProcessExit, at now: Instant, _ actions: inout [Action]
    ) {
        guard applications[key]?.run?.hasProcesses == true else { return }
        applications.update(key) { $0.run?.exit = exit }
        concludeByItself(key, at: now)
        kill(key, at: now, &actions)
    }

    /// It has ended without an order: what it held, it held until a moment ago.
    private mutating func concludeByItself(_ key: ApplicationKey, at now: Instant) {
        guard let application = applications[key], let run = application.run, run.verdict == nil
        else { return }
        var isCrash = false
        if case .signal = run.exit { isCrash = true }
        var verdict = termination(of: application, isCrash ? .crashed : .exited, at: now)
        let since = now - BackgroundTaskRegistry.endSpread
        verdict.held += run.abandoned.filter { $0.at >= since }.map(\.task)
        verdict.held.sort { $0.id < $1.id }
        applications.update(key) {
            $0.run?.phase = .ending
            $0.run?.verdict = verdict
            $0.run?.rest()
        }
    }

    /// Kills what is there of an application, and again for as long as something is left.
    mutating func kill(_ key: ApplicationKey, at now: Instant, _ actions: inout [Action]) {
        guard let run = applications[key]?.run else { return }
        if run.isKilled, run.killAt <= now {
            applications.update(key) { $0.run?.isReportedStuck = true }
            if !run.isReportedStuck { note(key, .stuck, &actions) }
            // A stop waits for nobody who cannot be killed: not at all for who is not ours, who may have been
            // frozen, and not for ever for others.
            if isDraining, run.isAdopted {
                return release(key, stillFrozen: true, at: now, &actions)
            }
            if isDraining, now - run.killedAt >= TeardownStep.drainWait {
                return release(key, at: now, &actions)
            }
        }
        let killedAt = run.isKilled ? run.killedAt : now
        let wait = killWait(after: now - killedAt)
        applications.update(key) {
            $0.run?.isKilled = true
            $0.run?.killedAt = killedAt
            $0.run?.killAt = now + wait
        }
        actions.append(.application(key, .kill))
    }

    /// Nothing of an application is left, which is told when the disk knows how it ended.
    package mutating func applicationGone(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        guard applications[key]?.run?.hasProcesses == true else { return }
        concludeByItself(key, at: now)
        guard let run = applications[key]?.run, var termination = run.verdict else { return }
        termination.exit = run.exit
        termination.endedAt = boot(at: now)
        record(key, .ended(termination.reason), termination, at: now, &actions)
    }

    /// The command of an application could not be started, which is told when the disk knows that it does not
    /// run.
    package mutating func applicationNotStarted(
        _ key: ApplicationKey, _ reason: String, at now: Instant, _ actions: inout [Action]
    ) {
        guard let application = applications[key], application.run?.hasProcesses == true
        else { return }
        // One that was ended before it was started has ended.
        guard application.run?.verdict == nil else {
            return applicationGone(key, at: now, &actions)
        }
        record(key, .notStarted(reason), nil, at: now, &actions)
    }

    /// Has the end of a run written; its tasks have their own time again.
    private mutating func record(
        _ key: ApplicationKey, _ how: ApplicationRun.End.How, _ termination: Termination?,
        at now: Instant, _ actions: inout [Action]
    ) {
        applications.update(key) {
            if let run = $0.run, run.isAdopted, !run.leavesUnits { $0.record.units = [] }
            let end = ApplicationRun.End(how: how, before: $0.record.lastTermination)
            $0.run?.rest()
            $0.run?.killAt = .never
            $0.run?.wouldBeSuspended = false
            $0.run?.phase = .recording(end)
            if let termination { $0.record.lastTermination = termination }
            $0.record.isRunning = false
        }
        applicationMoved(key, to: nil, at: now, &actions)
        save(key, .end, &actions)
    }

    /// The disk knows that a run is over, or has refused to: it is told.
    mutating func endRecorded(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        guard let application = applications[key],
            case .recording(let end) = application.run?.phase
        else { return }
        if case .ended(let reason) = end.how {
            move(key, on: .gone, reason: reason.text, at: now, &actions)
        }
        applications.update(key) {
            $0.run = nil
            $0.deferred = []
        }
        let dropped = application.deferred.count
        if dropped > 0 { note(key, .messagesDropped(dropped), &actions) }
        switch end.how {
        case .ended(let reason):
            note(key, .ended(reason), &actions)
            answerWaiters(key, nil, &actions) { $0 == .gone }
            answerWaiters(key, .wrongState(key.id, .notRunning), &actions) { _ in true }
        case .notStarted(let reason):
            note(key, .notStarted(reason), &actions)
            answerWaiters(key, .cannotStart(key.id, reason), &actions) { _ in true }
        }
    }

    // MARK: - The end of the daemon

    /// Ends what was launched, and lets adopted applications go on thawed.
    mutating func drainApplications(at now: Instant, _ actions: inout [Action]) {
        guard applications.runningCount > 0 else { return }
        for key in applications.keys {
            guard let run = applications[key]?.run else { continue }
            if run.isKilled {
                let due = max(run.killedAt + TeardownStep.drainWait, now)
                applications.update(key) { $0.run?.killAt = min(run.killAt, due) }
                continue
            }
            guard run.isAdopted, !run.isEnding else {
                end(key, .interrupted, at: now, &actions)
                continue
            }
            switch run.phase {
            case .frozen, .freezing: thaw(key, at: now, &actions)
            case .thawing: break
            default: release(key, at: now, &actions)
            }
        }
    }

    /// Kills what a drain has not ended yet.
    mutating func endApplicationGrace(at now: Instant, _ actions: inout [Action]) {
        guard applications.runningCount > 0 else { return }
        for key in applications.keys where applications[key]?.run?.phase == .ending {
            kill(key, at: now, &actions)
        }
    }

    /// Looks after adopted processes no longer, which go on.
    ///
    /// - Parameter stillFrozen: where they could not be thawed, their units stay on disk for the daemon after
    ///   this one.
    mutating func release(
        _ key: ApplicationKey, stillFrozen: Bool = false, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard let application = applications[key] else { return }
        let verdict = termination(of: application, .interrupted, at: now)
        applications.update(key) {
            $0.run?.phase = .ending
            $0.run?.verdict = verdict
            if stillFrozen { $0.run?.leavesUnits = true }
        }
        actions.append(.application(key, .release))
        applicationGone(key, at: now, &actions)
    }
}

extension ApplicationRun {
    /// Nothing is due any more but its end.
    fileprivate mutating func rest() {
        suspendAt = .never
        freezeLimitAt = .never
        thawAt = .never
        deliveries = []
        messages = []
        comesToFront = false
    }
}

extension TerminationReason {
    /// The reason in words, as they follow "because".
    package var text: String {
        switch self {
        case .exited: "its main process ended"
        case .crashed: "a signal ended its main process"
        case .terminated: "it was terminated by order"
        case .memoryPressure: "memory was short"
        case .backgroundTimeOverrun: "it still held tasks when its background time was over"
        case .messageOverrun: "it did not say in time that it had finished with a message"
        case .exitsOnSuspend: "it exits where others are suspended"
        case .interrupted: "the daemon or the machine stopped"
        }
    }
}
