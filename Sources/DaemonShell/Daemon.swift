internal import BudgetCore
internal import Glibc
package import LinuxSystem
internal import Logging
internal import Settings
package import Systemd
package import TaskStore

/// Wires the parts together: what the loop tells goes to the part that it is for, and what a turn ends with is done in
/// order.
///
/// One process, one thread that decides, one loop. A turn reads what came, hands it to the core with the instant of
/// after the reading, performs the core's orders, sends the answers, and arms one timer at the next deadline.
package final class Daemon {
    /// What one turn of the clients may take, where they have something again and again: going round the whole loop
    /// for each of their calls would cost more than the call. Other limits of a turn hold for what comes together.
    private static let clientsTime = Duration.microseconds(200)
    /// What is told in a turn of what the disk has, beyond a few steps.
    private static let storedTime = Duration.milliseconds(1)
    private static let storedAtOnce = 8

    private let outfit: Outfit
    private let core: Core
    private let accounts: AccountSource
    private let front: FrontEnd
    private let processes: ProcessSide
    private let storage: Storage
    private let service: Service
    private let calls: CallSide
    private let shutdown: Shutdown
    private let deadlines: DeadlineTable
    private let continuation: DeferredSource
    private let relay: Relay

    /// Lets the loop call what is made after its sources.
    private final class Relay {
        weak var daemon: Daemon?
    }

    package init(_ outfit: Outfit, _ opened: OpenedStore) throws {
        self.outfit = outfit
        let configuration = outfit.configuration
        let settings = outfit.settings.settings
        accounts = try AccountSource(
            path: configuration.servesEverybody ? configuration.subordinateIDsPath : nil)
        var registry = BackgroundTaskRegistry(
            limits: RegistryLimits(settings, configuration),
            profiles: settings.profileList.compactMap(Profile.init),
            identifiers: opened.identifiers)
        registry.applicationRules = ApplicationRules(settings)
        core = Core(registry)
        front = try FrontEnd(core, outfit, accounts)
        processes = try ProcessSide(core, outfit, accounts, front)
        storage = try Storage(
            core, outfit, accounts, front.replies, processes.output, opened)
        service = try Service(core, outfit, accounts, storage.store)
        calls = CallSide(core, outfit, accounts, front, processes, storage, service)
        shutdown = Shutdown(
            Shutdown.Parts(
                core: core, loop: outfit.loop, runners: processes.runners,
                tasks: processes.tasks, store: storage.store, listener: calls.listener,
                scheduler: calls.scheduler, status: service.status, settings: outfit.settings,
                executor: processes.executor, log: outfit.log))
        let relay = Relay()
        self.relay = relay
        deadlines = try DeadlineTable(core, outfit.loop) { relay.daemon?.deadlineReached() }
        continuation = try outfit.loop.addDefer(priority: .leftovers) {
            relay.daemon?.continueTurn()
        }
        relay.daemon = self
        service.reloader.applyAccounts()
        connect()
        addDeadlines()
    }

    // MARK: - Wiring

    private func connect() {
        let router = ActionRouter(
            tasks: processes.tasks, applications: processes.applications,
            events: TaskEvents(
                core, outfit.journal, front.subscriptions, front.replies, front.holders,
                processes.tasks),
            store: storage.store, replies: front.replies, faults: service.faults)
        processes.executor.connect { [store = storage.store] in store.executor = $0 }
        core.connect(
            Core.Hooks(
                perform: { router.perform($0) },
                finish: { [unowned self] in finishInstant() },
                arrange: { [unowned self] in arrangeNextTurn() },
                continueLater: { [unowned self] in continueLater() }))
        front.pool.connect { [front, listener = calls.listener] client in
            front.closed(client)
            listener.startAccepting()
        }
    }

    /// What is due at times, beside the core's own deadlines; done in this order.
    private func addDeadlines() {
        let (front, processes, listener) = (front, processes, calls.listener)
        let (journal, store, core) = (outfit.journal, storage.store, core)
        deadlines.add(next: { front.replies.nextDeadline }) {
            front.replies.expire(at: core.now)
        }
        deadlines.add(next: { processes.output.nextDeadline }) {
            processes.output.resumeThrottled()
        }
        deadlines.add(next: { processes.notify.nextDeadline }) {
            processes.notify.resumeThrottled()
        }
        deadlines.add(next: { processes.applications.nextDeadline }) {
            processes.applications.tellThawed()
        }
        deadlines.add(next: { processes.executor.nextDeadline }) {
            processes.executor.deadlineReached()
            processes.runners.takeHeldEvents()
            processes.executor.takeNews()
        }
        deadlines.add(next: { journal.nextReport }) { journal.reportMissed(at: core.now) }
        deadlines.add(next: { front.refusals.nextReport }) { front.refusals.report() }
        deadlines.add(next: { processes.notify.nextReport }) { processes.notify.reportDrops() }
        deadlines.add(next: { store.nextDeadline }) { store.deadlineReached() }
        deadlines.add(next: { listener.acceptAgainAt }) { listener.startAccepting() }
        let closers = front.closers
        deadlines.add(next: { closers.nextLook }) { closers.look() }
    }

    /// Has the loop call when one of the parts has something.
    private func addSources() throws {
        let (loop, host, core) = (outfit.loop, outfit.host, core)
        func add(
            _ descriptor: Int32, _ priority: EventPriority, _ body: @escaping () throws -> Void
        ) throws {
            try loop.addDescriptor(descriptor, events: .readable, priority: priority) { _ in
                try core.turn(body)
            }
        }
        let (processes, storage, service) = (processes, storage, service)
        try add(host.descriptor, .processes) {
            try processes.runners.takeEvents()
            processes.executor.takeNews()
        }
        try add(front.poll.descriptor, .clients) { [unowned self] in try serve() }
        try add(storage.thread.descriptor, .processes) { [unowned self] in
            // What is left of it has its turn after the clients.
            if storage.store.isTelling { storage.thread.takeEvents() } else { takeStored() }
        }
        try add(storage.history.descriptor, .clients) { storage.lookups.takeAnswers() }
        try add(processes.users.descriptor, .processes) { processes.users.takeAnswers() }
        try add(processes.adopter.descriptor, .clients) { processes.adopter.takeAnswer() }
        try add(accounts.descriptor, .processes) { service.reloader.takeAccounts() }
        try loop.enableWatchdog { service.status.feedWatchdog() }
    }

    // MARK: - Turns

    /// Reads what came, then looks at the clock, then takes the calls and answers them; again while more comes.
    private func serve() throws {
        let until = Instant.measured() + Self.clientsTime
        while try front.poll.poll() {
            processes.notify.readReady()
            core.advance()
            processes.notify.deliver()
            processes.output.readReady()
            front.holders.takeExited()
            calls.scheduler.takeCalls()
            core.finish()
            guard Instant.measured() < until else { break }
        }
    }

    private func deadlineReached() { core.turn { deadlines.fire() } }

    /// Goes on with what one turn had no room for.
    private func continueTurn() {
        core.continued()
        core.turn {
            calls.scheduler.takeCalls()
            if storage.store.isTelling { takeStored() }
        }
    }

    /// Takes what the disk has to tell. A commit may be about very many tasks, and each end may be told to very many: what
    /// takes too long for a turn goes on in the next one, after the clients.
    private func takeStored() {
        let until = Instant.measured() + Self.storedTime
        var count = 0
        repeat {
            let stored = storage.store.takeProgress(atMost: Self.storedAtOnce).stored
            storage.outputs.stored(stored)
            processes.executor.stored(stored)
            core.perform()
            count = stored.count
            // Where it was not much, the last look finds nothing.
        } while storage.store.isTelling
            && (count < Self.storedAtOnce || Instant.measured() < until)
        if storage.store.isTelling { core.continueLater() }
    }

    private func continueLater() {
        do {
            try continuation.schedule()
        } catch {
            outfit.log.say(.turnNotContinued, [.reason: "\(error)"])
        }
    }

    /// Performs the orders that calls and events have left, and sends the answers.
    private func finishInstant() {
        calls.submitters.lookMore()
        front.holders.abandonMore()
        core.perform()
        processes.tasks.launchPending()
        processes.executor.endInstant()
        storage.store.flush()
        front.origins.findMore()
        front.subscriptions.tellMore()
        calls.scheduler.flush()
        calls.outputs.endTurn()
        front.holders.sweep()
        storage.outputs.flush()
        // Clients that closed may have ended what others wait for.
        storage.store.flush()
        let forgotten = core.update { registry, _, _ in registry.forgetExcess() }
        for task in forgotten { processes.output.forget(task.id) }
    }

    /// Has the loop come back when something is due.
    private func arrangeNextTurn() {
        let hasAbandons = front.holders.endTurn()
        service.conditions.follow()
        service.pressure.follow()
        // Clients that closed, and conditions that hold, may have let tasks start.
        let isTelling = front.subscriptions.isTelling
        if processes.tasks.hasLaunches || core.hasOrders || hasAbandons || isTelling {
            core.continueLater()
        }
        service.status.changed()
        // It may wait for the disk until an instant, which the timer is armed for.
        shutdown.finishIfDrained { try serve() }
        do {
            try deadlines.arm()
        } catch {
            outfit.log.say(.timerNotArmed, [.reason: "\(error)"])
            outfit.loop.exit(ExitStatus.software)
        }
    }

    // MARK: - From start to end

    /// Takes over what an earlier daemon left, and has it on disk before anybody is served.
    ///
    /// - Throws: `StoreError`, where it cannot be read or written.
    package func recover(_ opened: OpenedStore) throws(StoreError) {
        let frozen = processes.units.thawLeftovers(opened.found.applications.flatMap(\.units))
        storage.outputs.restore(opened.handedOver)
        try storage.store.recover(
            opened.found, left: processes.executor.found,
            executor: processes.executor.instance, frozen: frozen,
            restored: { [processes] in processes.executor.takeOver() },
            by: { changes throws(StoreError) in
                try StoreThread.write(changes, to: opened.store, opened.identifierStore)
            },
            committed: { [storage] in storage.outputs.recovered($0) })
        storage.outputs.recoveryEnds()
        if processes.tasks.hasLaunches { core.continueLater() }
    }

    /// Who closes what strangers have sent, and removes what they may have mounted on.
    package var closers: any DescriptorCloser { front.closers }

    /// Serves a listening socket from now on.
    package func listen(_ listener: consuming UnixListener) throws(SystemError) {
        try calls.listener.listen(listener)
    }

    /// Runs the loop to its end.
    ///
    /// - Returns: the exit status.
    package func run() throws -> Int32 {
        try addSources()
        processes.notify.open(outfit.configuration)
        processes.units.retryLeftovers()
        try service.status.ready()
        outfit.log.say(.serving, outfit.configuration.fields(outfit.executor.containment))
        // What the executor told of commands that an earlier daemon had started.
        try core.turn { try processes.runners.takeEvents() }
        return try outfit.loop.run()
    }

    /// Reload and stop by signals; they are blocked here, before any thread is started.
    package static func addSignals(
        to loop: EventLoop, _ daemon: @escaping () -> Daemon?
    ) throws {
        try loop.addSignal(SIGTERM) { _ in daemon()?.stop("SIGTERM") }
        try loop.addSignal(SIGINT) { _ in daemon()?.stop("SIGINT") }
        try loop.addSignal(SIGHUP) { _ in daemon()?.reloadBySignal() }
    }

    /// Stops: where commands can go on, the service manager says whether they are to.
    private func stop(_ reason: String) {
        guard shutdown.asksForKind() else { return core.turn { shutdown.stop(reason) } }
        let manager: UnitManager.Manager =
            outfit.configuration.scope == .system ? .system : .user
        StopKind.ask(scope: manager, loop: outfit.loop) { [unowned self] kind in
            core.turn { shutdown.stop(reason, kind) }
        }
    }

    private func reloadBySignal() {
        core.turn {
            do {
                _ = try service.reloader.reload()
            } catch {
                outfit.log.say(.settingsKept)
            }
        }
    }

    /// What is left to do after the loop: the last answers, the group, the socket, the journal.
    package func shutDown() {
        front.pool.sendLast()
        if shutdown.leavesCommands {
            storage.outputs.handOver()
            processes.notify.handOver()
        }
        storage.store.close(storage.history)
        if shutdown.leavesCommands {
            processes.executor.handOver()
        } else {
            processes.executor.end()
        }
        processes.runners.killAll(leavesCommands: shutdown.leavesCommands)
        removeGroup()
        processes.notify.close()
        calls.listener.removeAll()
        front.closers.endRemovals()
        front.poll.removeAll()
        service.status.stopped()
        outfit.log.say(.stopped)
    }

    /// Removes the control group that holds all commands, once none is left.
    package func removeGroup() {
        guard let tree = outfit.tree else { return }
        do {
            try tree.remove(by: outfit.closers)
            try TreeRecord(stateFolder: outfit.configuration.stateFolder).write(nil)
        } catch {
            outfit.log.say(.groupNotRemoved, [.reason: "\(error)"])
        }
    }
}
