import BudgetCore
import TestKit

extension ApplicationSimulation {
    mutating func takeEvent() {
        let name = ["a", "a", "b", "c", "d"].randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<31, using: &random) {
        case 0...1: launch(name)
        case 2...4: activate(name)
        case 5...7: home(name)
        case 8: resign(name)
        case 9: if Bool.random(using: &random) { terminate(name) }
        case 10: adopt(name)
        case 11...13: begin(name)
        case 14...15: endTask(name)
        case 16...17: push(name, .silent)
        case 18: push(name, .alert)
        case 19...20: delivered(name)
        case 21: exit(name)
        case 22: press()
        case 23: away()
        case 24: leaveHolder(name)
        case 25: replay()
        case 26: restart()
        default: obey()
        }
        digest()
    }

    private mutating func expect(_ isAccepted: Bool, _ expected: Bool) {
        if isAccepted != expected { fail("accepted: \(isAccepted) is wrong") }
    }

    private mutating func call(
        _ name: String, _ what: String,
        _ body: (inout ApplicationSimulation, UInt64) throws -> Bool
    ) -> Bool {
        event = "\(what) \(name)"
        let number = nextCall()
        waiting.insert(number)
        guard let waits = try? body(&self, number) else {
            waiting.remove(number)
            return false
        }
        if !waits { waiting.remove(number) }
        return true
    }

    private mutating func launch(_ name: String) {
        let app = model.app(name)
        let isAccepted = call(name, "launch") {
            try $0.held.registry.launch($0.key(name), number: $1, at: $0.now, &$0.actions)
        }
        expect(isAccepted, app.phase == .off && app.hasCommand && !model.isDraining)
        if isAccepted { model.wake(name, toFront: true) }
    }

    private mutating func activate(_ name: String) {
        let app = model.app(name)
        let isAccepted = call(name, "activate") {
            try $0.held.registry.activate($0.key(name), number: $1, at: $0.now, &$0.actions)
        }
        let isPossible = app.phase == .off ? app.hasCommand : app.phase != .ending
        expect(isAccepted, isPossible && !model.isDraining)
        if isAccepted, app.state != .active { model.wake(name, toFront: true) }
    }

    private mutating func home(_ name: String) {
        event = "home \(name)"
        let app = model.app(name)
        let result: Void? = try? held.registry.enterBackground(key(name), at: now, &actions)
        expect(result != nil, app.state != .notRunning && app.phase != .ending)
        guard result != nil else { return }
        model.change(name) { $0.comesToFront = false }
        if app.isInFront { model.leave(name) }
    }

    private mutating func resign(_ name: String) {
        event = "resign \(name)"
        let app = model.app(name)
        let result: Void? = try? held.registry.resign(key(name), at: now, &actions)
        expect(result != nil, app.isInFront && app.phase == .running)
        if result != nil { model.change(name) { $0.state = .inactive } }
    }

    private mutating func terminate(_ name: String) {
        let isAccepted = call(name, "terminate") {
            try $0.held.registry.terminate($0.key(name), number: $1, at: $0.now, &$0.actions)
        }
        expect(isAccepted, true)
        model.end(name, .terminated)
    }

    private mutating func adopt(_ name: String) {
        guard name == "b" else { return }
        let isFree = model.app(name).phase == .off && !model.isDraining
        let isAccepted = call(name, "adopt") {
            let unit = AdoptedUnit(name: "\(name).service", user: nil)
            try $0.held.registry.adopt($0.key(name), units: [unit], number: $1, &$0.actions)
            return true
        }
        expect(isAccepted, isFree)
        guard isAccepted else { return }
        model.change(name) { $0.isAdopted = true }
        model.comeToFront(name)
    }

    private func holder(_ name: String) -> HolderID {
        HolderID(rawValue: UInt64(name.utf8.first ?? 0))
    }

    private mutating func begin(_ name: String) {
        event = "begin \(name)"
        let (duration, grace) = (
            Int.random(in: 5...40, using: &random), Int.random(in: 0...4, using: &random)
        )
        var request = BeginRequest(
            name: "t", owner: ApplicationSimulation.owner.owner, holder: holder(name))
        request.application = name
        request.budget = RequestedBudget(seconds: duration, grace: grace)
        let app = model.app(name)
        var isPossible = app.state != .suspended && !model.isDraining
        if app.state == .background, let until = app.until {
            isPossible = isPossible && until - model.now >= ApplicationModel.grace
        }
        let id = try? held.registry.begin(request, at: now, &actions)
        expect(id != nil, isPossible)
        guard let id else { return }
        let tick = model.now
        model.change(name) {
            let dormantSince = $0.isInFront ? tick : nil
            $0.tasks[id.rawValue] = .init(
                ownHard: tick + duration, grace: grace, dormantSince: dormantSince)
            $0.suspendAt = nil
        }
        if app.phase == .freezing { model.thaw(name) }
    }

    private mutating func endTask(_ name: String) {
        event = "end a task of \(name)"
        let ids = model.app(name).tasks.keys.sorted()
        guard let id = ids.randomElement(using: &random) else { return }
        let caller = ApplicationSimulation.owner
        let outcome = try? held.registry.end(TaskID(rawValue: id), by: caller, at: now, &actions)
        expect(outcome != nil, true)
        model.taskEnded(name, id)
    }

    private mutating func push(_ name: String, _ kind: MessageKind) {
        event = "push \(kind) \(name)"
        let app = model.app(name)
        let message = PushMessage(kind: kind, action: kind == .alert ? .tapped : .none)
        let number = nextCall()
        waiting.insert(number)
        let receipt = try? held.registry.push(
            key(name), message, badge: model.now, number: number, at: now, &actions)
        if receipt?.waits != true { waiting.remove(number) }
        let isRefused =
            kind == .alert && app.state == .notRunning && app.phase != .ending
            && (model.isDraining || app.phase == .off && !app.hasCommand)
        let isThawRefused =
            model.isDraining && app.phase == .thawing && (kind == .alert || model.mayWake(name))
        guard !isRefused, !isThawRefused else { return expect(receipt != nil, false) }
        expect(receipt?.receipt == expectedReceipt(name, kind), true)
    }

    /// Has the model take the message too.
    private mutating func expectedReceipt(_ name: String, _ kind: MessageKind) -> Receipt {
        let app = model.app(name)
        guard app.phase != .ending else { return .dropped }
        guard kind == .silent else {
            // In front it is presented and opened.
            if app.isInFront { model.deliver(name, isSilent: false) }
            model.send(name, isSilent: false)
            if app.isInFront { model.change(name) { $0.deliveries -= 1 } }
            return .delivered
        }
        guard app.state != .notRunning else { return .dropped }
        guard app.isInFront || app.deferredCount == 0 && model.mayWake(name) else {
            model.change(name) { $0.deferredCount += 1 }
            return .deferred
        }
        model.send(name, isSilent: true)
        return .delivered
    }

    private mutating func delivered(_ name: String) {
        event = "delivered \(name)"
        let owed = held.registry.applications[key(name)]?.run?.deliveries ?? []
        guard let index = owed.indices.randomElement(using: &random) else { return }
        let result: Void? = try? held.registry.delivered(
            key(name), owed[index].id, at: now, &actions)
        expect(result != nil, true)
        model.change(name) { $0.owed.remove(at: index) }
        model.planSuspension(name, promptly: true)
    }

    private mutating func press() {
        event = "pressure"
        let count = Int.random(in: 1...2, using: &random)
        let killed = held.registry.memoryPressure(on: nil, count: count, at: now, &actions)
        let expected = model.press(count)
        if killed.map(\.id) != expected { fail("killed \(killed), expected \(expected)") }
    }

    private mutating func away() {
        event = "machine asleep"
        let ticks = Int.random(in: 1...2000, using: &random)
        model.asleep += ticks
        held.registry.asleep += .seconds(ticks)
    }

    private mutating func leaveHolder(_ name: String) {
        event = "holder of \(name) leaves"
        held.registry.holderGone(holder(name), reason: .connectionClosed, at: now, &actions)
        for id in model.app(name).tasks.keys.sorted() {
            model.taskEnded(name, id, isAbandoned: true)
        }
    }
}
