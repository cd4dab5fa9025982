internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd

/// Starts, freezes, thaws and ends applications as the core orders, and tells it what becomes of them.
final class ApplicationRunner {
    /// What a process that is killed may take to be gone.
    private static let killTime = Duration.milliseconds(100)

    private let core: Core
    private let runners: ProcessRunner
    private let output: OutputPump
    private let applications: RunningApplications
    private let units: UnitFreezer
    private let environment: TaskEnvironment
    private let subscriptions: Subscriptions
    private let replies: PendingReplies
    private let journal: AuditTrail
    private let log: Logger
    /// Who has ordered the launch that comes next.
    private var nextLauncher: (key: ApplicationKey, submitter: Submitter)?
    /// Applications that nobody here has thawed, and when it is looked at them again.
    private var thawedByOthers = Deadlines<UInt64>()
    /// Called where the processes have ended of what is not an application yet.
    private var adoptedEnded: (RunnerID) -> Void = { _ in }
    /// Called where an application has ended: what was to become another of its name does not.
    private var released: (ApplicationKey) -> Void = { _ in }
    /// Called where the processes of an application have a home, and may have connections already.
    private var settled: (OwnerID) -> Void = { _ in }
    /// Called before an order that has a limit with it.
    private var tellTimes: () -> Void = {}

    /// What it needs of the others.
    struct Parts {
        let core: Core
        let runners: ProcessRunner
        let output: OutputPump
        let applications: RunningApplications
        let units: UnitFreezer
        let environment: TaskEnvironment
        let subscriptions: Subscriptions
        let replies: PendingReplies
        let journal: AuditTrail
        let log: Logger
    }

    init(_ parts: Parts) {
        core = parts.core
        runners = parts.runners
        output = parts.output
        applications = parts.applications
        units = parts.units
        environment = parts.environment
        subscriptions = parts.subscriptions
        replies = parts.replies
        journal = parts.journal
        log = parts.log
        runners.connect(
            applications: { [unowned self] id, event in take(event, of: id) },
            key: { [applications] in applications[$0]?.key })
    }

    func connect(
        adoptedEnded: @escaping (RunnerID) -> Void,
        released: @escaping (ApplicationKey) -> Void, settled: @escaping (OwnerID) -> Void
    ) {
        self.adoptedEnded = adoptedEnded
        self.released = released
        self.settled = settled
    }

    /// Connects what tells the executor of the times of applications, those of this instant included.
    func connect(tellTimes: @escaping () -> Void) { self.tellTimes = tellTimes }

    // MARK: - Orders

    func perform(_ order: ApplicationOrder, for key: ApplicationKey) {
        switch order {
        case .start: start(key)
        case .freeze(let number): setFrozen(key, .freeze(number))
        case .thaw(let number): setFrozen(key, .thaw(number))
        case .signal(let signal): send(signal, to: key)
        case .kill: kill(key)
        case .release:
            if let application = applications[key] { forget(application) }
            released(key)
        case .tell(let event): tell(event, of: key)
        case .note(let note):
            journal.write(note, of: key, core.registry.applicationRecord(key), at: core.now)
        case .answer(let number, let refusal):
            replies.resolve(PendingReplies.Ticket(number: number), refusal.map { .refused($0) })
        }
    }

    /// Performs the core's orders, in which an application is launched by somebody.
    func perform(launching key: ApplicationKey, by submitter: Submitter) {
        nextLauncher = (key, submitter)
        core.perform()
        nextLauncher = nil
    }

    /// Logs what an application is told, and tells those who watch it.
    private func tell(_ event: ApplicationEvent, of key: ApplicationKey) {
        journal.write(event, of: key, at: core.now)
        applications[key]?.add(event)
        subscriptions.publish(event, of: key)
    }

    private func start(_ key: ApplicationKey) {
        let launcher = nextLauncher.flatMap { $0.key == key ? $0.submitter : nil }
        if launcher != nil { nextLauncher = nil }
        guard let run = core.registry.applicationRecord(key)?.run else { return }
        let id = RunnerID(ofApplication: run)
        let runner = runners.make(id, for: key)
        let application = RunningApplication(key, runner, by: launcher)
        applications.add(application)
        runners.withUser(of: runner) { [unowned self] result in
            switch result {
            case .success(let user): startMain(of: application, runner, as: user)
            case .failure(let error):
                guard runners[id] != nil else { return }
                notStarted(application, "its user cannot be looked up: \(error); try again")
            }
        }
    }

