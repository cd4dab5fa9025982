internal import BudgetCore
internal import Systemd
internal import TaskAPI
internal import Varlink

// Calls about what is queued, and the answers that wait for the disk.
extension Daemon {
    func groups(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        _ = try decode(call, as: Tasks.Groups.Input.self)
        var output = Tasks.Groups.Output()
        let caller = Caller(owner: client.caller.owner, seesAll: client.isOperator)
        output.groups = registry.groups(for: caller).map { known in
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

    func pauseGroup(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let group = try decode(call, as: Tasks.PauseGroup.Input.self).group
        try setPaused(group, true, for: client)
    }

    func resumeGroup(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let group = try decode(call, as: Tasks.ResumeGroup.Input.self).group
        try setPaused(group, false, for: client)
    }

    private func setPaused(
        _ group: String, _ isPaused: Bool, for client: Client
    ) throws(CallFailure) {
        try requireOperator(client)
        let waits = try ask { registry, actions throws(Refusal) in
            try registry.setPaused(group, isPaused, &actions)
        }
        guard waits else { return client.reply(Empty()) }
        groupOrders[group, default: []].append(GroupOrder(client: client, isPaused: isPaused))
        open(.groupOrder(group), task: nil, for: client)
    }

    /// An order about a group, and who waits for its answer.
    struct GroupOrder {
        let client: Client
        let isPaused: Bool
    }

    /// The disk has spoken about the oldest order about a group.
    func answerGroupOrder(_ group: String, _ refusal: Refusal?) {
        guard let order = groupOrders[group]?.popFirst() else { return }
        if groupOrders[group]?.isEmpty == true { groupOrders[group] = nil }
        let client = order.client
        if refusal == nil {
            log.say(
                order.isPaused ? .groupPaused : .groupResumed,
                [.group: group, .operator: "\(client.caller.owner)"])
        }
        guard !client.isClosed else { return }
        watchers.remove(client)
        if let refusal {
            client.reply(CallFailure.refused(refusal))
        } else {
            client.reply(Empty())
        }
        resume(client)
    }

    /// The disk has spoken about a submission or a cancel.
    func answerOrders(about id: TaskID, _ refusal: Refusal?, at now: Instant) {
        for client in watchers.clients(of: id) {
            guard case .order(_, let order) = client.openCall else { continue }
            watchers.remove(client)
            if let refusal {
                client.reply(CallFailure.refused(refusal))
            } else if order == .cancel {
                client.reply(Empty())
            } else {
                client.reply(receipt(for: id, order, at: now))
            }
            resume(client)
        }
    }

    /// What a submitter is told (DESIGN.md rule 25).
    func receipt(for id: TaskID, _ order: Client.Order, at now: Instant) -> Tasks.Submit.Output {
        var output = Tasks.Submit.Output()
        output.id = id.number
        output.receipt = .accepted
        if order == .coalesced {
            output.receipt = .coalesced
        } else if registry.isDeferred(id) {
            output.receipt = .deferred
            output.notBeforeMs = registry.notBefore(id, at: now)?.roundedUpMilliseconds
        }
        return output
    }
}

extension Queueing {
    /// What a call asks for, which the core checks.
    init(_ work: Tasks.Work) {
        self.init()
        group = work.group
        priority = work.priority ?? 0
        earliestBegin = work.earliestBeginMs.map { .milliseconds($0) }
        for condition in work.conditions ?? [] { conditions.insert(Conditions(condition)) }
        minimumInterval = work.minimumIntervalMs.map { .milliseconds($0) }
        unique = work.unique.map { $0 == .keep ? .keep : .replace }
        retry = work.retry.map { asked in
            Retry(
                attempts: asked.attempts, delay: asked.delayMs.map { .milliseconds($0) },
                onInterruption: asked.onInterruption == true)
        }
    }
}

extension Conditions {
    init(_ condition: Tasks.Condition) {
        self =
            switch condition {
            case .network: .network
            case .externalPower: .externalPower
            case .idle: .idle
            }
    }
}
