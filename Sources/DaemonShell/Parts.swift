internal import BudgetCore
package import LinuxSystem
package import Logging
package import Settings
package import Systemd
internal import TaskStore

/// What is given to the daemon, and can fail before it is made.
package struct Outfit {
    let configuration: Configuration
    let settings: CurrentSettings
    let loop: EventLoop
    let journal: AuditTrail
    let log: Logger
    let host: ProcessHost
    /// Where this process starts its executor, and that makes groups.
    let tree: CgroupTree?
    let executor: ExecutorLink
    let environment: TaskEnvironment
    /// What makes the processes that close what strangers have sent.
    let closers: CloserProcess.Maker

    package init(
        configuration: Configuration, loaded: LoadedSettings, loop: EventLoop,
        writer: JournalWriter, log: Logger, host: ProcessHost, tree: CgroupTree?,
        executor: ExecutorLink, openFilesSoft: UInt64, closers: CloserProcess.Maker
    ) {
        self.configuration = configuration
        settings = CurrentSettings(loaded)
        self.loop = loop
        journal = AuditTrail(writer, loaded.settings.limits)
        self.log = log
        self.host = host
        self.tree = tree
        self.executor = executor
        self.closers = closers
        environment = TaskEnvironment(
            socketPath: configuration.socketPath, changesUser: configuration.servesEverybody,
            openFilesSoft: openFilesSoft, inherited: configuration.environment)
    }
}

/// The connections, and all that is told on them.
struct FrontEnd {
    let poll: DescriptorPoll
    let closers: Closers
    let numbers = NumberSource()
    let refusals: RefusalLog
    let pool: ConnectionPool
    let applications = RunningApplications()
    let origins: OriginSearch
    let streams: ReplyStreams
    let subscriptions: Subscriptions
    let replies: PendingReplies
    let holders: HolderWatch

    init(_ core: Core, _ outfit: Outfit, _ accounts: AccountSource) throws(SystemError) {
        poll = try DescriptorPoll()
        closers = try Closers(poll, outfit.closers, accounts, outfit.log) {
            [host = outfit.host] in host.spare($0)
        }
        outfit.host.readers.connect { [closers] () throws(SystemError) in
            try closers.makeProcess()
        }
        refusals = RefusalLog(core, accounts, outfit.log)
        pool = ConnectionPool(core, poll, outfit.settings, accounts, refusals, outfit.log)
        origins = OriginSearch(
            core, applications, withAncestors: outfit.executor.containment == .supervisor)
        streams = ReplyStreams(core, pool, refusals, origins)
        subscriptions = Subscriptions(core, pool, streams)
        replies = PendingReplies(pool, numbers)
        holders = HolderWatch(core, poll, numbers)
        streams.connect { [subscriptions] in subscriptions.remove($0, $1) }
    }

    /// A connection is gone: what it held and waited for is let go.
    func closed(_ client: Client) {
        switch client.openCall {
        case .reply(let ticket): replies.drop(ticket)
        case .events(let stream): subscriptions.remove(client, stream)
        case .pages(let pager): pager.ended(for: client)
        case nil: break
        }
        holders.abandon(client.holder, .connectionClosed)
    }
}

/// Tasks and applications as processes.
struct ProcessSide {
    let users: UserCache
    let output: OutputPump
    let notify: NotifySocketPool
    let runners: ProcessRunner
    let tasks: TaskRunner
    let executor: ExecutorSync
    let units: UnitFreezer
    let applications: ApplicationRunner
    let adopter: ApplicationAdopter

    init(
        _ core: Core, _ outfit: Outfit, _ accounts: AccountSource, _ front: FrontEnd
    ) throws(SystemError) {
        let (journal, log) = (outfit.journal, outfit.log)
        users = try UserCache(core)
        output = OutputPump(
            core, front.poll, front.closers, outfit.settings, accounts, front.subscriptions,
            journal,
            log)
        notify = NotifySocketPool(core, front.poll, front.closers, accounts, log)
        runners = ProcessRunner(
            core, outfit.host, outfit.executor, output, notify, users, journal, log)
        tasks = TaskRunner(core, runners, output, notify, outfit.environment, journal, log)
        units = UnitFreezer(
            outfit.loop, front.closers, user: outfit.configuration.user, log)
        applications = ApplicationRunner(
            ApplicationRunner.Parts(
                core: core, runners: runners, output: output, applications: front.applications,
                units: units, environment: outfit.environment,
                subscriptions: front.subscriptions, replies: front.replies,
                journal: journal, log: log))
        executor = ExecutorSync(
            core, outfit.executor, tasks, applications, front.replies, log)
        adopter = try ApplicationAdopter(
            core, outfit.host, user: outfit.configuration.user, front.applications, units,
            front.replies, front.numbers, front.closers)
        let findAnew = { [pool = front.pool, origins = front.origins] (owner: OwnerID) in
            guard let use = pool.use(ofOwner: owner) else { return }
            origins.findAnew(use.members.all, of: owner)
        }
        applications.connect(
            adoptedEnded: { [adopter] in adopter.processesEnded($0) },
            released: { [adopter] in adopter.applicationEnded($0) }, settled: findAnew)
        adopter.connect(adopted: findAnew)
    }
}

