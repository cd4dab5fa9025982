internal import BudgetCore
internal import TaskAPI
internal import Varlink

// Calls that only ask.
extension Daemon {
    func remainingTime(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.RemainingTime.Input.self)
        let id = try identifier(input.id)
        let record = try record(id, for: caller(client, all: input.all))
        if let outcome = record.task.outcome { throw .refused(.alreadyEnded(id, outcome)) }
        var output = Tasks.RemainingTime.Output()
        output.remaining = Tasks.Remaining(registry.remaining(of: record.task, at: now))
        client.reply(output)
    }

    func show(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.Show.Input.self)
        let caller = try caller(client, all: input.all)
        guard let record = try record(identifier(input.id), for: caller, .show, of: client)
        else { return }
        var output = Tasks.Show.Output()
        output.task = Tasks.Task(record, in: registry, at: now)
        output.task.tellAttempts(of: record, at: now)
        if let use = running[record.task.id]?.readUse() { output.task.take(use) }
        client.reply(output)
    }

    func list(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.List.Input.self)
        let caller = try caller(client, all: input.all)
        let owner = caller.seesAll ? nil : caller.owner
        let cursor = ListCursor(
            input, of: owner, through: registry.identifierLast, more: call.more)
        open(.list(cursor), task: nil, for: client)
        // Behind the listings that have begun: many short ones do not keep a long one from its end.
        makePending(client)
    }

    func watch(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.Watch.Input.self)
        guard call.more else { throw .service(.expectedMore) }
        let caller = try caller(client, all: input.all)
        let openCall = try Client.OpenCall.watch(
            input.id.map(identifier), output: input.output == true, by: caller)
        guard case .watch(let id?, _, _) = openCall else {
            return open(openCall, task: nil, for: client)
        }
        let record = try record(id, for: caller)
        var output = Tasks.Watch.Output()
        output.event.kind = .present
        output.event.number = 1
        output.event.task = Tasks.Task(record, in: registry, at: now)
        let isLast = record.task.state == .ended
        client.reply(output, continues: !isLast)
        guard !isLast else { return }
        open(openCall, task: id, for: client)
        client.eventCount = 1
    }

    func output(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.Output.Input.self)
        guard call.more else { throw .service(.expectedMore) }
        let id = try identifier(input.id)
        let record = try record(id, for: caller(client, all: input.all))
        guard record.task.kind == .run else { throw .invalid("id") }
        open(.output(id, position: 0, follow: input.follow == true), task: id, for: client)
        makePending(client)
    }

    func wait(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.Wait.Input.self)
        let id = try identifier(input.id)
        let caller = try caller(client, all: input.all)
        guard let record = try record(id, for: caller, .wait, of: client) else { return }
        if record.task.state == .ended {
            var output = Tasks.Wait.Output()
            output.task = Tasks.Task(record, in: registry, at: now)
            output.task?.tellAttempts(of: record, at: now)
            return client.reply(output)
        }
        let until = input.timeoutMs.map { now + .milliseconds($0) } ?? .never
        guard until > now else { return client.reply(Tasks.Wait.Output()) }
        open(.wait(id, until: until), task: id, for: client)
    }

    func explain(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.Explain.Input.self)
        let id = try identifier(input.id)
        let caller = try caller(client, all: input.all)
        guard try record(id, for: caller, .explain, of: client) != nil else { return }
        let explanations = try ask { registry, _ throws(Refusal) in
            try registry.explain(id, for: caller, at: now)
        }
        var output = Tasks.Explain.Output()
        output.explanations = explanations.map(Tasks.Explanation.init)
        client.reply(output)
    }

    private func record(_ id: TaskID, for caller: Caller) throws(CallFailure) -> TaskRecord {
        try ask { registry, _ throws(Refusal) in try registry.record(id, for: caller) }
    }
}
