import BudgetCore
import TestKit

/// One seeded history of applications: random events go to the registry and to the slow model, and after each
/// of them the two must agree. The shell carries orders out late and in any order, and sometimes fails.
struct ApplicationSimulation {
    struct Order: Equatable {
        enum Kind { case start, freeze, thaw, kill }

        let key: ApplicationKey
        let kind: Kind
        let number: UInt64
    }

    static let owner = Clerk.ann

    var random: SeededGenerator
    var held: HeldRegistry
    var model = ApplicationModel()
    var actions: [Action] = []
    /// Orders that the shell has not carried out.
    var orders: [Order] = []
    /// Those that it has, or that a later one has overtaken.
    var past: [Order] = []
    /// What is under way: a step into the suspended state may come of a confirmation alone.
    var event = ""
    var seen: [ApplicationKey: ApplicationState] = [:]
    /// Every state that an application was told to be in, and since when.
    var course: [ApplicationKey: [(state: ApplicationState, at: BootInstant)]] = [:]
    /// The spans that went to the disk, each as it was told last.
    var spans: [UInt64: ApplicationSpan] = [:]
    var tellings: [ApplicationKey: Int] = [:]
    var warnings: [ApplicationKey: Int] = [:]
    var deliveries: [ApplicationKey: Int] = [:]
    /// Calls that wait, and how often each was answered.
    var waiting: Set<UInt64> = []
    var answered: Set<UInt64> = []
    var callLast: UInt64 = 0
    /// The first thing that went wrong.
    var failure: String?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        model.isSingle = Bool.random(using: &random)
        held = Self.registry(isSingle: model.isSingle, identifiers: 1...1_000_000)
        for name in model.names { register(name) }
    }

    /// One that knows nothing yet.
    static func registry(isSingle: Bool, identifiers: ClosedRange<UInt64>) -> HeldRegistry {
        var limits = RegistryLimits()
        limits.warnAfter = .seconds(1_000_000)
        let budget = Budget(duration: .seconds(40), grace: .seconds(3))
        let profiles = budget.map {
            [Profile(name: "default", budget: $0, lifetimeMax: .seconds(100))]
        }
        let held = HeldRegistry(
            BackgroundTaskRegistry(
                limits: limits, profiles: profiles ?? [], identifiers: identifiers))
        var rules = ApplicationRules()
        rules.backgroundTime = .seconds(ApplicationModel.backgroundTime)
        rules.grace = .seconds(ApplicationModel.grace)
        rules.suspendAfter = .seconds(ApplicationModel.suspendAfter)
        rules.messageTime = .seconds(ApplicationModel.messageTime)
        rules.messagesPerHourMax = ApplicationModel.wakesPerHour
        rules.messagesDeferredMax = 1000
        rules.isForegroundSingle = isSingle
        held.registry.applicationRules = rules
        return held
    }

    private mutating func register(_ name: String) {
        var registration = Registration(command: name == "b" ? nil : [name])
        registration.exitsOnSuspend = name == "c"
        let number = nextCall()
        waiting.insert(number)
        try? held.registry.register(key(name), registration, number: number, at: now, &actions)
        model.apps[name] = .init(
            hasCommand: name != "b", exitsOnSuspend: registration.exitsOnSuspend)
        digest()
    }

    var now: Instant { Instant(nanoseconds: 0) + .seconds(model.now) }

    func key(_ name: String) -> ApplicationKey {
        ApplicationKey(owner: ApplicationSimulation.owner.owner, id: name)
    }

    mutating func nextCall() -> UInt64 {
        callLast += 1
        return callLast
    }

    mutating func fail(_ text: String) { failure = failure ?? text }

    /// - Returns: what first went wrong, `nil` where the two agreed to the end.
    mutating func run(steps: Int) -> String? {
        let drains = Bool.random(using: &random)
        for step in 0..<steps {
            pass(Int.random(in: 0...4, using: &random))
            event = "event"
            if drains, step == steps - 20 { drain() } else { takeEvent() }
            settle()
            compare()
            if let failure { return "step \(step), \(event): \(failure)" }
        }
        finish()
        return failure.map { "at the end: \($0)" }
    }

    private mutating func drain() {
        event = "drain"
        held.registry.drain(keepsQueue: false, at: now, &actions)
        model.drain()
        digest()
    }

    /// Time passes a tick at a time; the loop serves everything at once, or one deadline a turn.
    private mutating func pass(_ ticks: Int) {
        for _ in 0..<ticks {
            model.advance(1)
            event = "time"
            settle()
        }
    }

    /// What is due by now is done, and nothing of it remains.
    mutating func settle() {
        model.check()
        let limit = Bool.random(using: &random) ? 1 : Int.max
        var turns = 0
        while held.registry.hasOverdue(at: now), turns < 1000 {
            turns += 1
            held.registry.deadlineReached(at: now, limit: limit, &actions)
            digest()
        }
        if turns == 1000 { fail("something that is due is never done") }
    }

    // MARK: - Actions

    mutating func digest() {
        var index = 0
        while index < actions.count {
            let action = actions[index]
            index += 1
            switch action {
            case .store(let step): held.registry.stored(step, at: now, &actions)
            case .application(let key, let order): take(order, of: key)
            case .fault(let fault): fail("what must never happen: \(fault)")
            default: break
            }
        }
        actions = []
        held.registry.forgetExcess()
    }

    private mutating func take(_ order: ApplicationOrder, of key: ApplicationKey) {
        switch order {
        case .start: add(key, .start, 0)
        case .freeze(let number): add(key, .freeze, number)
        case .thaw(let number): add(key, .thaw, number)
        case .kill: add(key, .kill, 0)
        case .tell(let told): observe(told, of: key)
        case .answer(0, _): break
        case .answer(let number, _):
            if !waiting.contains(number) { fail("call \(number) did not wait") }
            if !answered.insert(number).inserted { fail("call \(number) was answered twice") }
        case .release: orders.removeAll { $0.key == key }
        case .signal, .note: break
        }
    }

    private mutating func add(_ key: ApplicationKey, _ kind: Order.Kind, _ number: UInt64) {
        let order = Order(key: key, kind: kind, number: number)
        guard !orders.contains(order) else { return }
        if kind == .freeze || kind == .thaw {
            let overtaken = orders.filter {
                $0.key == key && ($0.kind == .freeze || $0.kind == .thaw)
            }
            past += overtaken
            orders.removeAll { overtaken.contains($0) }
        }
        orders.append(order)
    }

    private mutating func observe(_ told: ApplicationEvent, of key: ApplicationKey) {
        let before = seen[key] ?? .notRunning
        if told.previous != before { fail("\(key.id) was \(before), and is told of \(told)") }
        seen[key] = told.state
        course[key, default: []].append((told.state, held.registry.boot(at: now)))
        if told.callback == .backgroundTimeExpiring { tellings[key, default: 0] += 1 }
        if told.callback == .didReceiveMemoryWarning { warnings[key, default: 0] += 1 }
        let messages: [Callback] = [
            .didReceiveRemoteNotificationFetch, .didReceiveNotificationResponse,
        ]
        if let callback = told.callback, messages.contains(callback) {
            deliveries[key, default: 0] += 1
        }
        let isFrozen = held.registry.applications[key]?.run?.phase == .frozen
        if told.callback != nil, told.callback != .badgeChanged,
            isFrozen || told.state == .suspended
        {
            fail("\(key.id) is told of \(told) while it is suspended")
        }
        guard told.state == .suspended, before != .suspended else { return }
        if event != "frozen \(key.id)" { fail("\(key.id) is suspended without a confirmation") }
        if held.registry.taskCount(of: key) > 0 { fail("\(key.id) is suspended with a task") }
    }
}