/// What is kept on disk.
struct Storage {
    let thread: StoreThread
    let store: Persistence
    let history: HistoryThread
    let lookups: HistoryLookups
    let outputs: OutputKeeper

    init(
        _ core: Core, _ outfit: Outfit, _ accounts: AccountSource, _ replies: PendingReplies,
        _ output: OutputPump, _ opened: OpenedStore
    ) throws(SystemError) {
        thread = try StoreThread(
            opened, bounds: HistoryBounds(outfit.settings.settings, accounts.accounts))
        store = Persistence(core, thread, outfit.log)
        history = try HistoryThread(opened.reader, outputPath: opened.outputPath)
        lookups = HistoryLookups(core, history, replies)
        outputs = OutputKeeper(core, output, thread, outfit.settings)
    }
}

/// What systemd and an administrator have to do with.
struct Service {
    let status: ServiceStatus
    let reloader: SettingsReloader
    let conditions: ConditionMonitor
    let pressure: MemoryPressureMonitor
    let faults: FaultLog

    init(
        _ core: Core, _ outfit: Outfit, _ accounts: AccountSource, _ store: Persistence
    ) throws {
        let (loop, configuration, log) = (outfit.loop, outfit.configuration, outfit.log)
        status = try ServiceStatus(core, loop, configuration, log)
        reloader = SettingsReloader(
            core: core, configuration: configuration, settings: outfit.settings,
            accounts: accounts, executor: outfit.executor, store: store,
            status: status, journal: outfit.journal, log: log)
        conditions = ConditionMonitor(core, loop, configuration, log)
        pressure = MemoryPressureMonitor(
            core, loop, configuration, outfit.executor, log)
        faults = FaultLog(log)
    }
}

/// Who calls, and what is answered.
struct CallSide {
    let listener: ConnectionListener
    let submitters: Submitters
    let scheduler: CallScheduler
    let outputs: OutputPager.Parts

    init(
        _ core: Core, _ outfit: Outfit, _ accounts: AccountSource, _ front: FrontEnd,
        _ processes: ProcessSide, _ storage: Storage, _ service: Service
    ) {
        let (journal, log) = (outfit.journal, outfit.log)
        let access = AccessControl(
            outfit.configuration, executor: outfit.executor.executor?.processID)
        submitters = Submitters(
            core, access, processes.users, front.replies, outfit.host.readers,
            servesEverybody: outfit.configuration.servesEverybody)
        listener = ConnectionListener(
            ConnectionListener.Parts(
                core: core, poll: front.poll, pool: front.pool, settings: outfit.settings,
                configuration: outfit.configuration, access: access, accounts: accounts,
                origins: front.origins, refusals: front.refusals, numbers: front.numbers,
                closers: front.closers, log: log))
        outputs = OutputPager.Parts(
            core, front.pool, front.streams, front.subscriptions, processes.output,
            storage.lookups)
        let tasks = TaskCalls(
            core, front.holders, submitters, front.subscriptions, front.replies,
            storage.lookups, processes.executor, journal)
        let queries = QueryCalls(
            core: core, pool: front.pool, streams: front.streams,
            subscriptions: front.subscriptions, replies: front.replies,
            lookups: storage.lookups, outputs: outputs, tasks: processes.tasks)
        let applications = ApplicationCalls(
            core: core, pool: front.pool, origins: front.origins, streams: front.streams,
            subscriptions: front.subscriptions, replies: front.replies,
            submitters: submitters, applications: front.applications,
            runner: processes.applications, adopter: processes.adopter, store: storage.store,
            lookups: storage.lookups)
        let manager = ManagerCalls(
            core: core, configuration: outfit.configuration,
            containment: outfit.executor.containment, executor: processes.executor,
            settings: outfit.settings, reloader: service.reloader,
            statistics: Statistics(
                core: core, pool: front.pool, listener: listener, streams: front.streams,
                refusals: front.refusals, pressure: service.pressure, output: processes.output,
                disk: storage.thread, faults: service.faults,
                build: Statistics.Build(outfit.configuration, outfit.executor.containment)),
            journal: journal, log: log)
        scheduler = CallScheduler(
            core, front.pool, front.streams,
            CallTable(
                tasks, queries, QueueCalls(core, front.replies, journal),
                GroupCalls(core, front.replies, log), applications, manager, front.refusals))
    }
}
