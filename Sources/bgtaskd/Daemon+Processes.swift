internal import BudgetCore
internal import LinuxSystem
internal import Settings
internal import Systemd

extension Daemon {
    /// Starts what the core ordered, a few commands a turn.
    func launchPending(at now: Instant) {
        var count = 0
        while !launches.isEmpty, count < Daemon.launchesPerTurn {
            launch(launches.removeFirst(), at: now)
            perform(at: now)
            count += 1
        }
        if !launches.isEmpty { continueLater() }
    }

    private func launch(_ id: TaskID, at now: Instant) {
        guard let task = registry.record(id)?.task, task.isLive else { return }
        do {
            let processes = try host.makeTask(id.rawValue)
            outputs.taskGoesOn(id)
            running[id] = RunningTask(
                id: id, owner: task.owner, processes: processes,
                output: sharedOutput(of: task.owner))
        } catch  where error.isShortage {
            return postpone(id, "\(error)", .machine, at: now)
        } catch {
            return registry.startFailed(id, "\(error)", at: now, &actions)
        }
        if let user = users.user(task.owner, at: now) {
            startMain(of: id, as: user, at: now)
        } else {
            askUser(for: id, of: task.owner, at: now)
        }
    }

    /// Starts the main command of a task, whose user is known now.
    func startMain(of id: TaskID, as user: KnownUser, at now: Instant) {
        if let application = applications[id] {
            return startMain(of: application, as: user, at: now)
        }
        // A task may wait twice for its user, where an attempt was killed before the answer came.
        guard let task = running[id], task.runsAs == nil, let record = registry.record(id),
            let run = record.run
        else { return }
        do {
            let runsAs = try taskEnvironment.runsAs(run.work.submitter, task.owner, known: user)
            task.runsAs = runsAs
            task.notices = takeNoticeSource(for: task)
            var request = taskEnvironment.request(
                for: record.task, run, as: runsAs, noticePath: task.notices?.path)
            request.arguments = run.work.command
            try start(request, of: task)
        } catch {
            if let scope = (error as? LaunchError)?.scope {
                return postpone(id, "\(error)", scope, at: now)
            }
            notStarted(id, "\(error)", at: now)
        }
    }

    /// The main command of a task, or that of an application, does not run and never did.
    func notStarted(_ id: TaskID, _ reason: String, at now: Instant) {
        guard running[id] != nil else { return }
        if let application = applications[id] {
            return notStarted(application, reason, at: now)
        }
        forgetProcesses(of: id, at: now)
        registry.startFailed(id, reason, at: now, &actions)
    }

    /// Starts the command of an expiration handler beside its task.
    func launchHandler(_ id: TaskID, at now: Instant) {
        guard let task = running[id], let record = registry.record(id), let run = record.run,
            let command = run.work.expiration.command
        else {
            return registry.handlerExited(id, at: now, &actions)
        }
        guard task.hasStarted, let runsAs = task.runsAs else {
            return task.ordersWaiting.append(.launchHandler(id))
        }
        var request = taskEnvironment.request(
            for: record.task, run, as: runsAs, noticePath: task.notices?.path)
        request.arguments = command
        do {
            try start(request, of: task)
        } catch {
            journal.handlerNotStarted(record, "\(error)", at: now)
            registry.handlerExited(id, at: now, &actions)
        }
    }

    /// Begins to start a command of a task and reads what it prints from now on.
    func start(_ request: LaunchRequest, of task: RunningTask) throws {
        var started = try task.processes.start(request)
        let command = started.index
        try watch(started.takeStandardOutput(), .stdout, of: task, command: command)
        try watch(started.takeStandardError(), .stderr, of: task, command: command)
    }

    func send(_ signal: SignalNumber, to id: TaskID, at now: Instant) {
        launchNow(id, at: now)
        guard let task = running[id] else { return }
        guard task.hasStarted else { return task.ordersWaiting.append(.signal(id, signal)) }
        do {
            try task.processes.signal(signal.rawValue)
        } catch {
            log.say(
                .taskNotSignalled,
                [.taskID: "\(id)", .reason: "\(error)"])
        }
    }

    /// Goes on with what came for a command while it was being started.
    private func performWaiting(for id: TaskID, at now: Instant) {
        guard let task = running[id] else { return }
        task.hasStarted = true
        readOutput(of: task)
        deliverNotices(of: task, at: now)
        actions += task.ordersWaiting
        task.ordersWaiting = []
    }

    func killAll(_ id: TaskID, at now: Instant) {
        launchNow(id, at: now)
        guard let task = running[id] else { return }
        guard task.runsAs != nil else {
            // There is nothing to kill, and nobody knows when the user database will answer.
            forgetProcesses(of: id, at: now)
            let text = "its user could not be looked up in time"
            return registry.startFailed(id, text, at: now, &actions)
        }
        do {
            try task.processes.kill()
        } catch {
            log.say(.taskNotKilled, [.taskID: "\(id)", .reason: "\(error)"])
        }
    }

