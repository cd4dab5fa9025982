import BudgetCore
import Testing

/// A registry with a clock that a test turns by hand, and a memory of every action.
struct Clerk {
    static let ann = Caller(owner: OwnerID(rawValue: 1001))
    static let bob = Caller(owner: OwnerID(rawValue: 1002))
    static let root = Caller(owner: .root)
    static let rootWithAll = Caller(owner: .root, seesAll: true)

    let held: HeldRegistry
    var registry: BackgroundTaskRegistry {
        _read { yield held.registry }
        nonmutating _modify { yield &held.registry }
    }
    var now = Instant(nanoseconds: 1_000_000_000)
    /// All actions so far, and those of the last call.
    var history: [Action] = []
    var latest: [Action] = []
    /// What becomes of the steps that the registry orders.
    var disk = Disk.writes
    /// All that was asked of the disk.
    var ordered: [StoreStep] = []
    /// What was answered once the disk had spoken.
    var answers: [TaskID: Refusal?] = [:]
    /// What must never have happened: an issue of the test, unless it is what the test is about.
    private(set) var faults: [Fault] = []
    var provokesFaults = false
    /// Steps that wait for a slow disk.
    var steps: [StoreStep] = []
    /// When a task of an owner and a name last completed, as far as the disk knows.
    var successes: [SuccessKey: BootInstant] = [:]

    struct SuccessKey: Hashable {
        let owner: OwnerID
        let name: String
    }

    enum Disk {
        case writes
        case waits
        case fails
    }

    init(_ configure: (inout RegistryLimits) -> Void = { _ in }) {
        var limits = RegistryLimits()
        configure(&limits)
        held = HeldRegistry(
            BackgroundTaskRegistry(
                limits: limits, profiles: Clerk.profiles, identifiers: 1...2_000_000))
    }

    static var profiles: [Profile] {
        let named: [(String, Int, Int)] = [
            ("default", 180, 5), ("extended", 600, 6), ("short", 30, 5),
        ]
        return named.compactMap { name, duration, grace in
            Budget(duration: .seconds(duration), grace: .seconds(grace)).map {
                Profile(name: name, budget: $0, lifetimeMax: .seconds(600))
            }
        } + [Profile(unlimited: "unlimited", grace: .seconds(5))]
    }

    func isDeferred(_ id: TaskID) -> Bool { held.registry.isDeferred(id) }

    /// Runs one call on the registry and keeps its actions.
    @discardableResult
    mutating func call<Result>(
        _ body: (inout BackgroundTaskRegistry, Instant, inout [Action]) throws -> Result
    ) rethrows -> Result {
        latest = []
        defer {
            write(from: 0)
            // What is due at once is done in a turn of its own.
            while held.registry.nextDeadline == Instant(nanoseconds: .min) {
                let count = latest.count
                held.registry.deadlineReached(at: now, &latest)
                write(from: count)
            }
            let all = latest
            latest = all.filter { !takeNote(of: $0) }
            history += latest
            held.registry.forgetExcess()
        }
        return try body(&held.registry, now, &latest)
    }

    /// Has the disk take, refuse or delay what was ordered.
    ///
    /// - Parameter first: the first of the latest actions that has not been carried out.
    private mutating func write(from first: Int) {
        var index = first
        while index < latest.count {
            if case .store(let step) = latest[index] {
                switch disk {
                case .writes:
                    let lastSuccess = takeDown(step)
                    held.registry.stored(step, lastSuccess: lastSuccess, at: now, &latest)
                case .waits: steps.append(step)
                case .fails: held.registry.notStored(step, "the disk is full", at: now, &latest)
                }
            }
            index += 1
        }
    }

    /// The disk takes a step.
    ///
    /// - Returns: of a submission with an interval, the last success of its name.
    private mutating func takeDown(_ step: StoreStep) -> BootInstant? {
        switch step {
        case .submitted(let id, _), .ended(let id):
            guard let record = held.registry.record(id), let run = record.run else { return nil }
            let key = SuccessKey(owner: record.task.owner, name: record.task.name)
            guard case .ended = step else {
                return run.queueing.minimumInterval.flatMap { _ in successes[key] }
            }
            if let end = run.conclusion, end.outcome == .completed {
                successes[key] = held.registry.boot(at: end.endedAt)
            }
            return nil
        default: return nil
        }
    }

