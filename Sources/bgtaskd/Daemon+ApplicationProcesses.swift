internal import BudgetCore
internal import LinuxSystem
internal import Settings
internal import Systemd

// The processes of applications: started, frozen, thawed and ended as the core orders.
extension Daemon {
    func perform(_ order: ApplicationOrder, for key: ApplicationKey, at now: Instant) {
        switch order {
        case .start: start(key, at: now)
        case .freeze(let number): setFrozen(key, .freeze(number), at: now)
        case .thaw(let number): setFrozen(key, .thaw(number), at: now)
        case .signal(let signal): send(signal, to: key, at: now)
        case .kill: kill(key, at: now)
        case .release:
            if let application = applications[key] { forget(application, at: now) }
            adoptionIsOver(of: key)
        case .tell(let event): tell(event, of: key, at: now)
        case .note(let note):
            journal.write(note, of: key, registry.applicationRecord(key), at: now)
        case .answer(let number, let refusal): answerApplicationCall(number, refusal, at: now)
        }
    }

    private func start(_ key: ApplicationKey, at now: Instant) {
        let number = TaskID(ofApplication: nextNumber())
        let launcher = applications.takeLauncher(of: key)
        do {
            let processes = try host.makeTask(number.rawValue)
            let task = RunningTask(
                id: number, owner: key.owner, processes: processes,
                output: sharedOutput(of: key.owner))
            running[number] = task
            applications.add(RunningApplication(key, launched: task, by: launcher))
        } catch {
            let advice = error.isShortage ? "; there is no room now, try again" : ""
            return registry.applicationNotStarted(key, "\(error)\(advice)", at: now, &actions)
        }
        if let user = users.user(key.owner, at: now) {
            startMain(of: number, as: user, at: now)
        } else {
            askUser(for: number, of: key.owner, at: now)
        }
    }

    /// Starts the command of an application, whose user is known now.
    func startMain(of application: RunningApplication, as user: KnownUser, at now: Instant) {
        guard let task = application.task, task.runsAs == nil,
            let registration = registry.applicationRecord(application.key)?.registration
        else { return }
        do {
            let submitter = registration.submitter.launched(by: application.launcher)
            let runsAs = try taskEnvironment.runsAs(submitter, task.owner, known: user)
            task.runsAs = runsAs
            let request = taskEnvironment.request(for: application.key, registration, as: runsAs)
            try start(request, of: task)
            applications.settle(application)
        } catch {
            let reason = (error as? LaunchError)?.advice ?? "\(error)"
            notStarted(application, reason, at: now)
        }
    }

    /// The command of an application does not run, and never did.
    func notStarted(_ application: RunningApplication, _ reason: String, at now: Instant) {
        forget(application, at: now)
        registry.applicationNotStarted(application.key, reason, at: now, &actions)
    }

    private func setFrozen(
        _ key: ApplicationKey, _ order: RunningApplication.Order, at now: Instant
    ) {
        guard let application = applications[key] else { return }
        application.order = order
        guard application.units.isEmpty else { return setUnitsFrozen(application, order, at: now) }
        guard let processes = application.task?.processes else { return }
        do {
            try processes.setFrozen(order.isFreeze)
            // What was not frozen yet tells nothing when it is thawed.
            if !order.isFreeze, !processes.isFrozen { confirm(application, at: now) }
        } catch {
            fail(application, "\(error)", at: now)
        }
    }

    /// The freeze or the thaw under way is done, as the kernel says now.
    func confirm(_ application: RunningApplication, at now: Instant) {
        let order = application.order
        application.order = nil
        switch order {
        case .freeze(let number):
            registry.applicationFrozen(application.key, number, at: now, &actions)
        case .thaw(let number):
            registry.applicationThawed(application.key, number, at: now, &actions)
        case nil: break
        }
    }

    /// The freeze or the thaw under way has failed.
    func fail(_ application: RunningApplication, _ reason: String, at now: Instant) {
        let order = application.order
        application.order = nil
        switch order {
        case .freeze(let number):
            registry.applicationNotFrozen(application.key, number, reason, at: now, &actions)
        case .thaw(let number):
            registry.applicationNotThawed(application.key, number, reason, at: now, &actions)
        case nil: break
        }
    }

    private func send(_ signal: SignalNumber, to key: ApplicationKey, at now: Instant) {
        guard let application = applications[key] else { return }
        application.order = nil
        guard application.units.isEmpty else { return thawUnits(of: application, before: signal) }
        sendNow(signal, to: application)
    }

    func sendNow(_ signal: SignalNumber, to application: RunningApplication) {
        do {
            try application.processes.signal(signal.rawValue)
        } catch {
            log.say(.applicationNotSignalled, fields(of: application, "\(error)"))
        }
    }

    private func kill(_ key: ApplicationKey, at now: Instant) {
        guard let application = applications[key] else { return }
        if let task = application.task, task.runsAs == nil {
            // There is nothing to kill, and nobody knows when the user database will answer.
            return notStarted(application, "it was ended before it was started", at: now)
        }
        do {
            try application.processes.kill()
        } catch {
            log.say(.applicationNotKilled, fields(of: application, "\(error)"))
        }
    }

    private func fields(
        of application: RunningApplication, _ reason: String
    ) -> [JournalField: String] {
        [
            .application: application.key.id, .owner: "\(application.key.owner)",
            .reason: reason,
        ]
    }

    /// What the kernel or a supervisor told of an application's processes.
    func take(_ what: TaskEvent.What, of application: RunningApplication, at now: Instant) {
        let key = application.key
        switch what {
        case .started(index: 0, _):
            application.task?.hasStarted = true
            if let task = application.task { readOutput(of: task) }
            registry.applicationStarted(key, at: now, &actions)
        case .startFailed(_, let error):
            drainOutput(of: application.number, at: now)
            notStarted(application, error.advice, at: now)
        case .exited(index: 0, let exit):
            registry.applicationExited(key, ProcessExit(exit), at: now, &actions)
        case .frozen(let isFrozen):
            // Read again: what was told may have been undone since.
            guard application.processes.isFrozen == isFrozen else { return }
            guard application.order != nil else {
                if isFrozen { return }
                return registry.applicationThawedByOthers(key, at: now, &actions)
            }
            guard application.order?.isFreeze == isFrozen, application.units.isEmpty else {
                return
            }
            confirm(application, at: now)
        case .freezeFailed(let error):
            if application.order?.isFreeze == true { fail(application, "\(error)", at: now) }
        case .gone:
            drainOutput(of: application.number, at: now)
            forget(application, at: now)
            registry.applicationGone(key, at: now, &actions)
        case .started, .exited, .left: break
        }
    }

    /// Lets go of the processes of an application.
    func forget(_ application: RunningApplication, at now: Instant) {
        if let task = running[application.number] {
            ownerOutputs.release(task.output)
            for pipe in task.pipes { close(pipe, at: now) }
            running[application.number] = nil
        }
        applications.remove(application)
        adoptedUnits.subtract(application.units.map(\.unit))
        application.processes.close()
        thawUnitsOfEnded(application)
    }
}

extension RunningApplication.Order {
    var isFreeze: Bool { if case .freeze = self { true } else { false } }
}
