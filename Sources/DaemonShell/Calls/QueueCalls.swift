internal import BudgetCore
internal import TaskAPI
internal import Varlink

/// Calls that change what decides when queued tasks may run.
final class QueueCalls {
    private let core: Core
    private let replies: PendingReplies
    private let journal: AuditTrail

    init(_ core: Core, _ replies: PendingReplies, _ journal: AuditTrail) {
        self.core = core
        self.replies = replies
        self.journal = journal
    }

    func change(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Change.Input.self)
        try change(input.id, all: input.all, QueueingChange(input), as: "change", for: client)
    }

    func simulateLaunch(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.SimulateLaunch.Input.self)
        var change = QueueingChange()
        (change.earliestBegin, change.conditions, change.isPaused) = (.zero, [], false)
        try self.change(input.id, all: input.all, change, as: "simulate-launch", for: client)
    }

    /// - Parameter order: what the journal calls it.
    private func change(
        _ number: Int, all: Bool?, _ change: QueueingChange, as order: String, for client: Client
    ) throws(CallFailure) {
        let id = try TaskID(named: number)
        let caller = try client.caller(all: all)
        let waits = try core.ask { registry, now, actions throws(Refusal) in
            try registry.change(id, by: caller, change, at: now, &actions)
        }
        journal.logOrder(order, id, in: core, by: client.caller.owner)
        guard waits else { return client.reply(Empty()) }
        replies.open(client, about: .change(id)) { $0.reply(Empty()) }
    }

    func pauseOwner(_ client: Client, _ call: Call) throws(CallFailure) {
        try setPaused(try call.read(Tasks.PauseOwner.Input.self).owner, true, for: client)
    }

    func resumeOwner(_ client: Client, _ call: Call) throws(CallFailure) {
        try setPaused(try call.read(Tasks.ResumeOwner.Input.self).owner, false, for: client)
    }

    private func setPaused(
        _ named: Int?, _ isPaused: Bool, for client: Client
    ) throws(CallFailure) {
        let own = client.caller.owner
        let owner = named.flatMap { UInt32(exactly: $0) }.map { OwnerID(rawValue: $0) } ?? own
        if owner != own { try client.requireOperator() }
        let waits = try core.ask { registry, _, actions throws(Refusal) in
            try registry.setPaused(owner, isPaused, &actions)
        }
        guard waits else { return client.reply(Empty()) }
        let say = { [core, journal] in
            journal.paused(owner, isPaused, by: own, at: core.now)
        }
        replies.open(client, about: .owner(owner), succeeded: say) { $0.reply(Empty()) }
    }
}

extension QueueingChange {
    init(_ input: Tasks.Change.Input) {
        self.init()
        priority = input.priority
        group = input.group
        earliestBegin = input.earliestBeginMs.map { .milliseconds($0) }
        conditions = input.conditions.map { named in
            named.reduce(into: Conditions()) { $0.insert(Conditions($1)) }
        }
        slots = input.slots
        isPaused = input.paused
    }
}
