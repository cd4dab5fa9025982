import BudgetCore
import JSON
import TaskAPI
import TaskStore
import Varlink

/// The registry with what the daemon does around it, where nothing but this has to be done: commands start, run
/// for a while and end, and the disk takes everything at once.
final class PureDaemon {
    private typealias Handler = @Sendable (PureDaemon, Call) throws -> [Int]

    private var registry: BackgroundTaskRegistry
    private var actions: [Action] = []
    private var now = Instant(nanoseconds: 1_000_000_000)
    private let time = WallTime(microseconds: 1_700_000_000_000_000)
    private var numberLast: UInt64 = 0
    private var running: [TaskID] = []
    private var ids: [TaskID] = []

    private static let owner = OwnerID(rawValue: 1000)
    private static let caller = Caller(owner: owner)
    private static let holder = HolderID(rawValue: 1)
    private static let idsKept = 32

    init() {
        var limits = RegistryLimits()
        limits.slots = 2
        limits.groupSlots = ["fuzzed": 1]
        limits.endedRunMax = 16
        limits.endedHeldMax = 16
        let profiles = [
            Budget(duration: .seconds(180), grace: .seconds(5)).map {
                Profile(name: Profile.defaultName, budget: $0, lifetimeMax: .seconds(600))
            },
            Budget(duration: .seconds(14_400), grace: .seconds(30)).map {
                Profile(name: "long", budget: $0, lifetimeMax: nil)
            },
            Profile(unlimited: "unlimited", grace: .seconds(5)),
        ]
        registry = BackgroundTaskRegistry(
            limits: limits, profiles: profiles.compactMap { $0 }, identifiers: 1...100_000)
    }

    /// Carries a call out.
    ///
    /// - Returns: ids that an answer would have.
    func take(_ call: Call) -> [Int] {
        guard let handler = PureDaemon.handlers[call.method] else { return [] }
        // What is refused is answered so.
        let found = (try? handler(self, call)) ?? []
        perform()
        return found
    }

    /// Time passes, and what runs may end.
    func pass(_ choice: UInt64, _ span: UInt64) {
        let milliseconds = [0, 1, 100, 5000, 200_000, 86_400_000][Int(choice % 6)]
        now = now + .milliseconds(milliseconds + Int(span % 3))
        registry.deadlineReached(at: now, limit: 1000, &actions)
        perform()
        guard choice % 3 == 0, !running.isEmpty else { return }
        let id = running.removeFirst()
        registry.mainExited(id, .status(Int32(span % 2)), at: now, &actions)
        registry.processesGone(id, at: now, &actions)
        perform()
    }

    /// Works out what answers and listings would have.
    func checkAnswers() {
        for id in ids {
            guard let record = registry.record(id) else { continue }
            let remaining = registry.remaining(of: record.task, at: now)
            precondition(remaining.untilHandlerMilliseconds ?? 0 >= 0)
            precondition(remaining.untilHardLimitMilliseconds ?? 0 >= 0)
            precondition(record.task.used(at: now) >= .zero && record.task.age(at: now) >= .zero)
            precondition(registry.notBefore(id, at: now) ?? .zero >= .zero)
            _ = registry.firstHold(on: id)
            _ = try? registry.explain(id, for: PureDaemon.caller, at: now)
        }
    }

    /// The daemon stops: everything ends.
    func drain() {
        registry.drain(keepsQueue: true, at: now, &actions)
        perform()
        registry.endGrace(at: now, &actions)
        perform()
        for _ in 0..<64 where registry.nextDeadline != nil {
            now = max(now, registry.nextDeadline ?? now)
            registry.deadlineReached(at: now, &actions)
            perform()
        }
        precondition(registry.liveCount == 0, "tasks are left")
    }

    // MARK: - What the shell does

    private func perform() {
        while let action = actions.first {
            actions.removeFirst()
            perform(action)
        }
        registry.forgetExcess()
    }

    private func perform(_ action: Action) {
        switch action {
        case .launch(let id):
            guard registry.record(id)?.task.isLive == true else { return }
            registry.started(id, as: ProcessID(rawValue: 77), at: now, &actions)
            running.append(id)
        case .warn(let id): registry.handlerExited(id, at: now, &actions)
        case .killAll(let id):
            running.removeAll { $0 == id }
            registry.mainExited(
                id, .signal(SignalNumber(rawValue: 9)), at: now, &actions)
            registry.processesGone(id, at: now, &actions)
        case .store(let step): registry.stored(step, at: now, &actions)
        case .fault(let fault): precondition(false, "what must never happen: \(fault)")
        case .application(let key, let order): perform(order, on: key)
        case .tell, .signal, .answer, .answerGroup, .answerOwner, .answerChange, .answerSlots,
            .answerCleaning, .oldTasksNotNamed:
            break
        }
    }

