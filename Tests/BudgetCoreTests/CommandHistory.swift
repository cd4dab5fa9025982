import BudgetCore
import TestKit

/// One seeded history of commands that outlive daemons: each daemon is stopped between any two of its steps, or hands
/// over, and the next one finds what the program that runs commands has.
struct CommandHistory {
    static let owner = Clerk.ann
    static let budgets = [(6, 2), (12, 3), (30, 5)]
    static let lifetime = Duration.seconds(40)

    var random: SeededGenerator
    var executor = ModelExecutor()
    var disk = CommandDisk()
    var now = Instant(nanoseconds: 1_000_000_000)
    var held: HeldRegistry
    var actions: [Action] = []
    /// Written in one commit that has not begun.
    var writes: [CommandDisk.Write] = []
    /// What this daemon has sent of each command.
    var sent: [TaskID: Sent] = [:]
    /// Actions until this daemon is stopped; `nil`: it is not.
    var actionsLeft: Int?
    var isDead = false
    /// How often this daemon has told of a handler, by task and attempt.
    var tellings: [TaskID: [Int: Int]] = [:]
    var holders: UInt64 = 0
    /// When each command is due, as this daemon has it, and as it was mirrored.
    var times: [TaskID: CommandTimes] = [:]
    var kept: [TaskID: CommandTimes] = [:]
    /// Tasks of which attempts went with the program that ran them.
    var lost: Set<TaskID> = []
    var cancelled: Set<TaskID> = []
    /// Tasks that were given time, since when their handlers may fire again.
    var given: [TaskID: Instant] = [:]
    var lastFires: [TaskID: Instant] = [:]
    /// When this daemon has ordered a handler to fire.
    var orderedAt: [TaskID: Instant] = [:]
    var submitted: [TaskID] = []
    var identifierLast: UInt64 = 0
    var failure: String?
    var counts: [String: Int] = [:]