    /// Sets aside what was asked of the disk, and what was answered after it.
    private mutating func takeNote(of action: Action) -> Bool {
        switch action {
        case .store(let step): ordered.append(step)
        case .answer(let id, let refusal): answers[id] = .some(refusal)
        case .fault(let fault):
            faults.append(fault)
            if !provokesFaults { Issue.record("what must never happen: \(fault)") }
        default: return false
        }
        return true
    }

    /// The slow disk has taken, or refused, what waits for it.
    mutating func finishWriting(_ isStored: Bool = true) {
        let waiting = steps.map { ($0, isStored ? takeDown($0) : nil) }
        steps = []
        call { registry, now, actions in
            for (step, lastSuccess) in waiting {
                if isStored {
                    registry.stored(step, lastSuccess: lastSuccess, at: now, &actions)
                } else {
                    registry.notStored(step, "the disk is full", at: now, &actions)
                }
            }
        }
    }

    /// Lets time pass, doing what is due when it is due.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        var seen: [Action] = []
        while let deadline = nextDue, deadline <= end {
            now = max(now, deadline)
            call { $0.deadlineReached(at: $1, &$2) }
            seen += latest
            if let next = nextDue, next <= now {
                Issue.record("a deadline that was served is still due")
                break
            }
        }
        now = end
        latest = seen
    }

    /// What is due next, of the queue too.
    private var nextDue: Instant? {
        let wake = held.registry.nextQueueDeadline.map {
            Instant(nanoseconds: ($0 - held.registry.asleep).nanoseconds)
        }
        return [held.registry.nextDeadline, wake].compactMap { $0 }.min()
    }

    mutating func begin(
        _ name: String = "flush", by caller: Caller = ann, holder: UInt64 = 1,
        profile: String? = nil, budget: RequestedBudget? = nil, application: String? = nil
    ) throws -> TaskID {
        var request = BeginRequest(
            name: name, owner: caller.owner, holder: HolderID(rawValue: holder))
        request.profile = profile
        request.budget = budget
        request.application = application
        return try call { try $0.begin(request, at: $1, &$2) }
    }

    /// Submits a command; where it is launched, its process is said to run.
    mutating func run(
        _ name: String = "upload", by caller: Caller = ann, budget: RequestedBudget? = nil,
        expiration: ExpirationHandler = ExpirationHandler()
    ) throws -> TaskID {
        let work = Work(command: ["upload"], expiration: expiration)
        var submission = Submission(name: name, owner: caller.owner, work: work)
        submission.budget = budget
        let id = try submit(submission)
        if latest.contains(.launch(id)) { started(id) }
        return id
    }

    mutating func submit(_ submission: Submission) throws -> TaskID {
        try call { try $0.submit(submission, at: $1, &$2) }.id
    }

    mutating func started(_ id: TaskID) {
        call { $0.started(id, as: ProcessID(rawValue: 77), at: $1, &$2) }
    }

    mutating func end(_ id: TaskID, by caller: Caller = ann) throws -> Outcome? {
        try call { try $0.end(id, by: caller, at: $1, &$2) }
    }

    mutating func extend(_ id: TaskID, by caller: Caller = ann) throws -> Remaining {
        try call { try $0.extend(id, by: caller, at: $1, &$2) }
    }

    mutating func cancel(_ id: TaskID, by caller: Caller = ann) throws {
        _ = try call { try $0.cancel(id, by: caller, text: nil, at: $1, &$2) }
    }

    /// The command of a task is over, after its handler has fired as often as that was ordered.
    mutating func exit(_ id: TaskID, _ exit: ProcessExit) {
        let fires = history.count { $0 == .warn(id) }
        if fires > 0, task(id)?.state == .expiring { warned(id, fires) }
        call { $0.mainExited(id, exit, at: $1, &$2) }
    }

    mutating func gone(_ id: TaskID) {
        call { $0.processesGone(id, at: $1, &$2) }
    }

    func task(_ id: TaskID) -> BackgroundTask? { held.registry.record(id)?.task }

    func remaining(_ id: TaskID) -> Remaining? {
        task(id).map { held.registry.remaining(of: $0, at: now) }
    }

    /// How often something happened to a task.
    func count(_ happening: Happening, _ id: TaskID) -> Int {
        history.count { $0 == .tell(happening, id) }
    }
}

extension RequestedBudget {
    init(seconds duration: Int, grace: Int) {
        self.init(duration: .seconds(duration), grace: .seconds(grace))
    }
}
