/// What follows from an event of an application for others.
enum ApplicationEffect: Equatable, Sendable {
    /// The shell has something to do.
    case order(ApplicationOrder)
    /// Its record goes to the disk.
    case save
    /// Its record goes from the disk.
    case forget
    /// Its tasks have another clock from now on; `nil`: their own budgets alone.
    case clockChanged(ApplicationClock?)
    /// Something has come about with a task that it performs.
    case performance(TaskID, PerformanceNews)
}

/// One event as the machine of the applications handles it: what it is told of the rest of the registry, and what
/// follows, in its order.
struct ApplicationTurn: Sendable {
    let now: Instant
    /// The same moment on the clock that goes on while the machine sleeps.
    let boot: BootInstant
    /// Whether the daemon is stopping.
    let isDraining: Bool
    /// Whether launched applications go on for the daemon after this one, which stops.
    let leavesLaunched: Bool
    /// Why nothing can be written to disk; `nil` while it can.
    let storeFault: String?
    private let limits: RegistryLimits
    private let profiles: [String: Profile]
    private(set) var effects: [(key: ApplicationKey, effect: ApplicationEffect)] = []

    /// How long after the first kill a daemon that stops waits no longer.
    static var drainWait: Duration { TeardownStep.drainWait }

    init(
        at now: Instant, boot: BootInstant, isDraining: Bool, leavesLaunched: Bool = false,
        storeFault: String?, limits: RegistryLimits, profiles: [String: Profile]
    ) {
        (self.now, self.boot) = (now, boot)
        (self.isDraining, self.leavesLaunched) = (isDraining, leavesLaunched)
        self.storeFault = storeFault
        (self.limits, self.profiles) = (limits, profiles)
    }

    // MARK: What is known

    /// Whether an owner's applications may have a background mode, and profiles without a limit.
    func allowsUnlimited(_ owner: OwnerID) -> Bool { limits.allowsUnlimited(owner) }

    func profile(_ name: String) -> Profile? { profiles[name] }

    /// How long to wait for a kill before it is repeated.
    func killWait(after elapsed: Duration) -> Duration {
        TeardownStep.killWait(
            after: elapsed, stuckAfter: limits.stuckAfter, isDraining: isDraining)
    }

    /// Refuses what a daemon that stops would not keep up.
    func checkGoesOn() throws(Refusal) {
        if isDraining {
            throw .notAccepting("the daemon is stopping; try again when it is up again")
        }
    }

    /// Refuses what has to be on disk while nothing can be.
    func checkStores() throws(Refusal) {
        if let storeFault { throw .notAccepting(storeFault) }
    }

    func check(_ name: String, _ parameter: String) throws(Refusal) {
        try name.checkName(parameter, bytesMax: limits.nameBytesMax)
    }

    // MARK: What follows

    mutating func order(_ key: ApplicationKey, _ order: ApplicationOrder) {
        effects.append((key, .order(order)))
    }

    mutating func note(_ key: ApplicationKey, _ note: ApplicationNote) {
        order(key, .note(note))
    }

    mutating func report(_ key: ApplicationKey, _ task: TaskID, _ news: PerformanceNews) {
        effects.append((key, .performance(task, news)))
    }

    mutating func save(_ key: ApplicationKey) { effects.append((key, .save)) }

    mutating func forget(_ key: ApplicationKey) { effects.append((key, .forget)) }

    mutating func changeClock(_ key: ApplicationKey, to clock: ApplicationClock?) {
        effects.append((key, .clockChanged(clock)))
    }
}

/// Tells of a task what the record of an application's end names.
protocol HeldTaskSource: ~Copyable {
    /// The task, while it is live.
    func heldTask(_ id: TaskID, at now: Instant) -> HeldTask?
}
