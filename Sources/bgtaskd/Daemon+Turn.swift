internal import BudgetCore
internal import LinuxSystem
internal import Systemd

extension Daemon {
    /// Deadlines done in one turn; what is left waits until clients have had theirs.
    static let deadlinesPerTurn = 512
    /// Commands started in one turn: starting one holds the loop for as long as execve takes.
    static let launchesPerTurn = 8
    /// What the clients get at least between two full turns of deadlines.
    static let clientsShare = Duration.microseconds(50)

    /// The timer's turn: what is due by now.
    func deadlineReached() {
        let now = now
        registry.deadlineReached(at: now, limit: Daemon.deadlinesPerTurn, &actions)
        hasOverdue = registry.hasOverdue(at: now)
        leftoversAt = nil
        for client in watchers.expired(at: now) { answerWaitTimeout(client) }
        resumeResting(at: now)
        journal.reportMissed(at: now)
        reportRefusals(at: now)
        reportNoticesDropped(at: now)
        storeDeadlineReached(at: now)
        if let again = acceptAgainAt, again <= now { startAccepting() }
        endTurn(at: now)
    }

    /// What every turn ends with: orders performed, answers sent, the timer armed.
    func endTurn(at now: Instant) {
        finishCalls(at: now)
        arrangeNextTurn(at: now)
    }

    /// Performs the orders that calls and events have left, and sends the answers.
    func finishCalls(at now: Instant) {
        abandonMore(at: now)
        perform(at: now)
        launchPending(at: now)
        storeWriter.flush(at: now)
        findMoreOrigins()
        sendPending()
        releaseHolders()
        // Clients that closed may have ended what others wait for.
        storeWriter.flush(at: now)
        for task in registry.forgetExcess() { outputs.forget(task.id) }
    }

    /// Has the loop come back when something is due.
    func arrangeNextTurn(at now: Instant) {
        abandonsLeft = Daemon.abandonedPerTurn
        followConditions(at: now)
        followPressure()
        // Clients that closed, and conditions that hold, may have let tasks start.
        if !launches.isEmpty || !actions.isEmpty || !departed.isEmpty { continueLater() }
        statusChanged()
        // It may wait for the disk until an instant, which the timer is armed for.
        if registry.isDraining { finishDraining() }
        do {
            try armTimer()
        } catch {
            log.say(.timerNotArmed, [.reason: "\(error)"])
            loop.exit(ExitStatus.software)
        }
    }

    /// Performs the core's orders, those that come up meanwhile included.
    func perform(at now: Instant) {
        // Most often it is one, or none.
        while actions.count == 1, let action = actions.popLast() { perform(action, at: now) }
        guard !actions.isEmpty else { return }
        var index = 0
        while index < actions.count {
            let action = actions[index]
            index += 1
            perform(action, at: now)
        }
        if actions.count < 1024 { actions.clear() } else { actions.removeAll() }
    }

    private func perform(_ action: Action, at now: Instant) {
        switch action {
        case .tell(let happening, let id): tell(happening, id, at: now)
        case .launch(let id): launches.append(id)
        case .launchHandler(let id): launchHandler(id, at: now)
        case .signal(let id, let signal): send(signal, to: id, at: now)
        case .killAll(let id): killAll(id, at: now)
        case .store(let step): order(step, at: now)
        case .answer(let id, let refusal): answerOrders(about: id, refusal, at: now)
        case .answerGroup(let group, let refusal): answerGroupOrder(group, refusal)
        case .application(let key, let order): perform(order, for: key, at: now)
        case .oldTasksNotNamed(let count): journal.oldTasksNotNamed(count)
        }
    }

    /// Logs what happened to a task, and tells those who watch it.
    private func tell(_ happening: Happening, _ id: TaskID, at now: Instant) {
        guard let brief = registry.brief(of: id) else { return }
        // Patterns, since `==` of another module's types is a call each time.
        let isHeld = if case .held = brief.kind { true } else { false }
        let isEnd = if case .ended = happening { true } else { false }
        if isEnd, isHeld, !holders.isEmpty { mayReleaseHolders = true }
        let isWatched = watchers.areWatching(id, of: brief.owner)
        if isWatched || journal.takes(happening, brief), let record = registry.record(id) {
            journal.write(happening, record, at: now)
            if isWatched { tellWatchers(happening, record, at: now) }
        }
        if !isHeld, isEnd || happening == .attemptEnded { forgetProcesses(of: id, at: now) }
    }

    /// Asks for another turn of the clients that still have something to do.
    func continueLater() {
        guard !isContinuing else { return }
        isContinuing = true
        do {
            try continuation?.schedule()
        } catch {
            log.say(.turnNotContinued, [.reason: "\(error)"])
        }
    }

    /// Goes on with what one turn had no room for.
    func continueTurn() {
        isContinuing = false
        let now = now
        takeCalls(at: now)
        endTurn(at: now)
    }
}
