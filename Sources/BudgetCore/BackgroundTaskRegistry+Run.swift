extension BackgroundTaskRegistry {
    /// The main process of a task runs.
    package mutating func started(
        _ id: TaskID, as processID: ProcessID, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), advance(slot, on: .started) else { return }
        shortage.isOver()
        if table[run: id]?.postponed != nil { table[run: id]?.postponed = nil }
        table[run: id]?.processID = processID
        actions.append(.tell(.began, id))
    }

    /// The command of a task could not be started.
    ///
    /// - Parameter text: what failed, in words for the person who submitted it; it may quote the command,
    ///   and is kept in a length for people.
    package mutating func startFailed(
        _ id: TaskID, _ text: String, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id) else { return }
        let decided = table.phase(slot)?.outcome
        let reason = Reason.notStarted(text.cut(toBytes: Reason.textBytesMax))
        conclude(
            slot, as: RunEvent.startFailed, decided ?? .failed,
            reason: decided == nil ? reason : table[slot].reason, at: now, &actions)
    }

    /// The main process of a task is gone; what remains of its processes is killed before the end is
    /// recorded (rule 4 in docs/architecture.md).
    package mutating func mainExited(
        _ id: TaskID, _ exit: ProcessExit, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), let phase = table.phase(slot) else { return }
        let outcome = outcome(on: exit, of: table[slot], decided: phase.outcome)
        guard advance(slot, on: .mainExited(outcome)) else { return }
        table[run: id]?.exit = exit
        table[slot].stopClock(at: now)
        startTeardown(slot, at: now, &actions)
    }

    /// The command of a task's expiration handler is over, or could not be started.
    package mutating func handlerExited(
        _ id: TaskID, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), advance(slot, on: .handlerExited) else { return }
        startTeardown(slot, at: now, &actions)
    }

    /// What the processes of a task have used, told before `processesGone`.
    package mutating func used(_ id: TaskID, _ use: ResourceUse?) {
        guard let slot = table.slot(of: id), !isConcluded(slot) else { return }
        table[run: id]?.use = use
    }

    /// No process of a task is left.
    package mutating func processesGone(
        _ id: TaskID, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), let outcome = table.phase(slot)?.outcome
        else { return }
        conclude(
            slot, as: RunEvent.processesGone, outcome, reason: table[slot].reason, at: now,
            &actions)
    }

    /// Whether the processes of a task are being stopped.
    func isStopping(_ slot: Int) -> Bool { table.phase(slot)?.isStopping ?? false }

    /// Takes the first step of stopping a task whose phase says that it is to be stopped.
    mutating func startTeardown(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard isStopping(slot) else { return }
        takeTeardownStep(slot, at: now, &actions)
        // One that is given up has ended, and no deadline of it is due again.
        if !isConcluded(slot) { updateDeadlines(slot) }
    }

    /// Takes the next step of stopping a task, where it is due.
    mutating func takeTeardownStep(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let id = table[slot].id
        let (stuckAfter, isDraining) = (limits.stuckAfter, isDraining)
        let step = table[run: id]?.withTeardown {
            $0.takeStep(at: now, stuckAfter: stuckAfter, isDraining: isDraining)
        }
        guard let taken = step ?? nil else { return }
        if taken.isNewlyReported { actions.append(.tell(.stuck, id)) }
        switch taken.order {
        case .signal(let number): actions.append(.signal(id, number))
        case .killAll: actions.append(.killAll(id))
        }
        if taken.elapsed >= stuckAfter { noteStuck(slot, at: now, &actions) }
        if isDraining, taken.elapsed >= TeardownStep.drainWait {
            giveUp(slot, at: now, &actions)
        }
    }

    /// How long to wait for a kill before it is repeated.
    func killWait(after elapsed: Duration) -> Duration {
        TeardownStep.killWait(
            after: elapsed, stuckAfter: limits.stuckAfter, isDraining: isDraining)
    }

    /// A task whose processes are there long after they were killed, as in a file system that hangs, gives its slot
    /// back to others. It counts in its owner's share until they are gone, and ends as usual then.
    private mutating func noteStuck(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard table[run: table[slot].id]?.withTeardown({ $0.noteStuck() }) == true else { return }
        table[slot].state = .expiring
        if followSlot(slot) { startQueued(at: now, &actions) }
    }

    /// A daemon that stops waits no longer for processes that no kill ends. The task is not tried again: nobody knows
    /// when they will be gone, and one task never runs twice at once.
    private mutating func giveUp(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        conclude(
            slot, as: RunEvent.givenUp, .interrupted, reason: .stillThere,
            mayBeTriedAgain: false, at: now, &actions)
    }

    /// A drain has begun: what was killed before it is not waited for longer than what it kills itself.
    mutating func hastenTeardown(_ slot: Int, at now: Instant) {
        guard table[run: table[slot].id]?.withTeardown({ $0.hasten(at: now) }) == true
        else { return }
        updateDeadlines(slot)
    }

    /// The outcome that an exit means. A process that had exited by itself before the kill at the hard
    /// limit reached it is `expired`: only who is killed has overrun.
    private func outcome(
        on exit: ProcessExit, of task: BackgroundTask, decided: Outcome?
    ) -> Outcome {
        switch decided {
        case .overrun, .interrupted:
            return exit == .signal(.kill) ? decided ?? .overrun : .expired
        case .some(let outcome):
            return outcome
        case nil:
            if task.state == .expiring { return .expired }
            return exit == .status(0) ? .completed : .failed
        }
    }
}
