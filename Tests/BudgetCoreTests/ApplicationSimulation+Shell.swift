import BudgetCore
import TestKit

// The shell of the simulation, and what must hold after each step.
extension ApplicationSimulation {
    /// Carries one of the orders out, whichever.
    mutating func obey() {
        guard let index = orders.indices.randomElement(using: &random) else { return }
        let order = orders.remove(at: index)
        past.append(order)
        let (key, name) = (order.key, order.key.id)
        let fails = Int.random(in: 0..<5, using: &random) == 0
        switch order.kind {
        case .start: start(key, fails: fails)
        case .freeze where fails: notFrozen(order)
        case .freeze:
            event = "frozen \(name)"
            let isCurrent = model.app(name).phase == .freezing
            held.registry.applicationFrozen(key, order.number, at: now, &actions)
            guard isCurrent else { return }
            model.change(name) {
                $0.phase = .frozen
                $0.state = .suspended
                ($0.freezeLimitAt, $0.freezeHasFailed) = (nil, false)
            }
        case .thaw:
            event = "thaw \(name), fails: \(fails)"
            let isCurrent = model.app(name).phase == .thawing
            if fails {
                held.registry.applicationNotThawed(key, order.number, "no", at: now, &actions)
                if isCurrent { model.notThawed(name) }
            } else {
                held.registry.applicationThawed(key, order.number, at: now, &actions)
                if isCurrent { model.thawed(name) }
            }
        case .kill:
            event = "gone \(name)"
            held.registry.applicationGone(key, at: now, &actions)
            model.gone(name)
        }
    }

    private mutating func start(_ key: ApplicationKey, fails: Bool) {
        event = "start \(key.id), fails: \(fails)"
        let phase = model.app(key.id).phase
        if fails {
            held.registry.applicationNotStarted(key, "no", at: now, &actions)
            if phase == .starting { model.forget(key.id) }
            if phase == .ending { model.gone(key.id) }
        } else {
            held.registry.applicationStarted(key, at: now, &actions)
            if phase == .starting { model.comeToFront(key.id) }
        }
    }

    private mutating func notFrozen(_ order: Order) {
        event = "not frozen \(order.key.id)"
        let isCurrent = model.app(order.key.id).phase == .freezing
        held.registry.applicationNotFrozen(order.key, order.number, "no", at: now, &actions)
        guard isCurrent else { return }
        model.change(order.key.id) {
            $0.phase = .running
            ($0.freezeLimitAt, $0.freezeHasFailed) = (nil, true)
        }
        model.planSuspension(order.key.id, promptly: true)
    }

    /// An answer to an order of long ago comes again: it is of no account.
    mutating func replay() {
        let pending = Set(orders.map(\.number))
        let stale = past.filter {
            ($0.kind == .freeze || $0.kind == .thaw) && !pending.contains($0.number)
        }
        guard let order = stale.dropLast().randomElement(using: &random) else { return }
        let isRetried = held.registry.applications[order.key]?.run?.phase == .thawing(order.number)
        guard !isRetried else { return }
        event = "late answer of \(order)"
        held.registry.applicationFrozen(order.key, order.number, at: now, &actions)
        held.registry.applicationNotFrozen(order.key, order.number, "late", at: now, &actions)
        held.registry.applicationThawed(order.key, order.number, at: now, &actions)
        held.registry.applicationNotThawed(order.key, order.number, "late", at: now, &actions)
    }

    mutating func exit(_ name: String) {
        guard model.app(name).phase != .off, Int.random(in: 0..<3, using: &random) == 0
        else { return }
        let crashes = Bool.random(using: &random)
        event = "exit \(name)"
        let exit = crashes ? ProcessExit.signal(.kill) : .status(0)
        held.registry.applicationExited(key(name), exit, at: now, &actions)
        model.exited(name, crashed: crashes)
    }

    // MARK: - What must hold

    mutating func compare() {
        for span in held.registry.takeSpans() { spans[span.number] = span }
        for name in model.names {
            guard let known = held.registry.applications[key(name)] else {
                return fail("\(name) is not known")
            }
            if let difference = difference(known, model.app(name)) {
                fail("\(name): \(difference)")
            }
            compareSpans(of: known)
        }
        let running = model.names.count { model.app($0).phase != .off }
        if held.registry.runningApplicationCount != running { fail("not \(running) are running") }
        let frozen = model.names.count { model.app($0).phase == .frozen }
        if held.registry.suspendedApplicationCount != frozen { fail("not \(frozen) are suspended") }
        let inFront = model.names.filter {
            held.registry.applications[key($0)]?.state.isInFront == true
                && held.registry.applications[key($0)]?.run?.phase == .running
        }
        if model.isSingle, inFront.count > 1 { fail("in front at once: \(inFront)") }
        let isQuiet = model.names.allSatisfy {
            [.off, .frozen].contains(model.app($0).phase) && model.app($0).tasks.isEmpty
        }
        if isQuiet, held.registry.nextDeadline != nil {
            fail("something is due while all are asleep")
        }
    }

