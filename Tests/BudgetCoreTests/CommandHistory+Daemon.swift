import BudgetCore
import TestKit

// What a daemon does, each step of which may be its last.
extension CommandHistory {
    /// - Returns: whether this daemon is still there.
    private mutating func step() -> Bool {
        if actionsLeft == 0 { isDead = true }
        actionsLeft = actionsLeft.map { $0 - 1 }
        return !isDead && failure == nil
    }

    /// Asks the registry for something, and carries out what follows.
    ///
    /// - Parameter then: what is to be expected of it.
    mutating func call(
        _ body: (inout BackgroundTaskRegistry, Instant, inout [Action]) -> Void,
        then: (inout CommandHistory) -> Void = { _ in }
    ) {
        guard !isDead else { return }
        body(&held.registry, now, &actions)
        then(&self)
        digest()
    }

    mutating func serve(_ isServed: Bool) {
        guard isServed, !isDead else { return }
        for _ in 0..<Int.random(in: 0...3, using: &random) { takeReport() }
        if chance(2) { call { $0.deadlineReached(at: $1, &$2) } }
        if chance(2) { flush() }
        guard held.registry.isDraining, held.registry.awaitedCount == 0, writes.isEmpty
        else { return }
        isDead = true
    }

    mutating func digest() {
        var index = 0
        while index < actions.count, step() {
            perform(actions[index])
            index += 1
        }
        actions = []
        for id in held.registry.takeChangedTimes() where step() { mirror(id) }
        held.registry.forgetExcess()
        guard !isDead else { return }
        for (id, sent) in sent {
            guard let command = executor.commands[id], !command.isOver, !sent.isOwed
            else { continue }
            let count = tellings[id]?[sent.attempt] ?? 0
            if count > command.fired { fail("the handler of \(id) is told of \(count) times") }
        }
    }

    private mutating func perform(_ action: Action) {
        switch action {
        case .store(let step):
            guard let id = step.task, let record = held.registry.record(id) else { break }
            writes.append(CommandDisk.Write(step: step, id: id, record: record, at: now))
        case .launch(let id): launch(id)
        case .warn(let id): mirror(id, firesNow: true)
        case .signal(_, .stop), .signal(_, .goOn): break
        case .signal(let id, _): executor.signal(id, at: now)
        case .killAll(let id): executor.kill(id, at: now)
        case .tell(.handlerFired, let id): tellings[id, default: [:]][attempt(id), default: 0] += 1
        case .tell(.ended, let id), .tell(.attemptEnded, let id): forget(id)
        case .fault(let fault): fail("what must never happen: \(fault)")
        default: break
        }
    }

    private mutating func launch(_ id: TaskID) {
        guard let deadlines = held.registry.commandDeadlines(of: id),
            let record = held.registry.record(id), let budget = record.task.budget
        else { return fail("\(id) is launched and has no command") }
        if held.registry.isDraining { fail("\(id) begins in a drain") }
        let attempt = attempt(id)
        let started = CommandTimes(
            attempt: attempt, budget: budget, lifetime: Self.lifetime,
            at: record.task.startedAt ?? now)
        (times[id], kept[id]) = (started, started)
        (given[id], lastFires[id], tellings[id]) = (nil, nil, nil)
        guard executor.start(id, attempt: attempt, deadlines, plan(record), at: now) else {
            return fail("\(id) is started while it is there")
        }
        sent[id] = Sent(attempt: attempt, last: deadlines)
        if deadlines.handlerAt != started.handlerAt || deadlines.limitAt != started.limitAt {
            fail("\(id) has \(deadlines), not \(started)")
        }
        count("started")
    }

    private mutating func plan(_ record: TaskRecord) -> ModelExecutor.Plan {
        ModelExecutor.Plan(
            isStarted: !chance(12), startsAfter: chance(2) ? .zero : seconds(0...2),
            lasts: seconds(1...30) + .milliseconds(1), status: chance(3) ? 1 : 0,
            obeysAfter: chance(2) ? nil : seconds(0...4) + .milliseconds(10),
            handlerLasts: record.run?.work.expiration.command == nil
                ? nil : seconds(0...6) + .milliseconds(20),
            leavesProcesses: chance(4))
    }

