internal import Containers

/// What a run task has beyond a held one.
///
/// Small and quick to copy: what was asked for is shared by all copies, and so is what comes about once the task
/// runs, of which most have nothing yet.
package struct RunTask: Equatable, Sendable {
    private var asked: CopyOnWrite<Asked>
    private var course = RunTask.nothingYet
    /// Where it is between its submission and its end.
    package private(set) var phase: RunPhase
    /// The present attempt, from 1.
    package private(set) var attempt = 1
    /// When it may start: its earliest begin, or the end of the delay before another attempt.
    package private(set) var notBefore = BootInstant.distantPast

    private struct Asked: Equatable, Sendable {
        var work: Work
        var queueing: Queueing
    }

    /// What came about in the present attempt.
    private struct Course: Equatable, Sendable {
        var attempts: [EndedAttempt] = []
        var processID: ProcessID?
        var exit: ProcessExit?
        var use: ResourceUse?
        var status: String?
        var untoldExtension: Duration = .zero
        var postponed: Postponement?
        var handlerReports = HandlerReports()
    }

    private static let nothingYet = CopyOnWrite(Course())

    /// One that is submitted.
    init(
        work: Work, queueing: Queueing, notBefore: BootInstant?,
        startsAtOnce: Bool = false
    ) {
        asked = CopyOnWrite(Asked(work: work, queueing: queueing))
        phase = .submitting(startsAtOnce: startsAtOnce)
        if let notBefore { self.notBefore = notBefore }
    }

    /// One that an earlier daemon left, or that had ended there.
    init(_ restored: RestoredTask) {
        let submission = restored.submission
        asked = CopyOnWrite(Asked(work: submission.work, queueing: submission.queueing))
        phase = restored.end == nil ? .restored : .ended(nil)
        attempt = restored.attempt
        notBefore = restored.notBefore
        let attempts = Array(restored.attempts.suffix(EndedAttempt.keptMax))
        let (exit, use) = (restored.end?.exit, restored.end?.use)
        guard !attempts.isEmpty || exit != nil || use != nil else { return }
        course = CopyOnWrite(Course(attempts: attempts, exit: exit, use: use))
    }

    mutating func enter(_ phase: RunPhase) {
        self.phase = phase
    }

    /// Goes on with stopping it; `nil` where it is not being stopped.
    mutating func withTeardown<Result>(_ change: (inout Teardown) -> Result) -> Result? {
        phase.withTeardown(change)
    }

    /// The outcome that the exit of its main process means. A process that had exited by itself before the kill at
    /// the hard limit reached it is `expired`: only who is killed has overrun.
    func outcome(
        on exit: ProcessExit, of task: BackgroundTask, at moment: Instant
    ) -> Outcome {
        let byItself = exit == .status(0) ? Outcome.completed : .failed
        let isUnwarned = endedUnwarned(task, at: moment)
        switch phase.outcome {
        case .overrun? where exit == .signal(.kill): return .overrun
        case .overrun?: return isUnwarned ? byItself : .expired
        case .some(let outcome): return outcome
        case nil: return isUnwarned ? byItself : task.outcomeInGrace ?? byItself
        }
    }

    /// Whether its command, which ended at that moment, was not told before that its time is up: its handler fired later, or
    /// was ordered here and never fired.
    func endedUnwarned(_ task: BackgroundTask, at moment: Instant) -> Bool {
        handlerReports.isOwed || task.wasWarned(after: moment)
    }

    /// How long after an attempt that ends like this the next one may begin; `nil` where it is the last.
    func delayBeforeRetry(after outcome: Outcome) -> Duration? {
        guard let retry = queueing.retry, attempt < retry.attempts, phase.mayBeTriedAgain
        else { return nil }
        switch outcome {
        case .failed, .expired, .overrun: return retry.delay(after: attempt)
        case .interrupted: return retry.onInterruption ? retry.delay(after: attempt) : nil
        case .completed, .cancelled, .abandoned: return nil
        }
    }

    /// Takes over what is known of its command, which an earlier daemon has started.
    mutating func takeOver(_ command: FoundCommand, _ notes: CommandNotes, at now: Instant) {
        if command.isRunning { processID = command.processID }
        handlerReports = HandlerReports(
            told: notes.handlerFires,
            toldAt: notes.handlerFires > 0 ? notes.handlerFiredAt : .never, foundAt: now)
    }

    /// Makes it ready for another attempt.
    mutating func prepareAgain(after ended: EndedAttempt, notBefore: BootInstant) {
        let attempts = (attempts + [ended]).suffix(EndedAttempt.keptMax)
        course = CopyOnWrite(Course(attempts: Array(attempts)))
        attempt += 1
        self.notBefore = notBefore
    }

    /// What decides when it may run, while it is queued.
    var queuedTerms: QueuedTerms { QueuedTerms(queueing: queueing, notBefore: notBefore) }

    /// Lets other rules decide when it may run.
    mutating func wait(by terms: QueuedTerms) {
        asked.value.queueing = terms.queueing
        notBefore = terms.notBefore
    }

    /// Makes it ready to be started again, since it was not.
    mutating func postpone(_ postponed: Postponement?, until notBefore: BootInstant) {
        course = CopyOnWrite(Course(attempts: attempts, postponed: postponed))
        self.notBefore = notBefore
    }

    /// What is kept of it once it has ended.
    func tombstone(statusBytesMax: Int) -> RunTask {
        var result = self
        result.asked.value.work = work.tombstone
        if let status { result.course.value.status = status.cut(toBytes: statusBytesMax) }
        return result
    }
}

