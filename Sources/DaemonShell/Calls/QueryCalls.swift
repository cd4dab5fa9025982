internal import BudgetCore
internal import TaskAPI
internal import TaskStore
internal import Varlink

/// Calls that only ask about tasks.
struct QueryCalls {
    let core: Core
    let pool: ConnectionPool
    let streams: ReplyStreams
    let subscriptions: Subscriptions
    let replies: PendingReplies
    let lookups: HistoryLookups
    let outputs: OutputPager.Parts
    let tasks: TaskRunner

    // MARK: - One task

    func remainingTime(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.RemainingTime.Input.self)
        let id = try TaskID(named: input.id)
        let record = try record(id, for: client.caller(all: input.all))
        if let outcome = record.task.outcome { throw .refused(.alreadyEnded(id, outcome)) }
        var output = Tasks.RemainingTime.Output()
        output.remaining = Tasks.Remaining(
            core.registry.remaining(of: record.task, at: core.now))
        client.reply(output)
    }

    func show(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Show.Input.self)
        let caller = try client.caller(all: input.all)
        let id = try TaskID(named: input.id)
        guard let record = try find(id, for: caller, of: client, answer: showEnded) else { return }
        var output = Tasks.Show.Output()
        output.task = Tasks.Task(record, in: core.registry, at: core.now)
        output.task.tellAttempts(of: record, at: core.now)
        if let use = tasks.use(of: record.task.id) { output.task.take(use) }
        client.reply(output)
    }

    func wait(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Wait.Input.self)
        let id = try TaskID(named: input.id)
        let caller = try client.caller(all: input.all)
        guard let record = try find(id, for: caller, of: client, answer: tellEnd) else { return }
        if record.task.state == .ended { return tellEnd(record, to: client) }
        let until = input.timeoutMs.map { core.now + .milliseconds($0) } ?? .never
        guard until > core.now else { return client.reply(Tasks.Wait.Output()) }
        // Where its time is over, the answer is without a task.
        replies.open(client, about: .end(id), until: until) { $0.reply(Tasks.Wait.Output()) }
    }

    func explain(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Explain.Input.self)
        let id = try TaskID(named: input.id)
        let caller = try client.caller(all: input.all)
        guard try find(id, for: caller, of: client, answer: explainEnded) != nil else { return }
        let explanations = try core.ask { registry, now, _ throws(Refusal) in
            try registry.explain(id, for: caller, at: now)
        }
        var output = Tasks.Explain.Output()
        output.explanations = explanations.map(Tasks.Explanation.init)
        client.reply(output)
    }

    private func record(_ id: TaskID, for caller: Caller) throws(CallFailure) -> TaskRecord {
        try core.ask { registry, _, _ throws(Refusal) in try registry.record(id, for: caller) }
    }

    // MARK: - One task, in memory or on disk

    /// Finds a task in memory, or has the disk asked about it.
    ///
    /// - Parameter answer: answers the client, where the disk has the task.
    /// - Returns: the record; `nil` where the disk is asked.
    private func find(
        _ id: TaskID, for caller: Caller, of client: Client,
        answer: @escaping (TaskRecord, Client) -> Void
    ) throws(CallFailure) -> TaskRecord? {
        if let record = try recordInMemory(id, for: caller) { return record }
        lookups.find(id, for: caller, of: client, answer: answer)
        return nil
    }

    /// A task that memory has; `nil` where the disk is to be asked.
    private func recordInMemory(
        _ id: TaskID, for caller: Caller
    ) throws(CallFailure) -> TaskRecord? {
        do throws(Refusal) {
            return try core.registry.record(id, for: caller)
        } catch {
            // Another's is looked for on disk too, so that no time tells it apart from one that never was.
            guard id != .invalid, id <= core.registry.identifierLast else {
                throw .refused(error)
            }
            return nil
        }
    }

    private func showEnded(_ record: TaskRecord, to client: Client) {
        var output = Tasks.Show.Output()
        output.task = Tasks.Task(record, in: core.registry, at: core.now)
        output.task.tellAttempts(of: record, at: core.now)
        client.reply(output)
    }

    private func tellEnd(_ record: TaskRecord, to client: Client) {
        var output = Tasks.Wait.Output()
        output.task = Tasks.Task(record, in: core.registry, at: core.now)
        output.task?.tellAttempts(of: record, at: core.now)
        client.reply(output)
    }

    private func explainEnded(_ record: TaskRecord, to client: Client) {
        var output = Tasks.Explain.Output()
        output.explanations = [Tasks.Explanation(core.registry.explainEnd(record))]
        client.reply(output)
    }

    // MARK: - More than one reply

    func list(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.List.Input.self)
        let caller = try client.caller(all: input.all)
        let cursor = ListCursor(
            input, of: caller.seesAll ? nil : caller.owner, through: core.registry.identifierLast,
            more: call.more)
        client.open(.pages(TaskListPager(core, pool, streams, cursor)))
        // Behind the listings that have begun: many short ones do not keep a long one from its end.
        pool.markDirty(client)
    }

    func history(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.History.Input.self)
        let caller = try client.caller(all: input.all)
        var filter = HistoryFilter()
        filter.owner = caller.seesAll ? nil : caller.owner
        filter.name = input.name
        filter.application = input.application
        filter.group = input.group
        filter.outcomes = input.outcomes.map(Outcome.those) ?? []
        filter.since = input.sinceMs.map { WallClock.now().earlier(by: .milliseconds($0)) }
        filter.withAttempts = input.attempts == true
        let pager = HistoryPager(core, pool, lookups, filter, more: call.more)
        client.open(.pages(pager))
        pager.begin(for: client)
    }

    func watch(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Watch.Input.self)
        guard call.more else { throw .service(.expectedMore) }
        let caller = try client.caller(all: input.all)
        let withOutput = input.output == true
        guard let id = try input.id.map(TaskID.init(named:)) else {
            var choice = EventStream.TaskChoice.all
            choice.application = input.application
            if input.held == true { choice.holder = client.process }
            subscriptions.add(client, .tasks(choice, withOutput: withOutput, by: caller))
            return
        }
        guard input.application == nil, input.held != true else {
            throw .refused(.notAccepting("id names one task; leave application and held out"))
        }
        let record = try record(id, for: caller)
        var output = Tasks.Watch.Output()
        output.event.kind = .present
        output.event.number = 1
        output.event.task = Tasks.Task(record, in: core.registry, at: core.now)
        let isLast = record.task.state == .ended
        client.reply(output, continues: !isLast)
        guard !isLast else { return }
        subscriptions.add(client, .task(id, withOutput: withOutput, by: caller), told: 1)
    }

    func output(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Output.Input.self)
        guard call.more else { throw .service(.expectedMore) }
        let id = try TaskID(named: input.id)
        let caller = try client.caller(all: input.all)
        var position = input.from ?? 0
        let since = input.sinceMs.map { core.clocks.time.earlier(by: .milliseconds($0)) }
        guard try isOutputInMemory(of: id, for: caller) else {
            let pager = StoredOutputPager(
                outputs, of: id, from: position, since: since, for: caller)
            client.open(.pages(pager))
            return pager.begin(for: client)
        }
        let follows = input.follow == true
        guard follows || !outputs.isLost(id) else {
            throw .outputGone(id, lostWithDaemon: true)
        }
        if let since, let log = outputs.output[id] {
            position = max(position, log.position(since: since))
        }
        client.open(
            .pages(
                OutputPager(outputs, of: id, from: position, follows: follows, for: client)))
        pool.markDirty(client)
    }

    /// Whether what is kept of a task's output is in memory, or will be; else the disk is to be asked.
    private func isOutputInMemory(of id: TaskID, for caller: Caller) throws(CallFailure) -> Bool {
        guard let record = try recordInMemory(id, for: caller) else { return false }
        guard record.task.kind == .run else {
            throw .service(
                .invalidParameter(parameter: "id"),
                reason: "is a held task, whose program does not print through bgtaskd")
        }
        return record.task.state != .ended || outputs.output.has(id)
    }
}
