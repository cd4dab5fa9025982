internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Settings
internal import Systemd
internal import TaskStore
internal import Varlink

/// Performs what the core decides: one process, one thread that decides, one loop.
///
/// A turn reads what came, hands it to the core with the instant of after the reading, performs the
/// actions in order, sends the answers, and arms one timer at the next deadline.
final class Daemon {
    let configuration: Configuration
    var loaded: LoadedSettings
    var registry: BackgroundTaskRegistry
    /// Orders of the core that are still to be performed.
    var actions: [Action] = []

    let loop: EventLoop
    let journal: AuditTrail
    let log: Logger
    let notifier = ServiceNotifier()
    /// Whether somebody listens to what the service manager is told.
    let hasManager: Bool
    let host: ProcessHost
    let service: ServiceInterface
    let storeThread: StoreThread
    let historyThread: HistoryThread
    let taskEnvironment: TaskEnvironment
    let userDatabase: UserDatabase
    let access: AccessControl
    var peerStandings = PeerStandings()

    /// Clients, pipes and holders in one inner epoll, which is a single source of the loop.
    let epoll: Epoll
    var batch = EpollBatch(capacity: 256)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    var isAccepting = true
    /// When connections are tried again, where there were no descriptors for them.
    var acceptAgainAt: Instant?
    var clients = Clients()
    /// By account: subordinate uids count as their user.
    var owners: [OwnerID: OwnerUse] = [:]
    let accountSource: AccountSource
    var watched: [UInt64: Watched] = [:]
    var numberLast: UInt64 = 0
    /// Clients for whom something came or was made in this turn.
    var pending: [Client] = []
    /// Clients with calls to take.
    var ready = OwnerRounds<Client>()
    /// Owners with clients that wait for room in their buffers, to be looked at in this turn.
    var crowded: [OwnerUse] = []
    var watchers = Watchers()
    /// Orders about groups that wait for the disk, the oldest of each group first.
    var groupOrders: [String: ArraySlice<GroupOrder>] = [:]
    /// Clients for whom replies are to be made.
    var rounds = ReplyRounds()
    /// What the log takes of closed connections.
    var refusals = EntryAllowance(perSecondMax: 10)

    var running: [TaskID: RunningTask] = [:]
    var applications = RunningApplications()
    var applicationWatchers = ApplicationWatchers()
    /// Calls about applications that wait, by the numbers that the core answers them by.
    var applicationCalls: [UInt64: ApplicationCall] = [:]
    var originSearch = OriginSearch()
    var adoptions = Adoptions()
    let adoptionThread: AdoptionThread
    var unitManagers: [UnitManager.Manager: UnitManager] = [:]
    /// Units that applications live in, those included that are being looked at.
    var adoptedUnits: Set<BudgetCore.AdoptedUnit> = []
    /// What an earlier daemon left frozen and could not be thawed yet.
    var unitsLeftFrozen: Set<BudgetCore.AdoptedUnit> = []
    var thawTimer: TimerSource?
    var ownerOutputs = OwnerOutputs()
    var users = Users()
    var launches: [TaskID] = []
    var outputs = OutputStore()
    var outputPieces = OutputPieces()
    var notices = Notices()
    /// Pipes and sockets of tasks that flood, until they are read again.
    var resting = Deadlines<UInt64>()
    var processEvents: [TaskEvent] = []
    var storeWriter: StoreWriter
    var questions = QuestionQueue()
    /// Processes that hold tasks, by pid.
    var holders: [Int32: HolderProcess] = [:]
    /// Whether one of them may hold nothing, since a task ended or was not begun.
    var mayReleaseHolders = false
    /// Connections and processes that are gone, whose tasks have not all ended.
    var departed = FirstInFirstOut<(holder: HolderID, reason: Reason)>()
    /// Tasks of theirs that may still end in this turn.
    var abandonsLeft = Daemon.abandonedPerTurn

    /// Whether the last turn of deadlines left some that were due.
    var hasOverdue = false
    /// When those have their turn, after the clients have had theirs.
    var leftoversAt: Instant?
    private var clock = SleepClock()
    var timer: TimerSource?
    /// For what waits in the queue, where the time that the machine sleeps counts.
    var queueTimer: TimerSource?
    private(set) lazy var sensors = ConditionSensors(
        loop, log, root: configuration.sensorRoot
    ) { [unowned self] in conditionsRead() }
    private(set) lazy var pressure = PressureSensor(loop, log, configuration) {
        [unowned self] in memoryIsShort()
    }
    var statusTimer: TimerSource?
    var stopTimer: TimerSource?
    /// Until when systemd is asked to wait for the end.
    var stopLimit: Instant?
    var countsBeforeStop: RegistryCounts?
    /// What was wrong with the settings that were read last, until they are good.
    var settingsRefusal: SettingsErrors?
    var continuation: DeferredSource?
    var isContinuing = false
    var stopSignals = 0
    /// Clients are read a last time, and nobody new is let in.
    var isLastTurn = false
    var statistics = Statistics()