/// Why a command was not started yet that had its turn.
struct Postponement: Equatable, Sendable {
    let reason: String
    /// How often that was so, one time after the other.
    let count: Int
}

// What is known of it.
extension RunTask {
    package var work: Work { asked.value.work }
    package var queueing: Queueing { asked.value.queueing }

    /// What it takes in memory, about.
    var byteCount: Int { work.byteCount + queueing.byteCount }

    /// The newest attempts before the present one, `EndedAttempt.keptMax` at most.
    package var attempts: [EndedAttempt] { course.value.attempts }

    /// Whether a command of it is under way: it has begun, how it ends is not on its way to the disk, and no application
    /// does it.
    var hasCommand: Bool { phase.isBegun && !work.wakesApplication }

    /// Whether its submission is on disk; before that nobody but the store knows of it.
    package var isAdmitted: Bool { phase.isAdmitted }

    /// How it ends, where that is decided.
    package var conclusion: Conclusion? { phase.conclusion }

    /// Whether it was killed `RegistryLimits.stuckAfter` ago and was still there: it takes no slot any more.
    package var isStuck: Bool { phase.teardown?.isStuck ?? phase.conclusion?.wasStuck ?? false }

    package internal(set) var processID: ProcessID? {
        get { course.value.processID }
        set { course.value.processID = newValue }
    }

    package internal(set) var exit: ProcessExit? {
        get { course.value.exit }
        set { course.value.exit = newValue }
    }

    /// Known once its processes are gone.
    package internal(set) var use: ResourceUse? {
        get { course.value.use }
        set { course.value.use = newValue }
    }

    /// What it last said of itself.
    package internal(set) var status: String? {
        get { course.value.status }
        set { course.value.status = newValue }
    }

    /// How far its own requests have moved its limit since that was last told.
    var untoldExtension: Duration {
        get { course.value.untoldExtension }
        set { course.value.untoldExtension = newValue }
    }

    /// What is known of the fires of its handler; nothing in the first place.
    var handlerReports: HandlerReports {
        get { course.value.handlerReports }
        set { course.value.handlerReports = newValue }
    }

    /// Why it was not started when it had its turn last; `nil` once it was.
    var postponed: Postponement? {
        get { course.value.postponed }
        set { course.value.postponed = newValue }
    }
}
