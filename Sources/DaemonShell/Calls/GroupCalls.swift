internal import BudgetCore
internal import Logging
internal import Systemd
internal import TaskAPI
internal import Varlink

/// Calls about groups of queued tasks.
final class GroupCalls {
    private let core: Core
    private let replies: PendingReplies
    private let log: Logger

    init(_ core: Core, _ replies: PendingReplies, _ log: Logger) {
        self.core = core
        self.replies = replies
        self.log = log
    }

    func groups(_ client: Client, _ call: Call) throws(CallFailure) {
        _ = try call.read(Tasks.Groups.Input.self)
        var output = Tasks.Groups.Output()
        output.slots = core.registry.limits.slots
        let caller = Caller(owner: client.caller.owner, seesAll: client.isOperator)
        output.groups = core.registry.groups(for: caller).map { known in
            var group = Tasks.Group()
            group.name = known.name
            group.slots = known.slots
            group.running = known.use.runningCount
            group.queued = known.use.queuedCount
            group.paused = known.isPaused
            return group
        }
        client.reply(output)
    }

    func pauseGroup(_ client: Client, _ call: Call) throws(CallFailure) {
        try setPaused(try call.read(Tasks.PauseGroup.Input.self).group, true, for: client)
    }

    func resumeGroup(_ client: Client, _ call: Call) throws(CallFailure) {
        try setPaused(try call.read(Tasks.ResumeGroup.Input.self).group, false, for: client)
    }

    func setSlots(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.SetSlots.Input.self)
        try client.requireOperator()
        let order = SlotOrder(group: input.group, slots: input.slots)
        // The settings hold again for good: no order is left on disk.
        let isKept = input.keep == true || input.slots == nil
        try core.ask { registry, now, actions throws(Refusal) in
            try registry.setSlots(order, isKept: isKept, at: now, &actions)
        }
        let text =
            "\(order.group.map { "group \($0)" } ?? "the daemon"): "
            + (order.slots.map { "\($0)" } ?? "as the settings say")
        let fields: [JournalField: String] = [
            .reason: text, .operator: "\(client.caller.owner)",
        ]
        guard isKept else {
            log.say(.slotsOrdered, fields)
            return client.reply(Empty())
        }
        let say = { [log] in log.say(.slotsOrdered, fields) }
        replies.open(client, about: .slots(order.group), succeeded: say) { $0.reply(Empty()) }
    }

    private func setPaused(
        _ group: String, _ isPaused: Bool, for client: Client
    ) throws(CallFailure) {
        try client.requireOperator()
        let waits = try core.ask { registry, _, actions throws(Refusal) in
            try registry.setPaused(group, isPaused, &actions)
        }
        guard waits else { return client.reply(Empty()) }
        let owner = client.caller.owner
        let say = { [log] in
            log.say(
                isPaused ? .groupPaused : .groupResumed, [.group: group, .operator: "\(owner)"])
        }
        replies.open(client, about: .group(group), succeeded: say) { $0.reply(Empty()) }
    }
}