    /// The spans that went to the disk say what was told, but for states of no length.
    private mutating func compareSpans(of known: ManagedApplication) {
        let own = spans.values.filter { $0.key == known.key }.sorted { $0.number < $1.number }
        guard let first = own.first, let last = own.last else {
            return fail("\(known.key.id) has no span")
        }
        let ends = zip(own, own.dropFirst()).allSatisfy { $0.endedAt == $1.beganAt }
        if !ends || last.endedAt != nil || last.state != known.state {
            fail("\(known.key.id) is \(known.state), and had the spans \(own)")
        }
        let told = [(state: .notRunning, at: first.beganAt)] + (course[known.key] ?? [])
        let shown = ApplicationSimulation.steps(own.map { ($0.state, $0.beganAt) })
        if shown != ApplicationSimulation.steps(told) {
            fail("\(known.key.id) had the spans \(own), and was told \(told)")
        }
    }

    /// Each change of a state that lasted, with its time.
    private static func steps(
        _ course: [(state: ApplicationState, at: BootInstant)]
    ) -> [String] {
        var steps: [(state: ApplicationState, at: BootInstant)] = []
        for (index, step) in course.enumerated() {
            let isShort = index + 1 < course.count && course[index + 1].at == step.at
            if !isShort, steps.last?.state != step.state { steps.append(step) }
        }
        return steps.map { "\($0.state) \($0.at.nanoseconds)" }
    }

    private func difference(_ known: ManagedApplication, _ app: ApplicationModel.App) -> String? {
        if known.state != app.state { return "\(known.state) instead of \(app.state)" }
        let phase = phase(of: known.run)
        if phase != app.phase { return "\(phase) instead of \(app.phase)" }
        let until = app.state == .background ? app.until.map { max($0 - model.now, 0) } : nil
        let remaining = known.remaining(at: now).map { Int($0.components.seconds) }
        if remaining != until { return "\(remaining ?? -1) s left instead of \(until ?? -1)" }
        let away = known.background(at: held.registry.boot(at: now)).map {
            Int($0.components.seconds)
        }
        let expected = app.leftAt.map { model.boot - $0 }
        if away != expected { return "\(away ?? -1) s away instead of \(expected ?? -1)" }
        let tasks = held.registry.applications.tasks(of: known.key).map(\.rawValue)
        if tasks != app.tasks.keys.sorted() { return "tasks \(tasks), not \(app.tasks.keys)" }
        for (id, task) in app.tasks {
            let state = held.registry.record(TaskID(rawValue: id))?.task.state
            let expected: TaskState =
                task.hasFired ? .expiring : task.dormantSince != nil ? .dormant : .running
            if state != expected { return "task \(id) is not \(expected)" }
        }
        return debts(known, app)
    }

    private func debts(_ known: ManagedApplication, _ app: ApplicationModel.App) -> String? {
        let owed = known.run?.deliveries.map { Int(($0.until - now).components.seconds) } ?? []
        let expected = app.owed.map { $0 - model.now }
        if owed != expected { return "owes \(owed) instead of \(expected)" }
        if known.deferred.count != app.deferredCount { return "deferred: not \(app.deferredCount)" }
        let delivered = deliveries[known.key] ?? 0
        if delivered != app.deliveries { return "\(delivered) messages, not \(app.deliveries)" }
        let warned = warnings[known.key] ?? 0
        if warned != app.warnings { return "warned \(warned) times, not \(app.warnings)" }
        let told = tellings[known.key] ?? 0
        if told != app.tellings { return "told \(told) times, not \(app.tellings)" }
        let last = known.record.lastTermination.map {
            ApplicationModel.End(
                reason: $0.reason, held: $0.held.map(\.id.rawValue),
                background: $0.background.map { Int($0.components.seconds) })
        }
        return last == app.last
            ? nil : "ended by \(String(describing: last)), not \(app.last as Any)"
    }

    private func phase(of run: ApplicationRun?) -> ApplicationModel.Phase {
        switch run?.phase {
        case nil: .off
        case .starting, .adopting: .starting
        case .running: .running
        case .freezing: .freezing
        case .frozen: .frozen
        case .thawing: .thawing
        case .ending, .recording: .ending
        }
    }

    /// Everything ends and is forgotten: nothing is left of it.
    mutating func finish() {
        for name in model.names {
            leaveAll(name)
            event = "the end of \(name)"
            held.registry.applicationGone(key(name), at: now, &actions)
            model.gone(name)
            digest()
        }
        settle()
        compare()
        if answered != waiting { fail("not answered: \(waiting.subtracting(answered).sorted())") }
        guard !model.isDraining else { return }
        for name in model.names {
            let number = nextCall()
            waiting.insert(number)
            try? held.registry.unregister(key(name), number: number, &actions)
            digest()
        }
        let isEmpty =
            held.registry.applications.isEmpty && !held.registry.applications.haveTasks
            && held.registry.applicationClocks.isEmpty
            && held.registry.applications.count(of: Clerk.ann.owner) == 0
            && held.registry.applications.front(of: Clerk.ann.owner).isEmpty
            && held.registry.applications.nextDeadline == nil
            && held.registry.applications.nextWake == nil
            && held.registry.applications.runningCount == 0
        if !isEmpty || held.registry.nextDeadline != nil {
            fail("something is left of the applications")
        }
    }

    private mutating func leaveAll(_ name: String) {
        for id in model.app(name).tasks.keys.sorted() {
            let caller = ApplicationSimulation.owner
            _ = try? held.registry.end(TaskID(rawValue: id), by: caller, at: now, &actions)
            model.taskEnded(name, id)
            digest()
        }
    }
}