    /// Starts the command of an application, whose user is known now.
    private func startMain(
        of application: RunningApplication, _ runner: Runner, as user: KnownUser
    ) {
        let key = application.key
        guard runners[runner.id] === runner, runner.isWaitingForUser,
            let registration = core.registry.applicationRecord(key)?.registration,
            let times = core.registry.applicationTimes(of: key)
        else { return }
        do {
            let submitter = registration.submitter.launched(by: application.launcher)
            let runsAs = try environment.runsAs(submitter, runner.owner, known: user)
            runner.userKnown()
            try runner.command.start(
                environment.request(for: key, registration, as: runsAs), start(of: key, times))
        } catch {
            notStarted(application, (error as? LaunchError)?.advice ?? "\(error)")
        }
    }

    /// What bgtask-executor starts a command with.
    private func start(of key: ApplicationKey, _ times: ApplicationTimes) -> ExecutedCommand.Start {
        ExecutedCommand.Start(
            attempt: 1, handlerSignal: SignalNumber.terminate.rawValue, handler: [],
            times: CommandTimes(times),
            grace: UInt64(clamping: core.registry.applicationGrace(of: key).wholeNanoseconds),
            kept: nil)
    }

    /// The command of an application does not run, and never did.
    private func notStarted(_ application: RunningApplication, _ reason: String) {
        forget(application)
        core.update { registry, now, actions in
            registry.applicationNotStarted(application.key, reason, at: now, &actions)
        }
    }

    private func send(_ signal: SignalNumber, to key: ApplicationKey) {
        guard let application = applications[key] else { return }
        _ = application.takeOrder()
        guard application.units.isEmpty else {
            // The frozen handle no signal: they are thawed first, and get it all the same where that fails.
            return units.thaw(application.units, of: key) { [unowned self] in
                if applications[key] === application { sendNow(signal, to: application) }
            }
        }
        sendNow(signal, to: application)
    }

    private func sendNow(_ signal: SignalNumber, to application: RunningApplication) {
        // Whoever is told to end is killed in time, whatever becomes of this process.
        tellTimes()
        do throws(SystemError) {
            try application.processes.ask(signal.rawValue)
        } catch {
            log.say(.applicationNotSignalled, fields(of: application, "\(error)"))
        }
    }