    private func perform(_ order: ApplicationOrder, on key: ApplicationKey) {
        switch order {
        case .start: registry.applicationStarted(key, at: now, &actions)
        case .freeze(let number): registry.applicationFrozen(key, number, at: now, &actions)
        case .thaw(let number): registry.applicationThawed(key, number, at: now, &actions)
        case .kill: registry.applicationGone(key, at: now, &actions)
        case .signal, .release, .tell, .note, .answer: break
        }
    }

    private func nextNumber() -> UInt64 {
        numberLast += 1
        return numberLast
    }

    private func keep(_ id: TaskID) -> [Int] {
        ids.append(id)
        if ids.count > PureDaemon.idsKept { ids.removeFirst() }
        return [Int(clamping: id.rawValue)]
    }
}

// The methods, as the daemon turns what it has read into what the registry takes.
extension PureDaemon {
    private static let handlers: [String: Handler] = [
        Tasks.Begin.name: { try $0.begin($1.decode(Tasks.Begin.Input.self)) },
        Tasks.Submit.name: { try $0.submit($1.decode(Tasks.Submit.Input.self).work) },
        Tasks.End.name: { daemon, call in
            let id = try id(call.decode(Tasks.End.Input.self).id)
            _ = try daemon.registry.end(id, by: caller, at: daemon.now, &daemon.actions)
            return []
        },
        Tasks.Extend.name: { daemon, call in
            let id = try id(call.decode(Tasks.Extend.Input.self).id)
            _ = try daemon.registry.extend(id, by: caller, at: daemon.now, &daemon.actions)
            return []
        },
        Tasks.Cancel.name: { daemon, call in
            let input = try call.decode(Tasks.Cancel.Input.self)
            _ = try daemon.registry.cancel(
                id(input.id), by: caller, text: input.reason, at: daemon.now, &daemon.actions)
            return []
        },
        Tasks.SimulateExpiration.name: { daemon, call in
            let id = try id(call.decode(Tasks.SimulateExpiration.Input.self).id)
            try daemon.registry.simulateExpiration(
                id, by: caller, at: daemon.now, &daemon.actions)
            return []
        },
        Tasks.Wait.name: { daemon, call in
            let input = try call.decode(Tasks.Wait.Input.self)
            let until = input.timeoutMs.map { daemon.now + .milliseconds($0) } ?? .never
            precondition(until >= daemon.now)
            return []
        },
        Tasks.List.name: { daemon, call in
            let input = try call.decode(Tasks.List.Input.self)
            let since = input.sinceMs.map { Duration.milliseconds($0) } ?? .zero
            precondition(daemon.now - since <= daemon.now)
            _ = daemon.registry.identifiers(
                of: owner, after: .invalid, includingEnded: input.ended == true, countMax: 100)
            return []
        },
        Tasks.History.name: { daemon, call in
            var filter = HistoryFilter()
            filter.since = try call.decode(Tasks.History.Input.self).sinceMs.map {
                daemon.time.earlier(by: .milliseconds($0))
            }
            precondition(filter.since ?? daemon.time <= daemon.time)
            return []
        },
        Applications.Register.name: {
            try $0.register($1.decode(Applications.Register.Input.self).registration)
        },
        Applications.Launch.name: { daemon, call in
            try daemon.order(call) { registry, key, number, now, actions in
                _ = try registry.launch(key, number: number, at: now, &actions)
            }
        },
        Applications.Activate.name: { daemon, call in
            try daemon.order(call) { registry, key, number, now, actions in
                _ = try registry.activate(key, number: number, at: now, &actions)
            }
        },
        Applications.Resign.name: { daemon, call in
            try daemon.order(call) { registry, key, _, now, actions in
                try registry.resign(key, at: now, &actions)
            }
        },
        Applications.EnterBackground.name: { daemon, call in
            try daemon.order(call) { registry, key, _, now, actions in
                try registry.enterBackground(key, at: now, &actions)
            }
        },
        Applications.Terminate.name: { daemon, call in
            try daemon.order(call) { registry, key, number, now, actions in
                _ = try registry.terminate(key, number: number, at: now, &actions)
            }
        },
        Applications.Unregister.name: { daemon, call in
            try daemon.order(call) { registry, key, number, _, actions in
                try registry.unregister(key, number: number, &actions)
            }
        },
        Applications.Explain.name: { daemon, call in
            try daemon.order(call) { registry, key, _, now, _ in
                _ = try registry.explain(key, at: now)
            }
        },
        Applications.History.name: { daemon, call in
            let since = try call.decode(Applications.History.Input.self).sinceMs.map {
                daemon.time.earlier(by: .milliseconds($0))
            }
            precondition(since ?? daemon.time <= daemon.time)
            _ = daemon.registry.presentSpans(of: owner)
            return []
        },
        Applications.Push.name: { daemon, call in
            let input = try call.decode(Applications.Push.Input.self)
            let message = PushMessage(
                kind: input.kind == .alert ? .alert : .silent, payload: input.payload?.text)
            _ = try daemon.registry.push(
                key(input.id), message, badge: input.badge, number: daemon.nextNumber(),
                at: daemon.now, &daemon.actions)
            return []
        },
        Tasks.Complete.name: { daemon, call in
            let input = try call.decode(Tasks.Complete.Input.self)
            try daemon.registry.complete(
                id(input.id), isSuccess: input.success ?? true, by: caller, at: daemon.now,
                &daemon.actions)
            return []
        },
        Applications.Delivered.name: { daemon, call in
            let input = try call.decode(Applications.Delivered.Input.self)
            guard let number = UInt64(exactly: input.deliveryId) else { return [] }
            try daemon.registry.delivered(
                key(input.id), number, isSuccess: input.success ?? true, at: daemon.now,
                &daemon.actions)
            return []
        },
        Applications.SetBadge.name: { daemon, call in
            let input = try call.decode(Applications.SetBadge.Input.self)
            _ = try daemon.registry.setBadge(
                key(input.id), input.badge, number: daemon.nextNumber(), &daemon.actions)
            return []
        },
        Applications.SimulateMemoryPressure.name: { daemon, call in
            let input = try call.decode(Applications.SimulateMemoryPressure.Input.self)
            _ = daemon.registry.memoryPressure(
                on: owner, count: input.count ?? 1, at: daemon.now, &daemon.actions)
            return []
        },
    ]

