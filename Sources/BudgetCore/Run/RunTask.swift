internal import Containers

/// A signal by its number, as signal(7) has it.
package struct SignalNumber: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package static let terminate = SignalNumber(rawValue: 15)
    package static let kill = SignalNumber(rawValue: 9)

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }
}

/// How the main process of a run task ended.
package enum ProcessExit: Hashable, Sendable {
    case status(Int32)
    case signal(SignalNumber)
}

/// What the processes of a run task used of the machine, as the kernel counted it.
package struct ResourceUse: Hashable, Sendable {
    package var cpu: Duration
    /// The most memory that they held at one time; `nil` where nothing counted it for them alone.
    package var memoryPeakBytes: Int?

    package init(cpu: Duration, memoryPeakBytes: Int? = nil) {
        self.cpu = cpu
        self.memoryPeakBytes = memoryPeakBytes
    }
}

/// What the expiration handler of a run task does, in this order.
package struct ExpirationHandler: Equatable, Sendable {
    /// Sent to every process of the task; `nil` sends none.
    package var signal: SignalNumber?
    /// Run beside the task; the task ends when both have.
    package var command: [String]?

    package init(signal: SignalNumber? = .terminate, command: [String]? = nil) {
        self.signal = signal
        self.command = command
    }
}

/// The groups of a submitter, as the kernel reported them; the command runs with these and no others.
package struct SubmitterGroups: Equatable, Sendable {
    package let primary: UInt32
    package let supplementary: [UInt32]

    package init(primary: UInt32, supplementary: [UInt32]) {
        self.primary = primary
        self.supplementary = supplementary
    }
}

/// Who had a command registered, as far as it decides with which rights that is started; the core carries it and
/// does not look inside.
package struct Submitter: Equatable, Sendable {
    /// The name of their account then; empty where the user database had none, `nil` where it was not asked.
    package var name: String?
    /// `nil`: those of the daemon, whose own user it was.
    package var groups: SubmitterGroups?
    /// Whether no program could give them rights that they had not (PR_SET_NO_NEW_PRIVS), nor can one the command.
    package var hasNoNewPrivileges = false

    package init(
        name: String? = nil, groups: SubmitterGroups? = nil, hasNoNewPrivileges: Bool = false
    ) {
        self.name = name
        self.groups = groups
        self.hasNoNewPrivileges = hasNoNewPrivileges
    }

    /// The submitter of an application's command as somebody else has it launched: with the groups of the launcher,
    /// and without new privileges where one of the two may have none. A message launches it as it was registered.
    package func launched(by launcher: Submitter?) -> Submitter {
        guard let launcher else { return self }
        return Submitter(
            name: name, groups: launcher.groups,
            hasNoNewPrivileges: hasNoNewPrivileges || launcher.hasNoNewPrivileges)
    }

    /// What it takes in memory, about.
    var byteCount: Int { (groups?.supplementary.count ?? 0) * 4 + (name?.utf8.count ?? 0) }
}

/// A command and what it needs to run; the core carries it and does not look inside.
package struct Work: Equatable, Sendable {
    package var command: [String]
    package var directory: String?
    package var environment: [String: String]
    package var expiration: ExpirationHandler
    package var submitter: Submitter

    package init(
        command: [String],
        directory: String? = nil,
        environment: [String: String] = [:],
        expiration: ExpirationHandler = ExpirationHandler(),
        submitter: Submitter = Submitter()
    ) {
        self.command = command
        self.directory = directory
        self.environment = environment
        self.expiration = expiration
        self.submitter = submitter
    }

    /// What it takes in memory, about.
    package var byteCount: Int {
        var count = (directory?.utf8.count ?? 0) + 16
        for argument in command { count += argument.utf8.count + 16 }
        if let command = expiration.command {
            for argument in command { count += argument.utf8.count + 16 }
        }
        for (name, value) in environment { count += name.utf8.count + value.utf8.count + 32 }
        return count + submitter.byteCount
    }

    /// What is kept of it once its task has ended.
    var tombstone: Work { Work(command: shownCommand) }

    /// The command in a length for people: what does not fit is cut, with a mark in its place.
    package var shownCommand: [String] {
        var room = Work.shownBytesMax
        var shown: [String] = []
        for argument in command {
            room -= Work.argumentOverhead
            guard argument.utf8.count <= room else {
                let mark = "…"
                return shown + [room < mark.utf8.count ? mark : argument.cut(toBytes: room)]
            }
            room -= argument.utf8.count
            shown.append(argument)
        }
        return shown
    }

    private static let shownBytesMax = 4096
    /// What an argument takes besides its text, so that there are not too many of them either.
    private static let argumentOverhead = 16
}

/// What a run task has beyond a held one.
///
/// Small and quick to copy: what was asked for is shared by all copies, and so is what comes about once the task
/// runs, of which most have nothing yet.
package struct RunTask: Equatable, Sendable {
    private var asked: CopyOnWrite<Asked>
    private var course = RunTask.nothingYet
    /// Where it is between its submission and its end.
    private(set) var phase: RunPhase
    /// The present attempt, from 1.
    package private(set) var attempt = 1
    /// When it may start: its earliest begin, or the end of the delay before another attempt.
    package private(set) var notBefore = BootInstant.distantPast
    /// Whether less time was granted than asked for, because of the profile's lifetime limit.
    let isGrantCut: Bool

    private struct Asked: Equatable, Sendable {
        var work: Work
        let queueing: Queueing
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
    }

    private static let nothingYet = CopyOnWrite(Course())

    /// One that is submitted.
    init(
        work: Work, queueing: Queueing, isGrantCut: Bool, notBefore: BootInstant?,
        startsAtOnce: Bool = false
    ) {
        asked = CopyOnWrite(Asked(work: work, queueing: queueing))
        phase = .submitting(startsAtOnce: startsAtOnce)
        self.isGrantCut = isGrantCut
        if let notBefore { self.notBefore = notBefore }
    }

    /// One that an earlier daemon left, or that had ended there.
    init(_ restored: RestoredTask) {
        let submission = restored.submission
        asked = CopyOnWrite(Asked(work: submission.work, queueing: submission.queueing))
        phase = restored.end == nil ? .restored : .ended(nil)
        isGrantCut = restored.isCutByLifetime
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

    /// Makes it ready for another attempt.
    mutating func prepareAgain(after ended: EndedAttempt, notBefore: BootInstant) {
        let attempts = (attempts + [ended]).suffix(EndedAttempt.keptMax)
        course = CopyOnWrite(Course(attempts: Array(attempts)))
        attempt += 1
        self.notBefore = notBefore
    }

    /// Makes it ready to be started again, since it was not.
    mutating func postpone(_ postponed: Postponement, until notBefore: BootInstant) {
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

    /// The newest attempts before the present one, `EndedAttempt.keptMax` at most.
    package var attempts: [EndedAttempt] { course.value.attempts }

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

    /// Why it was not started when it had its turn last; `nil` once it was.
    var postponed: Postponement? {
        get { course.value.postponed }
        set { course.value.postponed = newValue }
    }
}
