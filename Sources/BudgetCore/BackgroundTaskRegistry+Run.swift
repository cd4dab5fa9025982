extension BackgroundTaskRegistry {
    /// The main process of a task runs.
    package mutating func started(
        _ id: TaskID, as processID: ProcessID, at now: Instant, _ actions: inout [Action]
    ) {
        guard table.slot(of: id) != nil else { return }
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
        guard !isConcluded(slot) else { return }
        table[run: id]?.isMainRunning = false
        if let verdict = table[run: id]?.verdict {
            return conclude(slot, verdict, reason: table[slot].reason, at: now, &actions)
        }
        let reason = Reason.notStarted(text.cut(toBytes: Reason.textBytesMax))
        conclude(slot, .failed, reason: reason, at: now, &actions)
    }

    /// The main process of a task is gone; what remains of its processes is killed before the end is
    /// recorded (DESIGN.md rule 4).
    package mutating func mainExited(
        _ id: TaskID, _ exit: ProcessExit, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), let run = table[run: id], run.isMainRunning
        else { return }
        table[run: id]?.isMainRunning = false
        table[run: id]?.exit = exit
        table[slot].stopClock(at: now)
        let verdict = verdict(on: exit, of: table[slot], decided: run.verdict)
        table[run: id]?.verdict = verdict
        stopIfDone(slot, at: now, &actions)
    }

    /// The command of a task's expiration handler is over, or could not be started.
    package mutating func handlerExited(
        _ id: TaskID, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id) else { return }
        table[run: id]?.isHandlerRunning = false
        if table[run: id]?.isMainRunning == false { stopIfDone(slot, at: now, &actions) }
    }

    /// What the processes of a task have used, told before `processesGone`.
    package mutating func used(_ id: TaskID, _ use: ResourceUse?) {
        guard table.slot(of: id) != nil, table[run: id]?.conclusion == nil else { return }
        table[run: id]?.use = use
    }

    /// No process of a task is left.
    package mutating func processesGone(
        _ id: TaskID, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), let run = table[run: id], !run.isMainRunning,
            run.conclusion == nil, let verdict = run.verdict
        else { return }
        conclude(slot, verdict, reason: table[slot].reason, at: now, &actions)
    }

    /// Whether the processes of a task are being stopped.
    func isStopping(_ slot: Int) -> Bool {
        table[slot].kind == .run && table[run: table[slot].id]?.nextStepAt ?? .never != .never
    }

    mutating func startTeardown(
        _ slot: Int,
        _ steps: [TeardownStep],
        at now: Instant,
        _ actions: inout [Action]
    ) {
        table[run: table[slot].id]?.teardown = steps[...]
        takeTeardownStep(slot, at: now, &actions)
        // One that is given up has ended, and no deadline of it is due again.
        if !isConcluded(slot) { updateDeadlines(slot) }
    }

    /// Takes the next step of stopping a task; the last one again, ever more slowly, for as long as something is left.
    mutating func takeTeardownStep(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let id = table[slot].id
        guard var run = table[run: id], run.nextStepAt == .never || run.nextStepAt <= now
        else { return }
        if run.teardown.isEmpty, !run.isReportedStuck {
            run.isReportedStuck = true
            actions.append(.tell(.stuck, id))
        }
        let step = run.teardown.popFirst() ?? .killAll
        run.nextStepAt = now + step.wait
        var elapsed = Duration.zero
        if step.order == .killAll {
            elapsed = now - (run.killedAt ?? now)
            run.killedAt = run.killedAt ?? now
            run.nextStepAt = now + killWait(after: elapsed)
        }
        table[run: id] = run
        switch step.order {
        case .signal(let number): actions.append(.signal(id, number))
        case .killAll: actions.append(.killAll(id))
        }
        if elapsed >= limits.stuckAfter { noteStuck(slot, at: now, &actions) }
        if isDraining, elapsed >= TeardownStep.drainWait { giveUp(slot, at: now, &actions) }
    }

    /// How long to wait for a kill before it is repeated.
    func killWait(after elapsed: Duration) -> Duration {
        TeardownStep.killWait(
            after: elapsed, stuckAfter: limits.stuckAfter, isDraining: isDraining)
    }

    /// A task whose processes are there long after they were killed, as in a file system that hangs, gives its slot
    /// back to others. It counts in its owner's share until they are gone, and ends as usual then.
    private mutating func noteStuck(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let id = table[slot].id
        guard table[run: id]?.isStuck == false else { return }
        table[run: id]?.isStuck = true
        table[slot].state = .expiring
        if followSlot(slot) { startQueued(at: now, &actions) }
    }

    /// A daemon that stops waits no longer for processes that no kill ends. The task is not tried again: nobody knows
    /// when they will be gone, and one task never runs twice at once.
    private mutating func giveUp(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let id = table[slot].id
        table[run: id]?.isMainRunning = false
        table[run: id]?.isLastAttempt = true
        conclude(slot, .interrupted, reason: .stillThere, at: now, &actions)
    }

    /// A drain has begun: what was killed before it is not waited for longer than what it kills itself.
    mutating func hastenTeardown(_ slot: Int, at now: Instant) {
        let id = table[slot].id
        guard let run = table[run: id], let killedAt = run.killedAt, run.nextStepAt != .never
        else { return }
        let due = max(killedAt + TeardownStep.drainWait, now)
        table[run: id]?.nextStepAt = min(run.nextStepAt, due)
        updateDeadlines(slot)
    }

    private mutating func stopIfDone(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let id = table[slot].id
        guard let run = table[run: id], run.conclusion == nil else { return }
        let isCancelled = run.verdict == .cancelled
        guard !run.isHandlerRunning || isCancelled || isStopping(slot) else { return }
        table[run: id]?.nextStepAt = .never
        startTeardown(slot, [.killAll], at: now, &actions)
    }

    /// The outcome that an exit means. A process that had exited by itself before the kill at the hard
    /// limit reached it is `expired`: only who is killed has overrun.
    private func verdict(
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