    /// A task that is to be stopped before its turn to start has come is started first, so that it has
    /// one story and one way to end.
    private func launchNow(_ id: TaskID, at now: Instant) {
        guard let index = launches.firstIndex(of: id) else { return }
        launches.remove(at: index)
        launch(id, at: now)
    }

    /// What the kernel or a supervisor told of the tasks' processes.
    func processesReady() throws {
        try host.poll(into: &processEvents)
        takeProcessEvents()
    }

    /// Children have ended that tasks have left to this process, or are being counted.
    func childrenReady() throws {
        try host.pollChildren(into: &processEvents)
        takeProcessEvents()
    }

    private func takeProcessEvents() {
        let now = now
        for event in processEvents { take(event, at: now) }
        processEvents.removeAll(keepingCapacity: true)
        endTurn(at: now)
    }

    private func take(_ event: TaskEvent, at now: Instant) {
        let id = TaskID(rawValue: event.task)
        if case .left(let processID, let group, let user) = event.what {
            tellLeaver(processID, group, of: event.task, user, at: now)
        } else if let application = applications[id] {
            take(event.what, of: application, at: now)
        } else if !id.isOfApplication {
            take(event.what, of: id, at: now)
        } else if event.what == .gone {
            adoptionIsOver(id)
        }
        perform(at: now)
    }

    private func take(_ what: TaskEvent.What, of id: TaskID, at now: Instant) {
        switch what {
        case .started(index: 0, let processID):
            registry.started(id, as: ProcessID(rawValue: processID), at: now, &actions)
            performWaiting(for: id, at: now)
        case .startFailed(index: 0, let error):
            mainNotStarted(of: id, error, at: now)
        case .startFailed(let index, let error):
            drainOutput(of: id, command: index, at: now)
            if let record = registry.record(id) {
                journal.handlerNotStarted(record, "\(error)", at: now)
            }
            registry.handlerExited(id, at: now, &actions)
        case .exited(index: 0, let exit):
            registry.mainExited(id, ProcessExit(exit), at: now, &actions)
        case .exited(let index, _):
            drainOutput(of: id, command: index, at: now)
            registry.handlerExited(id, at: now, &actions)
        case .gone:
            drainOutput(of: id, at: now)
            drainNotices(of: id, at: now)
            registry.used(id, running[id]?.readUse())
            registry.processesGone(id, at: now, &actions)
        case .started, .frozen, .freezeFailed, .left:
            break
        }
    }

    /// Logs that a process is outside of the group that it was started in, as one of the entries about its owner:
    /// where it is of no task that is known, about its user, and where that is not known, about nobody's user.
    private func tellLeaver(
        _ processID: Int32, _ group: String, of task: UInt64, _ user: UInt32?, at now: Instant
    ) {
        var fields: [JournalField: String] = [.reason: "process \(processID) in \(group)"]
        var owner = user.map(OwnerID.init(rawValue:))
        let isStranger = task == TaskEvent.nobody
        if !isStranger {
            let id = TaskID(rawValue: task)
            if let application = applications[id] {
                fields[.application] = application.key.id
                owner = application.key.owner
            } else {
                fields[.taskID] = "\(id)"
                owner = running[id]?.owner
            }
        }
        let counted = owner ?? OwnerID(rawValue: .max)
        guard journal.writer.writes(.warning), journal.takesEntry(about: counted, at: now) else {
            return
        }
        fields[.owner] = owner.map { "\($0)" }
        log.say(isStranger ? .strangerKilled : .processLeft, fields)
    }

    /// The main command of a task does not run: there was no room for it, or it fails.
    private func mainNotStarted(of id: TaskID, _ error: LaunchError, at now: Instant) {
        drainOutput(of: id, at: now)
        if let scope = error.scope {
            postpone(id, "\(error)", scope, at: now)
        } else {
            registry.startFailed(id, "\(error)", at: now, &actions)
        }
    }

    /// Lets go of the processes of a task that has ended, or has come to the end of an attempt.
    func forgetProcesses(of id: TaskID, at now: Instant) {
        guard let task = running.removeValue(forKey: id) else { return }
        ownerOutputs.release(task.output)
        for pipe in task.pipes { close(pipe, at: now) }
        task.processes.close()
        if let source = task.notices { giveBack(source) }
        outputs.taskEnded(
            id, account: accountSource.accounts.account(of: task.owner),
            totalMax: loaded.settings.limits.outputTotalBytesMax)
    }
}

extension ProcessExit {
    init(_ exit: Exit) {
        self =
            switch exit {
            case .status(let number): .status(number)
            case .signal(let number): .signal(SignalNumber(rawValue: number))
            }
    }
}