    private mutating func mirror(_ id: TaskID, firesNow: Bool = false) {
        guard var state = sent[id], let deadlines = held.registry.commandDeadlines(of: id),
            firesNow || state.isOwed || state.last != deadlines
        else { return }
        if firesNow || deadlines.handlerAt <= now { orderedAt[id] = now }
        let isTaken = executor.setDeadlines(
            id, deadlines, firesNow: firesNow, known: state.fires, at: now)
        state.isOwed = isTaken == false
        if isTaken == true {
            state.last = firesNow ? nil : deadlines
            kept[id] = times[id]
        }
        if state.isOwed { count("times refused") }
        sent[id] = state
        compareFires()
    }

    /// What is over is on disk, so that nobody has to know of it any more.
    private mutating func forget(_ id: TaskID) {
        sent[id] = nil
        (times[id], kept[id]) = (nil, nil)
        if executor.commands[id]?.isOver == false { fail("\(id) has ended and its command runs") }
        executor.forget(id)
    }

    private mutating func flush() {
        guard !writes.isEmpty, step() else { return }
        let batch = writes
        writes = []
        for write in batch {
            checkEnd(write)
            disk.take(write, executor.instance)
        }
        if let failure = disk.failure { fail(failure) }
        guard step() else { return }
        for write in batch {
            held.registry.stored(write.step, at: now, &actions)
            if case .startUndone(let id) = write.step {
                sent[id] = nil
                executor.forget(id)
            }
        }
        digest()
    }

    // MARK: - What the program that runs commands says

    private mutating func takeReport() {
        guard step(), let report = executor.takeReport() else { return }
        guard sent[report.id]?.attempt == report.attempt else { return }
        deliver(report)
        // Whatever comes twice changes nothing.
        if chance(5) { deliver(report) }
    }

    private mutating func deliver(_ report: ModelExecutor.Report) {
        let (id, moment) = (report.id, report.moment)
        let isOfCommand = chance(2)
        if case .warned(let count) = report.what { sent[id]?.fires = count }
        call { registry, now, actions in
            switch report.what {
            case .started:
                registry.started(id, as: ProcessID(rawValue: 7), at: now, &actions)
            case .notStarted where isOfCommand:
                _ = registry.startPostponed(id, "no room", .command, at: now, &actions)
            case .notStarted: registry.startFailed(id, "no such file", at: now, &actions)
            case .warned(let count):
                registry.commandWarned(id, count: count, moment: moment, at: now, &actions)
            case .limitReached:
                registry.commandLimitReached(id, moment: moment, at: now, &actions)
            case .exited(let exit):
                registry.mainExited(id, exit, moment: moment, at: now, &actions)
            case .handlerExited: registry.handlerExited(id, at: now, &actions)
            case .gone: registry.processesGone(id, moment: moment, at: now, &actions)
            }
        }
        if !isDead, sent[id]?.isOwed == true { mirror(id) }
    }

    // MARK: - A new daemon

    /// - Parameter mayStop: whether it may be stopped like those before it.
    mutating func restart(mayStop: Bool = true) {
        (isDead, writes, actions, sent, tellings) = (false, [], [], [:], [:])
        times = kept
        orderedAt = [:]
        actionsLeft = mayStop && chance(3) ? Int.random(in: 0..<30, using: &random) : nil
        count("restarts")
        held = CommandHistory.registry(from: identifierLast + 1)
        let found = executor.list()
        let live = disk.live
        held.registry.restore(
            live, found: found, executor: executor.instance, at: now, &actions)
        for (id, command) in found.sorted(by: { $0.key < $1.key }) { takeOver(id, command) }
        for task in live where task.begunAt != nil && found[task.id]?.attempt != task.attempt {
            checkNotFound(task)
        }
        digest()
        while !isDead, failure == nil, !executor.reports.isEmpty { takeReport() }
    }

    private mutating func takeOver(_ id: TaskID, _ command: FoundCommand) {
        let task = disk[id].flatMap { $0.end == nil ? $0.task : nil }
        let goesOn = task?.begunAt != nil && task?.attempt == command.attempt
        guard held.registry.hasCommand(id, attempt: command.attempt) == goesOn else {
            return fail("\(id) goes on: \(goesOn), which is not known")
        }
        guard goesOn else {
            count("found in vain")
            executor.kill(id, at: now)
            return executor.forget(id)
        }
        sent[id] = Sent(attempt: command.attempt)
        count("found")
        if task?.isCancelled != true { checkGoesOn(id) }
    }