    init(_ configuration: Configuration, _ loaded: LoadedSettings, _ parts: Parts) throws {
        self.configuration = configuration
        hasManager = configuration.environment["NOTIFY_SOCKET"] != nil
        self.loaded = loaded
        loop = parts.loop
        journal = parts.journal
        log = parts.log
        host = parts.host
        accountSource = try AccountSource(
            path: configuration.servesEverybody ? configuration.subordinateIDsPath : nil)
        storeThread = try StoreThread(
            parts.store.store, identifiers: parts.store.identifierStore,
            bounds: HistoryBounds(loaded.settings, accountSource.accounts))
        storeWriter = StoreWriter(storeThread)
        historyThread = try HistoryThread(parts.store.reader)
        taskEnvironment = parts.taskEnvironment
        epoll = try Epoll()
        userDatabase = try UserDatabase()
        adoptionThread = try AdoptionThread()
        access = AccessControl(configuration)
        service = Daemon.serviceInterface
        registry = BackgroundTaskRegistry(
            limits: RegistryLimits(loaded.settings, configuration),
            profiles: loaded.settings.profileList.compactMap(Profile.init),
            identifiers: parts.store.identifiers
        )
        registry.applicationRules = ApplicationRules(loaded.settings)
        registry.replaceAccounts(accountSource.accounts)
        journal.accounts = accountSource.accounts
    }

    deinit {
        buffer.deallocate()
    }

    /// What is made before the daemon itself, and can fail.
    struct Parts {
        let loop: EventLoop
        let journal: AuditTrail
        let log: Logger
        let host: ProcessHost
        let store: OpenedStore
        let taskEnvironment: TaskEnvironment
    }

    /// What one account has of the connections and their buffers; each of the account's clients has it at
    /// hand.
    final class OwnerUse {
        let owner: OwnerID
        /// Those that are not being closed.
        var members = ClientList()
        var bufferedBytes = 0
        /// Clients that are not read, because the buffers are full.
        var waiting = KeyedQueue<ObjectIdentifier, Client>()
        /// Whether it is among those to be looked at in this turn.
        var isCrowded = false

        init(_ owner: OwnerID) {
            self.owner = owner
        }
    }

    /// What a token of the inner epoll stands for, besides clients.
    enum Watched {
        case listener(ListeningSocket)
        case output(OutputPipe)
        case holder(HolderProcess)
        case notices(NoticeSource)
    }

    /// Reads the clocks; the core learns how long the machine has slept.
    var now: Instant {
        let (now, slept) = clock.read()
        registry.asleep = .nanoseconds(slept)
        return Instant(nanoseconds: now)
    }

    func nextNumber() -> UInt64 {
        numberLast += 1
        return numberLast
    }

    /// Builds the sources of the loop and runs it to its end.
    ///
    /// - Returns: the exit status.
    func run() throws -> Int32 {
        timer = try loop.addTimer { [unowned self] in deadlineReached() }
        queueTimer = try loop.addTimer(on: .bootTime) { [unowned self] in deadlineReached() }
        statusTimer = try loop.addTimer(priority: .health) { [unowned self] in sendStatus() }
        stopTimer = try loop.addTimer(priority: .health) { [unowned self] in extendStop(at: now) }
        continuation = try loop.addDefer(priority: .leftovers) { [unowned self] in continueTurn() }
        try loop.addDescriptor(host.descriptor, events: .readable, priority: .processes) {
            [unowned self] _ in try processesReady()
        }
        if let children = host.childDescriptor {
            try loop.addDescriptor(children, events: .readable, priority: .clients) {
                [unowned self] _ in try childrenReady()
            }
        }
        try loop.addDescriptor(epoll.descriptor, events: .readable, priority: .clients) {
            [unowned self] _ in try clientsReady()
        }
        try loop.addDescriptor(
            storeThread.descriptor, events: .readable, priority: .processes
        ) { [unowned self] _ in storeReady() }
        try loop.addDescriptor(
            historyThread.descriptor, events: .readable, priority: .clients
        ) { [unowned self] _ in historyReady() }
        try loop.addDescriptor(
            userDatabase.descriptor, events: .readable, priority: .processes
        ) { [unowned self] _ in usersReady() }
        try loop.addDescriptor(
            adoptionThread.descriptor, events: .readable, priority: .clients
        ) { [unowned self] _ in adoptionReady() }
        try loop.enableWatchdog { [unowned self] in feedWatchdog() }
        try loop.addDescriptor(
            accountSource.descriptor, events: .readable, priority: .processes
        ) { [unowned self] _ in accountsReady() }
        openNotices()
        thawLeftUnits()
        try notifier.ready(status: statusText())
        log.say(.serving, configuration.fields(host.containment))
        return try loop.run()
    }

    /// Arms the one timer at what is due next. With deadlines left over from a full turn, the clients
    /// get theirs before the next of them.
    func armTimer() throws {
        // Counted once: clients that always have something must not put it off again with each turn.
        leftoversAt = hasOverdue ? leftoversAt ?? now + Daemon.clientsShare : nil
        try armQueueTimer()
        var next = registry.nextDeadline ?? .never
        func include(_ instant: Instant?) { if let instant { next = min(next, instant) } }
        include(watchers.nextDeadline)
        include(resting.first)
        include(acceptAgainAt)
        include(journal.allowance.nextReport)
        include(refusals.nextReport)
        include(notices.drops.nextReport)
        include(storeWriter.nextDeadline)
        guard next != .never else {
            timer?.disarm()
            return
        }
        let instant = max(next, leftoversAt ?? next)
        // Where it fires too early, because what was due then is over, this is looked at again.
        try timer?.arm(noLaterThanNanoseconds: UInt64(clamping: instant.nanoseconds))
    }

    private func armQueueTimer() throws {
        guard let next = registry.nextQueueDeadline else {
            queueTimer?.disarm()
            return
        }
        let instant = max(next, leftoversAt.map { registry.boot(at: $0) } ?? next)
        try queueTimer?.arm(atNanoseconds: UInt64(clamping: instant.nanoseconds))
    }
}
