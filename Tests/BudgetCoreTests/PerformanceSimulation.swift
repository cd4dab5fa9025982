import BudgetCore
import TestKit

/// One seeded history of tasks that applications do themselves: the shell carries orders out late, in any order, and
/// sometimes fails; the applications are slow, wrong, and go away.
struct PerformanceSimulation {
    private static let names = ["a", "b", "c"]
    private static let owner = Clerk.ann

    private var random: SeededGenerator
    private let held: HeldRegistry
    private var now = Instant(nanoseconds: 1_000_000_000)
    private var actions: [Action] = []
    private var orders: [(key: ApplicationKey, order: ApplicationOrder)] = []
    private var submitted: [TaskID] = []
    /// Deliveries of tasks that an application was told of, and not answered.
    private var told: [(key: ApplicationKey, task: TaskID, delivery: UInt64)] = []
    private var tellings: [TaskID: Int] = [:]
    private var endings: [TaskID: Int] = [:]
    private var callLast: UInt64 = 0
    private var event = ""
    private var failure: String?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var limits = RegistryLimits()
        limits.warnAfter = .seconds(1_000_000)
        held = HeldRegistry(
            BackgroundTaskRegistry(
                limits: limits, profiles: Clerk.profiles, identifiers: 1...1_000_000))
        for name in Self.names {
            let number = call()
            var registration = Registration(command: [name])
            registration.exitsOnSuspend = name == "c"
            try? held.registry.register(
                key(name), registration, number: number, at: now, &actions)
            digest()
        }
    }

    private func key(_ name: String) -> ApplicationKey {
        ApplicationKey(owner: Self.owner.owner, id: name)
    }

    private mutating func call() -> UInt64 {
        callLast += 1
        return callLast
    }

    private mutating func fail(_ text: String) { failure = failure ?? text }

    private mutating func chance(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }

    /// - Returns: what first went wrong; `nil` where nothing did.
    mutating func run(steps: Int) -> String? {
        let drains = chance(4)
        for step in 0..<steps {
            pass(.milliseconds(Int.random(in: 0...3000, using: &random)))
            if drains, step == steps - 10 {
                event = "drain"
                held.registry.drain(keepsQueue: true, at: now, &actions)
                digest()
            } else {
                takeEvent()
            }
            if !chance(3) { obey() }
            compare()
            if let failure { return "step \(step), \(event): \(failure)" }
        }
        for _ in 0..<60 {
            pass(.seconds(5))
            while !orders.isEmpty { obey() }
        }
        compare()
        let live = submitted.filter { endings[$0] == nil && !isQueued($0) }
        if !live.isEmpty { fail("\(live) never end") }
        return failure.map { "at the end: \($0)" }
    }

    private func isQueued(_ id: TaskID) -> Bool {
        held.registry.record(id)?.task.state == .queued
    }

    // MARK: - What happens

    private mutating func takeEvent() {
        let name = Self.names.randomElement(using: &random) ?? "a"
        event = name
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<6: perform(name)
        case 6..<10: deliver()
        case 10: _ = try? held.registry.launch(key(name), number: call(), at: now, &actions)
        case 11..<13:
            _ = try? held.registry.activate(key(name), number: call(), at: now, &actions)
        case 13..<15: try? held.registry.enterBackground(key(name), at: now, &actions)
        case 15:
            _ = try? held.registry.push(
                key(name), PushMessage(kind: .silent), badge: nil, number: call(), at: now,
                &actions)
        case 16:
            guard held.registry.applications[key(name)]?.run?.phase != .starting else { return }
            held.registry.applicationExited(key(name), .status(1), at: now, &actions)
        case 17:
            guard let id = submitted.randomElement(using: &random) else { return }
            event = "cancel \(id)"
            _ = try? held.registry.cancel(
                id, by: Self.owner, text: nil, signal: chance(3) ? .kill : nil, at: now, &actions)
        case 18:
            _ = try? held.registry.terminate(key(name), number: call(), at: now, &actions)
        default: _ = held.registry.memoryPressure(on: nil, count: 1, at: now, &actions)
        }
        digest()
    }

    private mutating func perform(_ name: String) {
        event = "perform by \(name)"
        var submission = Submission(
            name: "t", owner: Self.owner.owner, work: Work(command: []))
        submission.application = name
        submission.budget = RequestedBudget(
            seconds: Int.random(in: 5...40, using: &random), grace: 3)
        if let id = try? held.registry.submit(submission, at: now, &actions).id {
            submitted.append(id)
        }
    }

    /// An application says that it is done; it may say so twice, or too late.
    private mutating func deliver() {
        guard let index = told.indices.randomElement(using: &random) else { return }
        let (key, task, delivery) = told[index]
        event = "\(key.id) has done \(task)"
        if !chance(4) { told.remove(at: index) }
        let before = held.registry.record(task)
        let isSuccess = Bool.random(using: &random)
        try? held.registry.delivered(key, delivery, isSuccess: isSuccess, at: now, &actions)
        let wasRunning =
            before?.task.state == .running && before?.run?.conclusion == nil
            && held.registry.applications[key]?.run != nil
        digest()
        guard wasRunning, let after = held.registry.record(task)?.task else { return }
        if after.outcome != (isSuccess ? .completed : .failed) {
            fail("\(task) was done, success: \(isSuccess), and ended as \(after.outcome as Any)")
        }
    }

    /// Carries one of the orders out, whichever; or fails to.
    private mutating func obey() {
        guard let index = orders.indices.randomElement(using: &random) else { return }
        let (key, order) = orders.remove(at: index)
        let fails = chance(5)
        switch order {
        case .start where fails:
            held.registry.applicationNotStarted(key, "no", at: now, &actions)
        case .start: held.registry.applicationStarted(key, at: now, &actions)
        case .freeze(let number) where fails:
            held.registry.applicationNotFrozen(key, number, "no", at: now, &actions)
        case .freeze(let number):
            held.registry.applicationFrozen(key, number, at: now, &actions)
        case .thaw(let number) where fails:
            held.registry.applicationNotThawed(key, number, "no", at: now, &actions)
        case .thaw(let number):
            held.registry.applicationThawed(key, number, at: now, &actions)
        case .kill: held.registry.applicationGone(key, at: now, &actions)
        default: break
        }
        digest()
    }

    private mutating func pass(_ duration: Duration) {
        let end = now + duration
        var turns = 0
        while turns < 1000, let due = nextDue, due <= end {
            turns += 1
            now = max(now, due)
            held.registry.deadlineReached(at: now, &actions)
            digest()
        }
        if turns == 1000 { fail("something that is due is never done") }
        now = end
    }

    private var nextDue: Instant? {
        let wake = held.registry.nextQueueDeadline.map { Instant(nanoseconds: $0.nanoseconds) }
        return [held.registry.nextDeadline, wake].compactMap { $0 }.min()
    }

    // MARK: - What follows

    private mutating func digest() {
        var index = 0
        while index < actions.count {
            let action = actions[index]
            index += 1
            switch action {
            case .store(let step): held.registry.stored(step, at: now, &actions)
            case .launch, .signal, .killAll, .warn:
                fail("\(action) of a task that has no command")
            case .tell(.ended, let id):
                endings[id, default: 0] += 1
                if endings[id] != 1 { fail("\(id) ends twice") }
            case .fault(let fault): fail("what must never happen: \(fault)")
            case .application(let key, .tell(let event)): observe(event, of: key)
            case .application(let key, let order): take(order, of: key)
            default: break
            }
        }
        actions = []
        held.registry.forgetExcess()
    }

    private mutating func take(_ order: ApplicationOrder, of key: ApplicationKey) {
        switch order {
        case .start, .kill:
            if !orders.contains(where: { $0.key == key && $0.order == order }) {
                orders.append((key, order))
            }
        case .freeze, .thaw:
            orders.removeAll { pending in
                guard pending.key == key else { return false }
                return switch pending.order {
                case .freeze, .thaw: true
                default: false
                }
            }
            orders.append((key, order))
        // Nothing is started any more of what has ended.
        case .release, .note(.ended): orders.removeAll { $0.key == key }
        default: break
        }
    }

    private mutating func observe(_ event: ApplicationEvent, of key: ApplicationKey) {
        guard let task = event.task, let delivery = event.delivery else { return }
        if event.state == .suspended || event.state == .notRunning {
            fail("\(key.id) is told of \(task) while it is \(event.state)")
        }
        if held.registry.record(task)?.task.state == .ended { fail("\(task) has ended") }
        if event.callback == .performTask {
            told.append((key, task, delivery))
            tellings[task, default: 0] += 1
            if tellings[task] != 1 { fail("\(key.id) is told twice of \(task)") }
        } else if tellings[task] == nil {
            fail("\(key.id) is told that \(task) expires, of which it knows nothing")
        }
    }

    /// What an application has to do is what of its tasks is under way, and it is awake for it.
    private mutating func compare() {
        for name in Self.names {
            let run = held.registry.applications[key(name)]?.run
            let performed = (run?.performances.tasks ?? []).sorted()
            let underWay = submitted.filter { id in
                guard let record = held.registry.record(id), record.task.application == name,
                    record.task.isLive, record.run?.conclusion == nil
                else { return false }
                return true
            }
            if performed != underWay {
                fail("\(name) has \(performed) to do, and \(underWay) are under way")
            }
            if !performed.isEmpty, run?.suspendAt != .never {
                fail("\(name) is to be suspended with \(performed)")
            }
        }
    }
}