    struct Sent {
        let attempt: Int
        /// `nil`: nothing of this daemon's.
        var last: CommandDeadlines?
        /// How many fires of the handler were told of.
        var fires = 0
        /// Whether times wait until that is known.
        var isOwed = false
    }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        held = CommandHistory.registry(from: 1)
    }

    static func registry(from first: UInt64) -> HeldRegistry {
        var limits = RegistryLimits()
        limits.warnAfter = .seconds(9)
        limits.slots = 3
        let profiles = Budget(duration: .seconds(12), grace: .seconds(3)).map {
            [Profile(name: "default", budget: $0, lifetimeMax: lifetime)]
        }
        return HeldRegistry(
            BackgroundTaskRegistry(
                limits: limits, profiles: profiles ?? [], identifiers: first...1_000_000))
    }

    mutating func fail(_ text: String) { failure = failure ?? text }

    mutating func chance(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }

    mutating func seconds(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(
            Int.random(in: range.lowerBound * 10...range.upperBound * 10, using: &random) * 100)
    }

    // MARK: - Its course

    /// - Returns: what first went wrong; `nil` where nothing did.
    mutating func run(steps: Int) -> String? {
        for step in 0..<steps {
            if isDead {
                pass(seconds(0...12), isServed: false)
                if chance(12) { loseExecutor() }
                restart()
            } else {
                takeEvent()
                pass(seconds(0...3), isServed: true)
            }
            if let failure { return "step \(step): \(failure)" }
        }
        finish()
        return failure.map { "at the end: \($0)" }
    }

    /// Lets all that waits and runs come to its end.
    private mutating func finish() {
        if isDead || held.registry.isDraining { restart(mayStop: false) }
        actionsLeft = nil
        for _ in 0..<200 where failure == nil && !submitted.allSatisfy({ disk[$0]?.end != nil }) {
            for id in submitted where disk[id]?.end == nil { change(id, isPaused: false) }
            pass(.seconds(3), isServed: true)
        }
        // What was borrowed is over too.
        for _ in 0..<20 { pass(.seconds(3), isServed: true) }
        let open = submitted.filter { disk[$0]?.end == nil && disk[$0] != nil }
        if !open.isEmpty { fail("\(open) never end") }
        if !executor.commands.isEmpty { fail("\(executor.commands.keys) are not forgotten") }
        if held.registry.liveCount > 0 || held.registry.nextDeadline != nil {
            fail("something is left")
        }
    }

    /// Lets time pass: what is due is done when it is, by the executor first or by the daemon first.
    private mutating func pass(_ duration: Duration, isServed: Bool) {
        let end = now + duration
        var turns = 0
        while turns < 2000, failure == nil {
            turns += 1
            let isDue = isServed && !isDead && chance(2)
            let next = min(executor.next, isDue ? nextDue : .never)
            guard next <= end else { break }
            now = max(now, next)
            if chance(2) { serve(isServed) }
            executor.advance(to: now)
            compareFires()
            serve(isServed)
        }
        if turns == 2000 { fail("something that is due is never done") }
        now = end
        executor.advance(to: now)
        compareFires()
        serve(isServed)
    }

    private var nextDue: Instant {
        let wake = held.registry.nextQueueDeadline.map { Instant(nanoseconds: $0.nanoseconds) }
        return max([held.registry.nextDeadline, wake].compactMap { $0 }.min() ?? .never, now)
    }

    // MARK: - What happens

    private mutating func takeEvent() {
        let ids = chance(4) ? submitted.suffix(8) : sent.keys.sorted()[...]
        let id = ids.randomElement(using: &random) ?? .invalid
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<6: submit()
        case 6..<10: extend(id)
        case 10..<12: lengthen(id)
        case 12: cancel(id)
        case 13: warn(id)
        case 14: change(id, isPaused: true)
        case 15: change(id, isPaused: false)
        case 16: begin()
        case 17: handOver()
        case 18: isDead = true
        case 19, 20: actionsLeft = Int.random(in: 0..<25, using: &random)
        case 21 where chance(4):
            loseExecutor()
            lose()
        default: break
        }
        count("events")
    }

    mutating func count(_ what: String) { counts[what, default: 0] += 1 }

    private mutating func submit() {
        guard !held.registry.isDraining else { return }
        var expiration = ExpirationHandler()
        if chance(3) { expiration.command = ["save"] }
        var submission = Submission(
            name: "t", owner: Self.owner.owner,
            work: Work(command: ["t"], expiration: expiration))
        let (duration, grace) = Self.budgets.randomElement(using: &random) ?? (6, 2)
        submission.budget = RequestedBudget(seconds: duration, grace: grace)
        if chance(2) {
            submission.queueing.retry = Retry(
                attempts: 3, delay: .seconds(1), onInterruption: chance(2))
        }
        var id: TaskID?
        call { id = try? $0.submit(submission, at: $1, &$2).id }
        if let id {
            submitted.append(id)
            identifierLast = max(identifierLast, id.rawValue)
        }
    }

    private mutating func extend(_ id: TaskID) {
        var isDone = false
        // A moment is enough for all that is due by then.
        call { registry, now, actions in
            registry.deadlineReached(at: now, &actions)
            isDone = (try? registry.extend(id, by: Self.owner, at: now, &actions)) != nil
        } then: {
            guard isDone, $0.held.registry.record(id)?.task.state == .running else { return }
            $0.times[id]?.extend(at: $0.now)
            $0.given[id] = $0.now
            $0.count("extended")
        }
    }

    private mutating func lengthen(_ id: TaskID) {
        let atLeast = seconds(1...20)
        var isDone = false
        call { registry, now, actions in
            registry.deadlineReached(at: now, &actions)
            isDone = registry.record(id)?.run?.phase.isUnderWay == true
            registry.noted(id, TaskNotice(atLeast: atLeast), at: now, &actions)
        } then: {
            guard isDone else { return }
            $0.times[id]?.lengthen(atLeast, at: $0.now)
            $0.given[id] = $0.now
        }
    }

    private mutating func cancel(_ id: TaskID) {
        let kills = chance(4)
        var isDone = false
        call { registry, now, actions in
            registry.deadlineReached(at: now, &actions)
            isDone =
                (try? registry.cancel(
                    id, by: Self.owner, text: "enough", signal: kills ? .kill : nil, at: now,
                    &actions)) != nil
        } then: {
            guard isDone else { return }
            $0.times[id]?.cancel(at: $0.now)
            $0.cancelled.insert(id)
            if kills { $0.times[id] = nil }
            $0.count("cancelled")
        }
    }

    private mutating func warn(_ id: TaskID) {
        var isDone = false
        call { registry, now, actions in
            registry.deadlineReached(at: now, &actions)
            isDone =
                (try? registry.simulateExpiration(id, by: Self.owner, at: now, &actions)) != nil
        } then: {
            if isDone { $0.times[id]?.warn(at: $0.now) }
        }
    }

    private mutating func change(_ id: TaskID, isPaused: Bool) {
        var change = QueueingChange()
        change.isPaused = isPaused
        call { _ = try? $0.change(id, by: Self.owner, change, at: $1, &$2) }
    }

    private mutating func begin() {
        holders += 1
        let holder = HolderID(rawValue: holders)
        call {
            let request = BeginRequest(name: "h", owner: Self.owner.owner, holder: holder)
            _ = try? $0.begin(request, at: $1, &$2)
        }
        identifierLast = max(identifierLast, held.registry.identifierLast.rawValue)
    }

    /// This daemon stops, and leaves the commands to the next one.
    private mutating func handOver() {
        guard !held.registry.isDraining else { return }
        let before = actions.count
        let left = executor.commands.keys.filter { id in
            held.registry.hasCommand(id, attempt: executor.commands[id]?.attempt ?? 0)
        }
        held.registry.drain(keepsQueue: true, leavesCommands: true, at: now, &actions)
        for action in actions[before...] {
            switch action {
            case .warn(let id), .signal(let id, _), .killAll(let id):
                fail("\(id) is not left alone: \(action)")
            case .tell(_, let id) where left.contains(id): fail("\(action) of what is left")
            default: break
            }
        }
        count("handed over")
        digest()
    }

    private mutating func loseExecutor() {
        lost.formUnion(executor.commands.keys)
        lost.formUnion(disk.live.filter { $0.begunAt != nil }.map(\.id))
        executor.isLost()
        kept = [:]
        count("executor lost")
    }

    /// This daemon hears that the program that ran its commands is lost.
    private mutating func lose() {
        let ids = sent.keys.sorted()
        sent = [:]
        for id in ids where held.registry.hasCommand(id, attempt: attempt(id)) {
            call { $0.commandLost(id, at: $1, &$2) }
        }
    }

    func attempt(_ id: TaskID) -> Int { held.registry.record(id)?.run?.attempt ?? 0 }
}
