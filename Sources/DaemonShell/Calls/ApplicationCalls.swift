internal import BudgetCore
internal import JSON
internal import LinuxSystem
internal import TaskAPI
internal import TaskStore
internal import Varlink

/// Calls about applications.
struct ApplicationCalls {
    let core: Core
    let pool: ConnectionPool
    let origins: OriginSearch
    let streams: ReplyStreams
    let subscriptions: Subscriptions
    let replies: PendingReplies
    let submitters: Submitters
    let applications: RunningApplications
    let runner: ApplicationRunner
    let adopter: ApplicationAdopter
    let store: Persistence
    let lookups: HistoryLookups

    // MARK: - Registration

    func register(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Applications.Register.Input.self).registration
        let registration = try Registration(checking: input)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        guard registration.command != nil else { return try register(key, registration, client) }
        let ready = registration
        try submitters.withSubmitter(of: client, byteCount: call.byteCount) {
            submitter throws(CallFailure) in
            try submitters.withAccountName(of: client) { name throws(CallFailure) in
                var registration = ready
                registration.submitter = submitter
                registration.submitter.name = name
                try register(key, registration, client)
            }
        }
    }

    private func register(
        _ key: ApplicationKey, _ registration: Registration, _ client: Client
    ) throws(CallFailure) {
        let ticket = replies.newTicket()
        try core.ask { registry, now, actions throws(Refusal) in
            try registry.register(key, registration, number: ticket.number, at: now, &actions)
        }
        keepOpen(ticket, of: key, for: client, answer: answerApplication(key))
    }

    func unregister(_ client: Client, _ call: Call) throws(CallFailure) {
        let key = try key(in: call, of: client)
        let ticket = replies.newTicket()
        try core.ask { registry, _, actions throws(Refusal) in
            try registry.unregister(key, number: ticket.number, &actions)
        }
        keepOpen(ticket, of: key, for: client) { $0.reply(Empty()) }
    }

    func setHandles(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Applications.SetHandles.Input.self)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        let handles = input.handles.map { Callbacks($0.map(Callback.init)) }
        let ticket = replies.newTicket()
        let waits = try core.ask { registry, _, actions throws(Refusal) in
            try registry.setHandles(key, handles, number: ticket.number, &actions)
        }
        guard waits else { return client.reply(Empty()) }
        keepOpen(ticket, of: key, for: client) { $0.reply(Empty()) }
    }

    func adopt(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Applications.Adopt.Input.self)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        try core.ask { registry, _, _ throws(Refusal) in try registry.checkAdoption(key) }
        guard !adopter.isAdopting(key) else {
            throw .refused(
                .notAccepting("application \(key.id) is being adopted; try again when that is done")
            )
        }
        var processIDs: [Int32] = []
        for (index, number) in input.pids.enumerated() {
            guard let processID = Int32(exactly: number), processID > 0 else {
                throw .invalid("pids[\(index)]")
            }
            processIDs.append(processID)
        }
        guard !processIDs.isEmpty else { throw .invalid("pids") }
        adopter.adopt(processIDs, as: key, for: client, completion: answerApplication(key))
    }

    // MARK: - Lifecycle

    func launch(_ client: Client, _ call: Call) throws(CallFailure) {
        let key = try key(in: call, of: client)
        try submitters.withSubmitter(of: client, byteCount: call.byteCount) {
            launcher throws(CallFailure) in
            try order(client, key) { registry, key, number, now, actions throws(Refusal) in
                try registry.launch(key, number: number, at: now, &actions)
            }
            runner.perform(launching: key, by: launcher)
        }
    }

    func activate(_ client: Client, _ call: Call) throws(CallFailure) {
        let key = try key(in: call, of: client)
        // What runs already is not started by it.
        guard applications[key] == nil else { return try activate(key, client) }
        try submitters.withSubmitter(of: client, byteCount: call.byteCount) {
            launcher throws(CallFailure) in
            let isStarting = applications[key] == nil
            try activate(key, client)
            if isStarting { runner.perform(launching: key, by: launcher) }
        }
    }

    private func activate(_ key: ApplicationKey, _ client: Client) throws(CallFailure) {
        try order(client, key) { registry, key, number, now, actions throws(Refusal) in
            try registry.activate(key, number: number, at: now, &actions)
        }
    }

    func resign(_ client: Client, _ call: Call) throws(CallFailure) {
        try order(client, call) { registry, key, _, now, actions throws(Refusal) in
            try registry.resign(key, at: now, &actions)
            return false
        }
    }

    func enterBackground(_ client: Client, _ call: Call) throws(CallFailure) {
        try order(client, call) { registry, key, _, now, actions throws(Refusal) in
            try registry.enterBackground(key, at: now, &actions)
            return false
        }
    }

    func terminate(_ client: Client, _ call: Call) throws(CallFailure) {
        try order(client, call) { registry, key, number, now, actions throws(Refusal) in
            try registry.terminate(key, number: number, at: now, &actions)
        }
    }

    func simulateMemoryPressure(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Applications.SimulateMemoryPressure.Input.self)
        let owner = client.credentials.user == 0 ? nil : client.caller.owner
        let killed = core.update { registry, now, actions in
            registry.memoryPressure(on: owner, count: input.count ?? 1, at: now, &actions)
        }
        var output = Applications.SimulateMemoryPressure.Output()
        output.terminated = killed.map(\.id)
        client.reply(output)
    }

    // MARK: - Questions

    func show(_ client: Client, _ call: Call) throws(CallFailure) {
        try order(client, call) { registry, key, _, _, _ throws(Refusal) in
            _ = try registry.application(key)
            return false
        }
    }

    func explain(_ client: Client, _ call: Call) throws(CallFailure) {
        let key = try key(in: call, of: client)
        let explanations = try core.ask { registry, now, _ throws(Refusal) in
            try registry.explain(key, at: now)
        }
        var output = Applications.Explain.Output()
        output.explanations = explanations.map(Tasks.Explanation.init)
        client.reply(output)
    }

    func list(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Applications.List.Input.self)
        let caller = try client.caller(all: input.all)
        let keys = core.registry.applicationKeys(of: caller.seesAll ? nil : caller.owner)
        client.open(.pages(ApplicationListPager(core, pool, streams, applications, keys)))
        pool.markDirty(client)
    }

    func history(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Applications.History.Input.self)
        let caller = try client.caller(all: input.all)
        let filter = SpanFilter(
            owner: caller.seesAll ? nil : caller.owner, application: input.id,
            since: input.sinceMs.map { core.clocks.time.earlier(by: .milliseconds($0)) })
        let pager = SpanPager(
            SpanPager.Parts(core: core, pool: pool, streams: streams, lookups: lookups),
            filter, waiting: store.waitingSpans(filter), more: call.more)
        client.open(.pages(pager))
        pool.markDirty(client)
    }

    func watch(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Applications.Watch.Input.self)
        guard call.more else { throw .service(.expectedMore) }
        let caller = try client.caller(all: input.all)
        let own = input.id.map { ApplicationKey(owner: caller.owner, id: $0) }
        if let own {
            _ = try core.ask { registry, _, _ throws(Refusal) in try registry.application(own) }
        }
        let known =
            own.map { [$0] }
            ?? core.registry.applicationKeys(of: caller.seesAll ? nil : caller.owner)
        let stream = subscriptions.add(client, .applications(input.id, by: caller))
        for key in known { streams.deliver(.present(key), to: client, of: stream) }
        if let own { tellBacklog(of: own, to: client, stream) }
    }

    /// Tells an application that watches itself what it has missed since its start.
    private func tellBacklog(of key: ApplicationKey, to client: Client, _ stream: EventStream) {
        // Where its processes live may not have been known when it connected.
        if client.origin == nil { origins.find(of: client) }
        guard let application = applications[key], client.origin == application.origin
        else { return }
        let (events, missed) = application.takeBacklog() ?? ([], 0)
        // The tasks that it performs it is told of each time that it begins to listen.
        let all = events + core.registry.performanceEvents(of: key, at: core.now)
        for event in all {
            let message = SharedMessage(Applications.Event(event, of: key))
            streams.deliver(.event(message), to: client, of: stream)
        }
        if missed > 0 { streams.deliver(.missed(missed), to: client, of: stream) }
    }

    // MARK: - Messages

    func push(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Applications.Push.Input.self)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        let message = PushMessage(
            kind: input.kind == .alert ? .alert : .silent, action: UserAction(input.action),
            payload: input.payload?.text)
        let ticket = replies.newTicket()
        let receipt = try core.ask { registry, now, actions throws(Refusal) in
            try registry.push(
                key, message, badge: input.badge, number: ticket.number, at: now, &actions)
        }
        let output = Applications.Push.Output(receipt)
        guard receipt.waits else { return client.reply(output) }
        keepOpen(ticket, of: key, for: client) { $0.reply(output) }
    }

    func delivered(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Applications.Delivered.Input.self)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        guard let id = UInt64(exactly: input.deliveryId) else { throw .invalid("deliveryId") }
        try core.ask { registry, now, actions throws(Refusal) in
            try registry.delivered(
                key, id, isSuccess: input.success ?? true, at: now, &actions)
        }
        client.reply(Empty())
    }

    func setBadge(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Applications.SetBadge.Input.self)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        let ticket = replies.newTicket()
        let waits = try core.ask { registry, _, actions throws(Refusal) in
            try registry.setBadge(key, input.badge, number: ticket.number, &actions)
        }
        guard waits else { return client.reply(Empty()) }
        keepOpen(ticket, of: key, for: client) { $0.reply(Empty()) }
    }

    // MARK: - What the calls have in common

    /// The application that a call names; it is the caller's own, whoever else has one of that name.
    private func key(in call: Call, of client: Client) throws(CallFailure) -> ApplicationKey {
        ApplicationKey(
            owner: client.caller.owner, id: try call.read(Applications.Reference.self).id)
    }

    /// Gives the core an order.
    ///
    /// - Returns: whether the answer waits for something.
    private typealias Order = (
        inout BackgroundTaskRegistry, ApplicationKey, UInt64, Instant, inout [Action]
    ) throws(Refusal) -> Bool

    /// Carries an order out, and answers with the application as it is then.
    private func order(_ client: Client, _ call: Call, _ body: Order) throws(CallFailure) {
        try order(client, key(in: call, of: client), body)
    }

    private func order(
        _ client: Client, _ key: ApplicationKey, _ body: Order
    ) throws(CallFailure) {
        let ticket = replies.newTicket()
        let waits = try core.ask { registry, now, actions throws(Refusal) in
            try body(&registry, key, ticket.number, now, &actions)
        }
        keepOpen(ticket, of: key, for: client, answer: answerApplication(key))
        if !waits { core.order([.application(key, .answer(ticket.number, nil))]) }
    }

    /// Keeps a call open until the core answers it.
    private func keepOpen(
        _ ticket: PendingReplies.Ticket, of key: ApplicationKey, for client: Client,
        answer: @escaping PendingReplies.Completion
    ) {
        replies.open(
            client, ticket,
            dropped: { [core] in
                core.update { registry, _, _ in registry.forgetWaiter(ticket.number, of: key) }
            }, completion: answer)
    }

    /// Answers with an application as it is then.
    private func answerApplication(_ key: ApplicationKey) -> PendingReplies.Completion {
        { [core, applications] client in
            guard let application = try? core.registry.application(key) else {
                return client.reply(CallFailure.refused(.noSuchApplication(key.id)))
            }
            var output = Applications.Answer()
            output.application = Applications.Application(
                application, applications[key], in: core.registry, at: core.now)
            client.reply(output)
        }
    }
}

extension UserAction {
    init(_ action: Applications.UserAction) {
        self =
            switch action {
            case .none: .none
            case .tapped: .tapped
            case .opened: .opened
            }
    }
}

extension Applications.Push.Output {
    init(_ receipt: MessageReceipt) {
        self.init()
        self.receipt =
            switch receipt.receipt {
            case .delivered: .delivered
            case .deferred: .deferred
            case .dropped: .dropped
            }
        callback = receipt.callback.map(Applications.Callback.init)
        notBeforeMs = receipt.notBefore?.roundedUpMilliseconds
    }
}