    private func kill(_ key: ApplicationKey) {
        guard let application = applications[key] else { return }
        if let runner = application.runner, runner.isWaitingForUser {
            // There is nothing to kill, and nobody knows when the user database will answer.
            return notStarted(application, "it was ended before it was started")
        }
        do throws(SystemError) {
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

    // MARK: - Freezing

    private func setFrozen(_ key: ApplicationKey, _ order: RunningApplication.Order) {
        guard let application = applications[key] else { return }
        application.begin(order)
        guard application.units.isEmpty else {
            return units.setFrozen(order.isFreeze, application.units, of: key) {
                [unowned self] in unitsAnswered(application, order, failure: $0)
            }
        }
        guard let runner = application.runner else { return }
        do throws(SystemError) {
            try runner.command.setFrozen(order.isFreeze)
        } catch {
            fail(application, "\(error)")
        }
    }

    /// The managers of an application's units have answered.
    private func unitsAnswered(
        _ application: RunningApplication, _ order: RunningApplication.Order, failure: String?
    ) {
        core.turn {
            // It was called off, and what came after it tells.
            guard application.order == order, applications[application.key] === application
            else { return }
            guard application.processes.isFrozen != order.isFreeze || failure != nil else {
                return confirm(application)
            }
            let reason = failure ?? "the kernel does not confirm it"
            guard order.isFreeze else { return fail(application, reason) }
            // Those units that were frozen are thawed again, before the failure is told.
            units.thaw(application.units, of: application.key) { [unowned self] in
                guard application.order == order else { return }
                core.turn { fail(application, reason) }
            }
        }
    }

    /// The freeze or the thaw under way is done, as the kernel says now.
    private func confirm(_ application: RunningApplication) {
        let key = application.key
        let order = application.takeOrder()
        core.update { registry, now, actions in
            switch order {
            case .freeze(let number):
                registry.applicationFrozen(key, number, at: now, &actions)
            case .thaw(let number): registry.applicationThawed(key, number, at: now, &actions)
            case nil: break
            }
        }
    }

    /// The freeze or the thaw under way has failed.
    private func fail(_ application: RunningApplication, _ reason: String) {
        let key = application.key
        let order = application.takeOrder()
        core.update { registry, now, actions in
            switch order {
            case .freeze(let number):
                registry.applicationNotFrozen(key, number, reason, at: now, &actions)
            case .thaw(let number):
                registry.applicationNotThawed(key, number, reason, at: now, &actions)
            case nil: break
            }
        }
    }

    // MARK: - Events

    private func take(_ event: ProcessEvent, of id: RunnerID) {
        guard let application = applications[id] else {
            if event.what == .gone { adoptedEnded(id) }
            return
        }
        let key = application.key
        let moment = event.moment.map(Instant.init(nanoseconds:))
        switch event.what {
        case .started(index: 0, _):
            if let runner = application.runner { mainStarted(application, runner) }
            core.update { registry, now, actions in
                registry.applicationStarted(key, at: now, &actions)
            }
        case .startFailed(_, let error):
            if let runner = application.runner { output.drain(runner.output) }
            notStarted(application, error.advice)
        case .exited(index: 0, let exit):
            core.update { registry, now, actions in
                registry.applicationExited(key, ProcessExit(exit), at: now, &actions)
            }
        case .frozen(let isFrozen): frozen(application, isFrozen)
        case .freezeFailed(let error):
            if application.order?.isFreeze == true { fail(application, "\(error)") }
        case .thawFailed(let error):
            if application.order?.isFreeze == false { fail(application, "\(error)") }
        case .gone:
            ended(application)
            core.update { registry, now, actions in
                registry.applicationGone(key, moment: moment, at: now, &actions)
            }
        case .warned(_, stop: .some):
            core.update { registry, now, actions in
                registry.applicationStopped(key, moment: moment, at: now, &actions)
            }
        case .lost:
            ended(application)
            core.update { registry, now, actions in
                registry.applicationLost(key, at: now, &actions)
            }
        case .started, .exited, .left, .warned, .limitReached, .timesTaken: break
        }
    }

    private func mainStarted(_ application: RunningApplication, _ runner: Runner) {
        runners.takeOutput(of: runner)
        applications.settle(application)
        settled(application.key.owner)
        runners.mainStarted(runner)
    }

    /// No process of an application is left: what it has printed is taken before its end is told.
    private func ended(_ application: RunningApplication) {
        if let runner = application.runner { output.drain(runner.output) }
        forget(application)
    }

    private func frozen(_ application: RunningApplication, _ isFrozen: Bool) {
        // Read again: what was told may have been undone since.
        guard application.processes.isFrozen == isFrozen else { return }
        guard let order = application.order else {
            // Who is killed is thawed first, and gone a moment later.
            thawedByOthers[application.id.number] = isFrozen ? nil : core.now + Self.killTime
            return
        }
        guard order.isFreeze == isFrozen, application.units.isEmpty else { return }
        confirm(application)
    }

    /// When an application is looked at again that others have thawed.
    var nextDeadline: Instant? { thawedByOthers.first }

    /// Tells of those that others have thawed, and that are there still.
    func tellThawed() {
        for number in thawedByOthers.due(at: core.now) {
            thawedByOthers[number] = nil
            guard let application = applications[RunnerID(number: number)],
                application.order == nil, !application.processes.isFrozen
            else { continue }
            core.update { registry, now, actions in
                registry.applicationThawedByOthers(application.key, at: now, &actions)
            }
        }
    }

    // MARK: - Commands that go on when this process ends

    /// Goes on with an application that an earlier daemon has launched.
    func takeOver(_ found: ListedCommand, _ id: RunnerID, of key: ApplicationKey) {
        let command = found.command
        let runner = runners.takeOver(command, id, for: key)
        runner.takenOver(isStarted: found.hasStarted, nil)
        applications.add(RunningApplication(key, runner))
        guard found.hasStarted else { return }
        runners.takeOutput(of: runner)
        output.startReading(runner.output)
        // A freeze that the earlier daemon had ordered may still come about.
        if !core.registry.isSuspended(key) { try? command.setFrozen(false) }
    }

    /// The command of an application, while bgtask-executor runs it.
    func executed(_ key: ApplicationKey) -> ExecutedCommand? { applications[key]?.runner?.command }

    /// Lets go of the processes of an application.
    private func forget(_ application: RunningApplication) {
        thawedByOthers[application.id.number] = nil
        applications.remove(application)
        if let runner = application.runner {
            runners.forget(runner)
        } else {
            application.processes.close()
        }
        units.release(application.units, of: application.key)
    }
}