    private struct NoID: Error {}

    private static func id(_ number: Int) throws -> TaskID {
        guard let value = UInt64(exactly: number) else { throw NoID() }
        return TaskID(rawValue: value)
    }

    private static func key(_ id: String) -> ApplicationKey { ApplicationKey(owner: owner, id: id) }

    private func begin(_ input: Tasks.Begin.Input) throws -> [Int] {
        var request = BeginRequest(
            name: input.name, owner: PureDaemon.owner, holder: PureDaemon.holder)
        request.holderProcess = input.pid.flatMap(Int32.init(exactly:)).map(ProcessID.init)
        request.application = input.application
        request.profile = input.profile
        request.budget = input.budget.map(RequestedBudget.init(wire:))
        return keep(try registry.begin(request, at: now, &actions))
    }

    private func submit(_ input: Tasks.Work) throws -> [Int] {
        let work = Work(
            command: input.command ?? [], directory: input.directory,
            environment: input.environment ?? [:])
        var submission = Submission(name: input.name, owner: PureDaemon.owner, work: work)
        submission.application = input.application
        submission.profile = input.profile
        submission.budget = input.budget.map(RequestedBudget.init(wire:))
        submission.queueing.group = input.group
        submission.queueing.priority = input.priority ?? 0
        submission.queueing.earliestBegin = input.earliestBeginMs.map { .milliseconds($0) }
        submission.queueing.minimumInterval = input.minimumIntervalMs.map { .milliseconds($0) }
        submission.queueing.unique = input.unique.map { $0 == .keep ? .keep : .replace }
        submission.queueing.retry = input.retry.map {
            Retry(
                attempts: $0.attempts, delay: $0.delayMs.map { .milliseconds($0) },
                onInterruption: $0.onInterruption == true)
        }
        return keep(try registry.submit(submission, at: now, &actions).id)
    }

    private func register(_ input: Applications.Registration) throws -> [Int] {
        var registration = Registration(command: input.command)
        registration.directory = input.directory
        registration.environment = input.environment ?? [:]
        registration.exitsOnSuspend = input.exitsOnSuspend == true
        registration.hasBackgroundMode = input.backgroundMode == true
        registration.profile = input.profile
        let number = nextNumber()
        try registry.register(
            PureDaemon.key(input.id), registration, number: number, at: now, &actions)
        return []
    }

    private func order(
        _ call: Call,
        _ body: (
            inout BackgroundTaskRegistry, ApplicationKey, UInt64, Instant, inout [Action]
        ) throws -> Void
    ) throws -> [Int] {
        let key = PureDaemon.key(try call.decode(Applications.Reference.self).id)
        try body(&registry, key, nextNumber(), now, &actions)
        return []
    }
}

extension RequestedBudget {
    fileprivate init(wire budget: Tasks.Budget) {
        self.init(
            duration: .milliseconds(budget.durationMs), grace: .milliseconds(budget.graceMs))
    }
}
