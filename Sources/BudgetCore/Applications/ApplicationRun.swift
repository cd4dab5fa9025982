/// What is true of an application while it runs.
package struct ApplicationRun: Sendable {
    /// What the shell is doing with its processes.
    package enum Phase: Equatable, Sendable {
        /// Becomes `running`, `ending` or `recording`.
        case starting
        /// Taken over, and the disk does not know yet. Becomes `running`, or the run is given up.
        case adopting(UInt64)
        /// Becomes `freezing`, `ending` or `recording`.
        case running
        /// Becomes `frozen`, `running`, `thawing`, `ending` or `recording`.
        case freezing(UInt64)
        /// Becomes `thawing`, `running` where others thaw it, `ending` or `recording`.
        case frozen
        /// Becomes `running`, `frozen`, `ending` or `recording`; or is tried again.
        case thawing(UInt64)
        /// Told to end, or killed. Becomes `recording`.
        case ending
        /// Nothing of it is left, and the disk does not know yet. Then the run is over.
        case recording(End)
    }

    /// How it was over: told when the disk has it.
    package struct End: Equatable, Sendable {
        enum How: Equatable, Sendable {
            case ended(TerminationReason)
            case notStarted(String)
        }

        let how: How
        /// What was known of the run before.
        let before: Termination?
    }

    package private(set) var phase: Phase
    /// By which the program that runs its command knows it; `nil` where it was adopted.
    let number: UInt64?
    /// Whether it comes to the front when it is awake, rather than for a message alone.
    private(set) var comesToFront = false
    var messages = ApplicationMessages()
    package var performances = Performances()
    var stay = BackgroundStay()
    /// When it is suspended.
    package private(set) var suspendAt = Instant.never
    /// It is not suspended before.
    private(set) var awakeUntil: Instant?
    /// Whether it would be suspended, if that was enforced.
    package private(set) var wouldBeSuspended = false
    /// Why it was not frozen when it should have been.
    package private(set) var freezeFailure: String?
    /// Why it was not thawed when it should have been.
    private(set) var thawFailure: String?
    /// When a freeze that is not confirmed is given up.
    private(set) var freezeLimitAt = Instant.never
    /// When a thaw that failed is tried again.
    private(set) var thawAt = Instant.never
    /// Why it is being ended, and what it held when that was decided.
    package private(set) var verdict: Termination?
    var kill = ApplicationKill()
    /// Whether its units stay on disk after its end, for the daemon after this one to thaw.
    private(set) var leavesUnits = false
    private(set) var exit: ProcessExit?
    /// Tasks that its end has taken with it, in the moment before the shell saw that end.
    private var abandoned: [(task: HeldTask, at: Instant)] = []

    private static let abandonedMax = 64
    /// How long before its end was seen its tasks may have been abandoned by it.
    private static let endSpread = Duration.seconds(1)
    /// How long the kernel, or the service manager, may take for a freeze.
    static let freezeLimit = Duration.seconds(5)
    static let freezeRetry = Duration.seconds(10)
    /// Longer than a service manager is waited for.
    private static let thawRetry = Duration.seconds(10)

    /// Its command is being started.
    init(number: UInt64) {
        (phase, self.number) = (.starting, number)
    }

    /// - Parameter number: of the call that takes its processes over.
    init(adoptedBy number: UInt64) {
        (phase, self.number) = (.adopting(number), nil)
    }

    /// One that an earlier daemon has launched.
    init(
        number: UInt64, _ phase: Phase, _ notes: ApplicationNotes, verdict: Termination? = nil,
        killAt: Instant = .never
    ) {
        (self.phase, self.number) = (phase, number)
        comesToFront = notes.comesToFront
        stay = notes.stay
        wouldBeSuspended = notes.wouldBeSuspended
        self.verdict = verdict
        kill.plan(at: killAt)
    }

    // MARK: What is known

    package var isAdopted: Bool { number == nil }

    /// Whether its end is decided.
    var isEnding: Bool { phase == .ending || !hasProcesses }

    /// Whether something of it may still be there.
    var hasProcesses: Bool {
        if case .recording = phase { false } else { true }
    }

    /// Messages that it owes an answer for.
    package var deliveries: [ApplicationMessages.Delivery] { messages.deliveries }

    /// What is due next.
    var nextDeadline: Instant {
        min(suspendAt, freezeLimitAt, thawAt, kill.due, messages.nextDue)
    }

    // MARK: Starting and coming to the front

    /// Its processes run.
    mutating func runs() { phase = .running }

    /// Whether it comes to the front when it is awake.
    mutating func come(toFront: Bool) { comesToFront = toFront }

    /// Nothing of the background counts any more.
    mutating func comeToFront() {
        comesToFront = false
        stay.leave()
        suspendAt = .never
        awakeUntil = nil
        wouldBeSuspended = false
        freezeFailure = nil
        messages.forgetDeliveries()
    }

    /// - Parameter duration: its time in the background; `nil`: without a limit.
    mutating func leaveFront(_ duration: Duration?, at now: Instant, _ boot: BootInstant) {
        stay.enter(at: boot)
        stay.startTime(duration, at: now)
        messages.forgetPresented()
    }

    // MARK: Suspending

    mutating func planSuspension(at suspendAt: Instant) {
        self.suspendAt = max(suspendAt, awakeUntil ?? suspendAt)
    }

    /// It is not suspended before that, whatever ends meanwhile.
    mutating func staysAwake(until: Instant) { awakeUntil = until }

    /// It has something to do: it is not suspended, nor would it be.
    mutating func staysAwake() {
        suspendAt = .never
        wouldBeSuspended = false
    }

    /// It would be suspended now, if that was enforced.
    mutating func holdBack() { wouldBeSuspended = true }

    /// What is enforced from now on is done.
    mutating func holdBackNoLonger() { wouldBeSuspended = false }

    mutating func freezes(_ number: UInt64, at now: Instant) {
        phase = .freezing(number)
        freezeLimitAt = now + ApplicationRun.freezeLimit
    }

    mutating func wasFrozen() {
        phase = .frozen
        freezeLimitAt = .never
        freezeFailure = nil
    }

    mutating func wasNotFrozen() {
        phase = .running
        freezeLimitAt = .never
    }

    /// - Returns: whether it is another failure than the last.
    mutating func noteFreezeFailure(_ reason: String) -> Bool {
        defer { freezeFailure = reason }
        return freezeFailure != reason
    }

    mutating func thaws(_ number: UInt64, at now: Instant) {
        phase = .thawing(number)
        freezeLimitAt = .never
        thawAt = now + ApplicationRun.thawRetry
    }

    mutating func wasThawed() {
        phase = .running
        thawAt = .never
        thawFailure = nil
    }

    /// It does not come to the front, and what it was to be told is dropped.
    ///
    /// - Parameter isSuspended: whether it stays frozen; else it is thawed again later.
    mutating func wasNotThawed(_ reason: String, isSuspended: Bool, at now: Instant) {
        thawFailure = reason
        _ = messages.takePending()
        comesToFront = false
        thawAt = isSuspended ? .never : now + ApplicationRun.thawRetry
        if isSuspended { phase = .frozen }
    }

    // MARK: Ending

    /// Its end is decided: nothing else is due any more.
    mutating func end(_ verdict: Termination) {
        phase = .ending
        self.verdict = verdict
        rest()
    }

    /// Nobody looks after its processes any longer.
    ///
    /// - Parameter stillFrozen: where they could not be thawed.
    mutating func release(_ verdict: Termination, stillFrozen: Bool) {
        phase = .ending
        self.verdict = verdict
        if stillFrozen { leavesUnits = true }
    }

    mutating func exited(_ exit: ProcessExit) { self.exit = exit }

    /// Nothing of it is left.
    mutating func record(_ end: End) {
        rest()
        kill.cancel()
        wouldBeSuspended = false
        phase = .recording(end)
    }

    mutating func abandon(_ task: HeldTask, at now: Instant) {
        if abandoned.count == ApplicationRun.abandonedMax { abandoned.removeFirst() }
        abandoned.append((task, now))
    }

    /// What it held a moment ago.
    func abandonedLately(at now: Instant) -> [HeldTask] {
        abandoned.filter { $0.at >= now - ApplicationRun.endSpread }.map(\.task)
    }

    private mutating func rest() {
        suspendAt = .never
        freezeLimitAt = .never
        thawAt = .never
        messages.forgetDeliveries()
        _ = messages.takePending()
        comesToFront = false
    }
}
