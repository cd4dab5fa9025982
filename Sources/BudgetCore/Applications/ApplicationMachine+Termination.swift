// How applications end.
extension ApplicationMachine {
    /// Ends an application: one that runs is told and has its grace, one that is frozen is killed without a
    /// word. The first reason counts.
    mutating func end(
        _ key: ApplicationKey, _ reason: TerminationReason,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard let application = self[key], let run = application.run, !run.isEnding
        else { return }
        let verdict = termination(of: application, reason, tasks, turn)
        update(key) { $0.run?.end(verdict) }
        turn.note(key, .ending(reason))
        guard application.state != .notRunning, application.state != .suspended else {
            return kill(key, tasks, &turn)
        }
        move(key, on: .ending, reason: reason, &turn)
        turn.order(key, .signal(.terminate))
        let grace = grace(of: key, turn)
        update(key) { $0.run?.kill.plan(at: turn.now + grace) }
    }

    /// What is known of the end of an application at its beginning.
    private func termination(
        of application: ManagedApplication, _ reason: TerminationReason,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: ApplicationTurn
    ) -> Termination {
        var held: [HeldTask] = []
        let performed = application.run?.performances.tasks ?? []
        for id in (self.tasks(of: application.key) + performed).prefix(Termination.heldMax) {
            if let task = tasks.heldTask(id, at: turn.now) { held.append(task) }
        }
        return Termination(
            reason: reason, held: held, background: application.background(at: turn.boot),
            endedAt: turn.boot)
    }

    /// Memory is short: who is awake is told, and suspended applications are killed, the least recently used
    /// first.
    ///
    /// - Parameters:
    ///   - owner: whose applications; `nil`: everybody's.
    ///   - count: at most so many.
    /// - Returns: those that are being killed.
    mutating func memoryPressure(
        on owner: OwnerID?, count: Int, _ tasks: borrowing some HeldTaskSource & ~Copyable,
        _ turn: inout ApplicationTurn
    ) -> [ApplicationKey] {
        let enforces = rules.enforces
        var suspended: [ManagedApplication] = []
        for key in keys where owner == nil || key.owner == owner {
            guard let application = self[key], let run = application.run else { continue }
            let isSuspended = enforces ? run.phase == .frozen : run.wouldBeSuspended
            if isSuspended { suspended.append(application) } else { warn(application, &turn) }
        }
        let chosen = suspended.sorted { $0.lastUse < $1.lastUse }.prefix(max(count, 0)).map(\.key)
        guard enforces else {
            for key in chosen { turn.note(key, .wouldEnd(.memoryPressure)) }
            return []
        }
        for key in chosen { end(key, .memoryPressure, tasks, &turn) }
        return chosen
    }

    private func warn(_ application: ManagedApplication, _ turn: inout ApplicationTurn) {
        guard application.run?.phase == .running,
            application.registration.handles(.didReceiveMemoryWarning)
        else { return }
        turn.order(
            application.key,
            .tell(
                ApplicationEvent(
                    .didReceiveMemoryWarning, state: application.state,
                    previous: application.state)))
    }

    // MARK: As the shell reports it

    /// The main process of an application has ended: what remains of it is killed.
    mutating func exited(
        _ key: ApplicationKey, _ exit: ProcessExit,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard self[key]?.run?.hasProcesses == true else { return }
        update(key) { $0.run?.exited(exit) }
        conclude(key, tasks, turn)
        kill(key, tasks, &turn)
    }

    /// The program that runs its command has told it to end, and kills it after its grace.
    ///
    /// - Parameter moment: when it was told.
    mutating func stopped(
        _ key: ApplicationKey, at moment: Instant,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard self[key]?.run?.isEnding == false else { return }
        conclude(key, as: .interrupted, tasks, turn)
        turn.note(key, .ending(.interrupted))
        move(key, on: .ending, reason: .interrupted, &turn)
        let grace = grace(of: key, turn)
        update(key) { $0.run?.kill.plan(at: moment + grace) }
    }

    /// The program that ran its command is gone, and has taken it along.
    mutating func lost(
        _ key: ApplicationKey, _ tasks: borrowing some HeldTaskSource & ~Copyable,
        _ turn: inout ApplicationTurn
    ) {
        guard self[key]?.run?.hasProcesses == true else { return }
        conclude(key, as: .interrupted, tasks, turn)
        gone(key, tasks, &turn)
    }

    /// It ends without an order: what it held, it held until a moment ago.
    ///
    /// - Parameter reason: `nil` where it has ended by itself.
    private mutating func conclude(
        _ key: ApplicationKey, as reason: TerminationReason? = nil,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: ApplicationTurn
    ) {
        guard let application = self[key], let run = application.run, run.verdict == nil
        else { return }
        var isCrash = false
        if case .signal = run.exit { isCrash = true }
        var verdict = termination(
            of: application, reason ?? (isCrash ? .crashed : .exited), tasks, turn)
        verdict.held += run.abandonedLately(at: turn.now)
        verdict.held.sort { $0.id < $1.id }
        update(key) { $0.run?.end(verdict) }
    }