    /// All is as it would be if there had been one daemon.
    private mutating func checkGoesOn(_ id: TaskID) {
        if actions.contains(where: { if case .tell(_, id) = $0 { true } else { false } }) {
            fail("something is told of \(id), which goes on")
        }
        guard let command = executor.commands[id],
            let deadlines = held.registry.commandDeadlines(of: id)
        else { return fail("\(id) has no times") }
        guard deadlines.notes.words == command.words else {
            return fail("\(id) has \(deadlines.notes), not \(command.words)")
        }
        guard !command.isOver, command.exit == nil, let times = times[id], !times.isStopped
        else { return }
        let handlerAt = command.fired > 0 ? deadlines.handlerAt : times.handlerAt
        if deadlines.limitAt != times.limitAt || deadlines.handlerAt != handlerAt {
            fail("\(id) has \(deadlines), not \(times)")
        }
    }

    private mutating func checkNotFound(_ task: RestoredTask) {
        let isLost = held.registry.record(task.id)?.run?.phase.conclusion?.outcome == .interrupted
        if task.executor == executor.instance {
            if !task.isCancelled, isLost { fail("\(task.id) was never started, and is lost") }
            if held.registry.record(task.id)?.run?.attempt != task.attempt {
                fail("\(task.id) has used up an attempt")
            }
            if isLost { lost.insert(task.id) }
            count("never started")
        } else if !isLost {
            fail("\(task.id) is lost, and goes on")
        }
    }
}

// What has to be so.
extension CommandHistory {
    /// Whatever fires does so at its time, and no handler twice for the same time.
    mutating func compareFires() {
        for (id, event, moment) in executor.takeFires() {
            let isOrdered = orderedAt[id] == moment
            let expected = event == .limit ? kept[id]?.limitAt : kept[id]?.handlerAt
            let hasExited = executor.commands[id]?.exit.map { $0.moment < moment } ?? true
            if let expected, expected != moment, !isOrdered, !hasExited {
                fail("\(event) of \(id) at \(moment), not at \(expected)")
            }
            count("\(event) fired")
            if isDead { count("\(event) fired while nobody was there") }
            guard event == .handler else { continue }
            if let last = lastFires[id], given[id].map({ $0 < last }) ?? true {
                fail("the handler of \(id) fires at \(last) and \(moment)")
            }
            lastFires[id] = moment
            if kept[id].map({ $0.handlerAt <= moment }) == true { kept[id]?.fired() }
            if times[id].map({ $0.handlerAt <= moment }) == true { times[id]?.fired() }
        }
        for (id, command) in executor.commands where command.hasMain {
            guard let times = kept[id] else { continue }
            if times.limitAt < now { fail("\(id) runs beyond \(times.limitAt)") }
            if times.handlerAt < now { fail("the handler of \(id) was due at \(times.handlerAt)") }
        }
        for (id, attempts) in executor.starts where attempts.values.contains(where: { $0 > 1 }) {
            fail("an attempt of \(id) runs twice")
        }
    }

    /// Compares how an attempt ends with what has become of its command.
    private mutating func checkEnd(_ write: CommandDisk.Write) {
        switch write.step {
        case .ended, .attemptEnded: break
        default: return
        }
        let id = write.id
        guard let end = write.record.run?.conclusion, let command = executor.commands[id],
            command.attempt == write.record.run?.attempt
        else {
            let outcome = write.record.run?.conclusion?.outcome
            if outcome == .interrupted, !lost.contains(id) { fail("\(id) is interrupted") }
            return
        }
        let isRight =
            switch end.outcome {
            case .completed: command.exit?.exit == .status(0)
            case .failed: command.exit?.exit != .status(0)
            case .expired: command.fired > 0
            case .overrun: command.hasFailed || command.exit?.exit == .signal(.kill)
            case .cancelled: cancelled.contains(id)
            case .interrupted: lost.contains(id)
            case .abandoned: false
            }
        if !isRight { fail("\(id) ends as \(end.outcome), and is \(command)") }
        if end.outcome == .overrun || end.outcome == .expired, let fired = command.firedAt,
            write.record.task.warnedAt != fired
        {
            fail(
                "\(id) was warned at \(fired), not at \(String(describing: write.record.task.warnedAt))"
            )
        }
        if let gone = command.goneAt, end.outcome != .interrupted, end.endedAt != gone {
            fail("\(id) was gone at \(gone), not at \(end.endedAt)")
        }
        count("\(end.outcome)")
    }
}

extension StoreStep {
    /// The task that it is about; `nil` where it is about something else.
    fileprivate var task: TaskID? {
        switch self {
        case .submitted(let id, _), .started(let id), .startUndone(let id), .ended(let id),
            .attemptEnded(let id), .cancelling(let id), .changed(let id):
            id
        default: nil
        }
    }
}
