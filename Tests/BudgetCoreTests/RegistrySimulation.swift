import BudgetCore
import TestKit

/// One seeded history: random events go to the registry and to the slow model, and after each of them
/// the two must agree on every task. A tick is 100 ms.
struct RegistrySimulation {
    static let tick = Duration.milliseconds(100)
    /// In ticks.
    static let lifetimeMax = 60
    static let owners = [Clerk.ann, Clerk.bob]

    var random: SeededGenerator
    let held: HeldRegistry
    var fault: Fault?
    var model = SlowModel()
    var ticks = 0
    var actions: [Action] = []
    /// What the registry ordered for each task, counted.
    var firings: [TaskID: Int] = [:]
    var kills: [TaskID: Int] = [:]
    var terminations: [TaskID: Int] = [:]
    var ends: [TaskID: Int] = [:]
    /// Fires handlers and limits too, before the registry does or after it.
    var commands = MirroredCommands()
    var agings = 0
    var deadlinesServed = 0
    private let isCompacted: Bool

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        isCompacted = seed % 2 == 1
        model.slots = 2 + Int(seed % 3)
        model.slotsPerOwnerMax = 1 + Int(seed / 3 % 4)
        var limits = RegistryLimits()
        limits.slots = model.slots
        limits.slotsPerOwnerMax = model.slotsPerOwnerMax
        limits.tasksPerOwnerMax = model.tasksPerOwnerMax
        limits.endedHeldMax = model.endedHeldMax
        limits.endedRunMax = model.endedRunMax
        limits.warnAfter = RegistrySimulation.tick * model.warnAfter
        let budget = Budget(duration: .seconds(18), grace: .seconds(3))
        let profiles = budget.map {
            [
                Profile(
                    name: "default", budget: $0,
                    lifetimeMax: RegistrySimulation.tick * RegistrySimulation.lifetimeMax)
            ]
        }
        held = HeldRegistry(
            BackgroundTaskRegistry(
                limits: limits, profiles: profiles ?? [], identifiers: 1...1_000_000))
    }

    var now: Instant { Instant(nanoseconds: 0) + RegistrySimulation.tick * ticks }

    /// - Returns: what first went wrong, `nil` where the two agreed to the end.
    mutating func run(steps: Int) -> String? {
        for step in 0..<steps {
            // Now and then for so long that what no kill ends is stuck.
            let isLong = Int.random(in: 0..<40, using: &random) == 0
            pass(isLong ? 310 : Int.random(in: 0...6, using: &random))
            let event = takeEvent(isLast: step == steps - 12)
            // What an event or a deadline lets start may be due at once.
            for _ in 0..<3 {
                digest(at: now)
                held.registry.deadlineReached(at: now, &actions)
            }
            digest(at: now)
            held.registry.forgetExcess()
            // In half of the histories nobody keeps a slot for longer than a turn.
            if isCompacted { held.registry.compactTable() }
            for _ in 0..<3 { model.check() }
            model.forgetExcess()
            if let difference = difference() { return "step \(step), \(event): \(difference)" }
        }
        return nil
    }

    /// Time passes; half of the time the loop is late and serves the deadlines only at the end.
    private mutating func pass(_ count: Int) {
        let end = now + RegistrySimulation.tick * count
        model.advance(to: model.now + count)
        if Bool.random(using: &random) {
            while let deadline = nextDue, deadline <= end, isProgressing() {
                serve(at: max(deadline, now))
            }
            ticks += count
        } else {
            // Served tick by tick, with batches of one deadline.
            for _ in 0..<count {
                ticks += 1
                while let deadline = nextDue, deadline <= now, isProgressing() {
                    serve(at: now, limit: 1)
                }
            }
        }
    }

    /// When something is due next, here or with the program that runs commands.
    private var nextDue: Instant? {
        let next = min(held.registry.nextDeadline ?? .never, commands.next)
        return next == .never ? nil : next
    }

    /// What is due is done, on either side first.
    private mutating func serve(at instant: Instant, limit: Int = .max) {
        let isMirrorFirst = Bool.random(using: &random)
        if isMirrorFirst { fire(at: instant) }
        held.registry.deadlineReached(at: instant, limit: limit, &actions)
        digest(at: instant)
        if !isMirrorFirst { fire(at: instant) }
    }

    private mutating func fire(at instant: Instant) {
        commands.advance(to: instant)
        digest(at: instant)
    }

    /// Whether deadlines are served in less calls than a history can need; else the difference shows.
    private mutating func isProgressing() -> Bool {
        deadlinesServed += 1
        return deadlinesServed < 100_000
    }

    private mutating func takeEvent(isLast: Bool) -> String {
        if isLast {
            held.registry.drain(keepsQueue: false, at: now, &actions)
            digest(at: now)
            model.drain()
            return "drain"
        }
        switch Int.random(in: 0..<15, using: &random) {
        case 0...2: return begin()
        case 3...4: return submit()
        case 5...6: return end()
        case 7:
            return order("extend") { id, caller, simulation in
                let accepted =
                    (try? simulation.held.registry.extend(
                        id, by: caller, at: simulation.now, &simulation.actions)) != nil
                return (accepted, simulation.model.extend(Int(id.rawValue)))
            }
        case 8:
            return order("cancel") { id, caller, simulation in
                let kills = Bool.random(using: &simulation.random)
                let accepted =
                    (try? simulation.held.registry.cancel(
                        id, by: caller, text: nil, signal: kills ? .kill : nil,
                        at: simulation.now, &simulation.actions)) != nil
                return (accepted, simulation.model.cancel(Int(id.rawValue), kills: kills))
            }
        case 9:
            return order("simulate") { id, caller, simulation in
                let accepted =
                    (try? simulation.held.registry.simulateExpiration(
                        id, by: caller, at: simulation.now, &simulation.actions)) != nil
                return (accepted, simulation.model.simulate(Int(id.rawValue)))
            }
        case 10...11: return exit()
        case 12: return leave()
        case 13:
            return order("complete") { id, caller, simulation in
                let isSuccess = Bool.random(using: &simulation.random)
                let accepted =
                    (try? simulation.held.registry.complete(
                        id, isSuccess: isSuccess, by: caller, at: simulation.now,
                        &simulation.actions)) != nil
                let id = Int(id.rawValue)
                return (accepted, simulation.model.complete(id, isSuccess: isSuccess))
            }
        default: return move()
        }
    }

    private mutating func begin() -> String {
        let caller = anyCaller()
        let holder = UInt64.random(in: 1...4, using: &random)
        var request = BeginRequest(
            name: "t", owner: caller.owner, holder: HolderID(rawValue: holder))
        let (duration, grace) = anyBudget()
        request.budget = requested(duration, grace)
        request.application = anyApplication(of: caller)
        let id = try? held.registry.begin(request, at: now, &actions)
        let live = model.tasks.values.count { $0.owner == caller.owner && $0.isLive }
        var isExpected =
            live < model.tasksPerOwnerMax && !model.isDraining
            && duration <= RegistrySimulation.lifetimeMax
        if let name = request.application, let clock = model.applications[name] ?? nil,
            clock.until - model.now < clock.grace
        {
            isExpected = false
        }
        guard isExpected == (id != nil) else { return "begin accepted: \(id != nil) is wrong" }
        guard let id else { return "begin refused" }
        add(id, caller, holder: holder, request.application, duration, grace)
        model.begin(Int(id.rawValue))
        model.check()
        return "begin \(id)"
    }

    private mutating func submit() -> String {
        let caller = anyCaller()
        var submission = Submission(
            name: "t", owner: caller.owner, work: Work(command: ["true"]))
        let (duration, grace) = anyBudget()
        submission.budget = requested(duration, grace)
        submission.application = anyApplication(of: caller)
        let isLate = submission.application.flatMap { model.applications[$0] ?? nil }
            .map { $0.until - model.now < $0.grace }
        guard let id = try? held.registry.submit(submission, at: now, &actions).id else {
            return model.isDraining || isLate == true || duration > RegistrySimulation.lifetimeMax
                ? "submit refused" : "submit refused, which is wrong"
        }
        if isLate == true || duration > RegistrySimulation.lifetimeMax {
            return "submit accepted, which is wrong"
        }
        digest(at: now)
        add(id, caller, holder: nil, submission.application, duration, grace)
        model.tasks[Int(id.rawValue)]?.state = .queued
        model.startQueued()
        return "submit \(id)"
    }

    private mutating func add(
        _ id: TaskID, _ caller: Caller, holder: UInt64?, _ application: String?,
        _ duration: Int, _ grace: Int
    ) {
        model.tasks[Int(id.rawValue)] = SlowModel.Task(
            id: Int(id.rawValue), owner: caller.owner, holder: holder, application: application,
            duration: duration, grace: grace, lifetimeMax: RegistrySimulation.lifetimeMax)
    }

    private mutating func end() -> String {
        guard let id = anyTask() else { return "nothing to end" }
        let caller = Caller(owner: model.tasks[Int(id.rawValue)]?.owner ?? .root)
        let outcome = try? held.registry.end(id, by: caller, at: now, &actions)
        let expected = model.end(Int(id.rawValue))
        return outcome == expected ? "end \(id)" : "end \(id) gave \(String(describing: outcome))"
    }

    private mutating func order(
        _ name: String,
        _ body: (TaskID, Caller, inout RegistrySimulation) -> (Bool, Bool)
    ) -> String {
        guard let id = anyTask() else { return "nothing to \(name)" }
        let caller = Caller(owner: model.tasks[Int(id.rawValue)]?.owner ?? .root)
        let (accepted, expected) = body(id, caller, &self)
        return accepted == expected ? "\(name) \(id)" : "\(name) \(id): \(accepted) is wrong"
    }

    /// A main process exits, by itself or of the kill that was ordered; later its group is empty.
    private mutating func exit() -> String {
        let running = model.order.filter {
            model.tasks[$0]?.isRun == true && model.tasks[$0]?.isLive == true
        }
        guard let number = running.randomElement(using: &random) else { return "nothing runs" }
        let id = TaskID(rawValue: UInt64(number))
        if model.tasks[number]?.isMainRunning == true {
            let wasKilled = (model.tasks[number]?.kills ?? 0) > 0
            let exits: [ProcessExit] =
                wasKilled
                ? [.signal(.kill), .status(0)] : [.status(0), .status(1), .signal(.terminate)]
            guard let exit = exits.randomElement(using: &random) else { return "" }
            held.registry.mainExited(id, exit, at: now, &actions)
            model.exit(number, exit)
            return "exit \(id) \(exit)"
        }
        held.registry.processesGone(id, at: now, &actions)
        model.finish(number, model.tasks[number]?.verdict ?? .interrupted)
        return "gone \(id)"
    }

    private mutating func leave() -> String {
        let holder = UInt64.random(in: 1...4, using: &random)
        held.registry.holderGone(
            HolderID(rawValue: holder), reason: .connectionClosed, at: now, &actions)
        model.leave(holder)
        return "holder \(holder) left"
    }

    private mutating func move() -> String {
        let caller = anyCaller()
        let name = "app of \(caller.owner)"
        let key = ApplicationKey(owner: caller.owner, id: name)
        if Bool.random(using: &random) {
            held.registry.applicationMoved(key, to: .foreground, at: now, &actions)
            model.move(name, toBackgroundUntil: nil)
            return "\(name) to the front"
        }
        // The background time is granted once for each stay.
        guard (model.applications[name] ?? nil) == nil else {
            return "\(name) is in the background"
        }
        let length = Int.random(in: 5...60, using: &random)
        let until = now + RegistrySimulation.tick * length
        let clock = ApplicationClock.background(until: until, grace: RegistrySimulation.tick * 4)
        held.registry.applicationMoved(key, to: clock, at: now, &actions)
        model.move(name, toBackgroundUntil: (model.now + length, 4))
        return "\(name) to the background"
    }

    private mutating func anyCaller() -> Caller {
        Bool.random(using: &random) ? Clerk.ann : Clerk.bob
    }

    private mutating func anyApplication(of caller: Caller) -> String? {
        Int.random(in: 0..<3, using: &random) == 0 ? "app of \(caller.owner)" : nil
    }

    private mutating func anyBudget() -> (Int, Int) {
        let duration = Int.random(in: 2...66, using: &random)
        return (duration, Int.random(in: 0..<min(duration, 12), using: &random))
    }

    private func requested(_ duration: Int, _ grace: Int) -> RequestedBudget {
        RequestedBudget(
            duration: RegistrySimulation.tick * duration, grace: RegistrySimulation.tick * grace)
    }

    private mutating func anyTask() -> TaskID? {
        let alive = model.order.filter { model.tasks[$0]?.state != .ended }
        let pool = alive.isEmpty || Int.random(in: 0..<8, using: &random) == 0 ? model.order : alive
        return pool.randomElement(using: &random).map { TaskID(rawValue: UInt64($0)) }
    }

    private mutating func digest(at now: Instant) {
        repeat {
            perform(at: now)
            commands.mirror(held.registry.takeChangedTimes(), held.registry, at: now)
            while let news = commands.takeNews() { held.registry.take(news, at: now, &actions) }
        } while !actions.isEmpty
    }

    private mutating func perform(at now: Instant) {
        var index = 0
        while index < actions.count {
            let action = actions[index]
            index += 1
            switch action {
            case .store(let step): held.registry.stored(step, at: now, &actions)
            case .tell(.handlerFired, let id): firings[id, default: 0] += 1
            case .tell(.ended, let id):
                ends[id, default: 0] += 1
                commands.forget(id)
                model.remember(Int(id.rawValue))
            case .tell(.grewOld, _): agings += 1
            case .oldTasksNotNamed(let count): agings += count
            case .killAll(let id): kills[id, default: 0] += 1
            case .fault(let found): fault = found
            case .launch(let id): commands.launch(id, held.registry, at: now)
            case .warn(let id): commands.mirror([id], firesNow: true, held.registry, at: now)
            case .signal(let id, _): terminations[id, default: 0] += 1
            default: break
            }
        }
        actions.removeAll(keepingCapacity: true)
    }

    private func difference() -> String? {
        if let fault { return "what must never happen: \(fault)" }
        for number in model.order {
            guard let expected = model.tasks[number] else { continue }
            let id = TaskID(rawValue: UInt64(number))
            guard let task = held.registry.record(id)?.task else {
                if model.forgotten.contains(number) { continue }
                return "task \(id) is unknown"
            }
            if model.forgotten.contains(number) { return "task \(id) is not forgotten" }
            let facts: [(String, AnyHashable, AnyHashable)] = [
                ("state", task.state, expected.state),
                (
                    "outcome", task.outcome.map { "\($0)" } ?? "-",
                    expected.outcome.map { "\($0)" } ?? "-"
                ),
                ("firings", firings[id] ?? 0, expected.firings),
                ("kills", kills[id] ?? 0, expected.kills),
                (
                    "terminations", (terminations[id] ?? 0) + (commands.firings[id] ?? 0),
                    expected.terminations
                ),
                ("ends", ends[id] ?? 0, expected.state == .ended ? 1 : 0),
                ("used", task.used(at: now), RegistrySimulation.tick * expected.used),
            ]
            for (name, got, wanted) in facts where got != wanted {
                return "task \(id): \(name) is \(got), the model says \(wanted)"
            }
            if task.state == .running || task.state == .expiring, expected.killAt == nil {
                let left = held.registry.remaining(of: task, at: now).untilHardLimit
                let wanted = RegistrySimulation.tick * (model.hard(expected) - model.now)
                if left != wanted { return "task \(id): \(left as Any) left, not \(wanted)" }
            }
        }
        for state in [TaskState.dormant, .running, .expiring] {
            let (got, wanted) = (
                held.registry.count(of: state), model.tasks.values.count { $0.state == state }
            )
            if got != wanted { return "\(got) are \(state), the model says \(wanted)" }
        }
        let live = model.tasks.values.count { $0.isLive }
        return held.registry.liveCount == live
            ? nil : "\(held.registry.liveCount) live, not \(live)"
    }
}