    /// Kills what is there of an application, and again for as long as something is left.
    mutating func kill(
        _ key: ApplicationKey, _ tasks: borrowing some HeldTaskSource & ~Copyable,
        _ turn: inout ApplicationTurn
    ) {
        guard let run = self[key]?.run else { return }
        let elapsed = run.kill.elapsed(at: turn.now)
        if run.kill.isOverdue(at: turn.now) {
            var isNew = false
            update(key) { isNew = $0.run?.kill.reportStuck() ?? false }
            if isNew { turn.note(key, .stuck) }
            // A stop waits for nobody who cannot be killed: not at all for who is not ours, who may have been
            // frozen, and not for ever for others.
            if turn.isDraining, run.isAdopted {
                return release(key, stillFrozen: true, tasks, &turn)
            }
            if turn.isDraining, elapsed >= ApplicationTurn.drainWait {
                return release(key, tasks, &turn)
            }
        }
        let wait = turn.killWait(after: elapsed)
        update(key) { $0.run?.kill.killed(at: turn.now, wait: wait) }
        turn.order(key, .kill)
    }

    /// Nothing of an application is left, which is told when the disk knows how it ended.
    ///
    /// - Parameter end: when that was; `nil` for now.
    mutating func gone(
        _ key: ApplicationKey, at end: BootInstant? = nil,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard self[key]?.run?.hasProcesses == true else { return }
        conclude(key, tasks, turn)
        guard let run = self[key]?.run, var termination = run.verdict else { return }
        termination.exit = run.exit
        termination.endedAt = min(end ?? turn.boot, turn.boot)
        record(key, .ended(termination.reason), termination, &turn)
    }

    /// The command of an application could not be started, which is told when the disk knows that it does not
    /// run.
    mutating func notStarted(
        _ key: ApplicationKey, _ reason: String,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard let run = self[key]?.run, run.hasProcesses else { return }
        // One that was ended before it was started has ended.
        guard run.verdict == nil else { return gone(key, tasks, &turn) }
        record(key, .notStarted(reason), nil, &turn)
    }

    /// Has the end of a run written; its tasks have their own time again.
    private mutating func record(
        _ key: ApplicationKey, _ how: ApplicationRun.End.How, _ termination: Termination?,
        _ turn: inout ApplicationTurn
    ) {
        losePerformances(key, how, &turn)
        update(key) { $0.record(how, termination) }
        turn.changeClock(key, to: nil)
        save(key, .end, &turn)
    }

    /// The disk knows that a run is over, or has refused to: it is told.
    mutating func endRecorded(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        guard let application = self[key], case .recording(let end) = application.run?.phase
        else { return }
        if let run = application.run?.number { isRecorded(run: run) }
        if case .ended(let reason) = end.how {
            move(key, on: .gone, reason: reason, &turn)
        }
        var dropped: [PushMessage] = []
        var untold: [Performance] = []
        update(key) {
            untold = $0.run?.performances.takeUntold() ?? []
            $0.run = nil
            dropped = $0.silent.takeAll()
        }
        if !dropped.isEmpty { turn.note(key, .messagesDropped(dropped.count)) }
        switch end.how {
        case .ended(let reason):
            turn.note(key, .ended(reason))
            answerWaiters(key, nil, &turn) { $0 == .gone }
            answerWaiters(key, .wrongState(key.id, .notRunning), &turn) { _ in true }
        case .notStarted(let reason):
            turn.note(key, .notStarted(reason))
            answerWaiters(key, .cannotStart(key.id, reason), &turn) { _ in true }
        }
        performAgain(untold, by: key, &turn)
    }

    // MARK: The end of the daemon

    /// Ends what was launched, or leaves it to the next daemon, and lets adopted applications go on thawed.
    mutating func drain(
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard runningCount > 0 else { return }
        for key in keys {
            // One of which nothing is left waits for the disk alone.
            guard let run = self[key]?.run, run.hasProcesses else { continue }
            if turn.leavesLaunched, !run.isAdopted {
                dropMessages(key, &turn)
                continue
            }
            if run.kill.hasBegun {
                update(key) { $0.run?.kill.hasten(at: turn.now) }
                continue
            }
            guard run.isAdopted, !run.isEnding else {
                end(key, .interrupted, tasks, &turn)
                continue
            }
            switch run.phase {
            case .frozen, .freezing: thaw(key, &turn)
            case .thawing: break
            case .starting, .adopting, .running, .ending, .recording:
                release(key, tasks, &turn)
            }
        }
    }

    /// Kills what a drain has not ended yet.
    mutating func endGrace(
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard runningCount > 0 else { return }
        for key in keys {
            guard let run = self[key]?.run, run.phase == .ending,
                !turn.leavesLaunched || run.isAdopted
            else { continue }
            kill(key, tasks, &turn)
        }
    }

    /// Nobody keeps its messages that wait.
    private mutating func dropMessages(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        var dropped: [PushMessage] = []
        updateSilent(key) { dropped = $0.takeAll() }
        if !dropped.isEmpty { turn.note(key, .messagesDropped(dropped.count)) }
    }

    /// Looks after adopted processes no longer, which go on.
    ///
    /// - Parameter stillFrozen: where they could not be thawed, their units stay on disk for the daemon after
    ///   this one.
    mutating func release(
        _ key: ApplicationKey, stillFrozen: Bool = false,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard let application = self[key] else { return }
        let verdict = termination(of: application, .interrupted, tasks, turn)
        update(key) { $0.run?.release(verdict, stillFrozen: stillFrozen) }
        turn.order(key, .release)
        gone(key, tasks, &turn)
    }
}
