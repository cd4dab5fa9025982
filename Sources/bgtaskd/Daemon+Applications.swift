internal import BudgetCore
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

// Calls about applications.
extension Daemon {
    func registerApplication(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let input = try decode(call, as: Applications.Register.Input.self).registration
        var registration = try Registration(checking: input)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        guard registration.command != nil else {
            return try register(key, registration, client, now)
        }
        registration.submitter = try submitter(client, at: now)
        let ready = registration
        try withAccountName(of: client, at: now) { daemon, name, now throws(CallFailure) in
            var registration = ready
            registration.submitter.name = name
            try daemon.register(key, registration, client, now)
        }
    }

    private func register(
        _ key: ApplicationKey, _ registration: Registration, _ client: Client, _ now: Instant
    ) throws(CallFailure) {
        let number = nextNumber()
        try ask { registry, actions throws(Refusal) in
            try registry.register(key, registration, number: number, at: now, &actions)
        }
        wait(client, for: number, key, .application)
    }

    func unregisterApplication(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let key = try key(in: call, of: client)
        let number = nextNumber()
        try ask { registry, actions throws(Refusal) in
            try registry.unregister(key, number: number, &actions)
        }
        wait(client, for: number, key, .nothing)
    }

    func launchApplication(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let key = try key(in: call, of: client)
        let launcher = try submitter(client, at: now)
        try order(client, call) { registry, key, number, actions throws(Refusal) in
            try registry.launch(key, number: number, at: now, &actions)
        }
        start(key, by: launcher, at: now)
    }

    func activateApplication(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let key = try key(in: call, of: client)
        // What runs already is not started by it.
        let launcher = applications[key] == nil ? try submitter(client, at: now) : nil
        try order(client, call) { registry, key, number, actions throws(Refusal) in
            try registry.activate(key, number: number, at: now, &actions)
        }
        if let launcher { start(key, by: launcher, at: now) }
    }

    func resignApplication(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        try order(client, call) { registry, key, _, actions throws(Refusal) in
            try registry.resign(key, at: now, &actions)
            return false
        }
    }

    func sendToBackground(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        try order(client, call) { registry, key, _, actions throws(Refusal) in
            try registry.enterBackground(key, at: now, &actions)
            return false
        }
    }

    func terminateApplication(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        try order(client, call) { registry, key, number, actions throws(Refusal) in
            try registry.terminate(key, number: number, at: now, &actions)
        }
    }

    func showApplication(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        try order(client, call) { registry, key, _, _ throws(Refusal) in
            _ = try registry.application(key)
            return false
        }
    }

    func listApplications(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let input = try decode(call, as: Applications.List.Input.self)
        let caller = try caller(client, all: input.all)
        let keys = registry.applicationKeys(of: caller.seesAll ? nil : caller.owner)
        client.openCall = .applicationList(ApplicationListCursor(keys))
        makePending(client)
    }

    /// Goes on with a list: each that runs takes a look at its processes.
    func makePiece(of start: ApplicationListCursor, for client: Client) {
        var cursor = start
        let now = now
        for key in cursor.nextKeys() {
            // Others may have been forgotten since the call.
            guard let application = try? registry.application(key) else { continue }
            let running = applications[key]
            let listed = Applications.Application(
                listed: application, running, in: registry, at: now)
            rounds.charge(
                running == nil
                    ? ReplyRounds.rowCost
                    : ReplyRounds.lookCost
                        + ReplyRounds.rowCost * listed.pids.count)
            cursor.found.append(listed)
        }
        client.listedBytes = cursor.heldBytes
        guard cursor.isAtEnd else {
            client.openCall = .applicationList(cursor)
            account(client)
            if !client.isClosed { rounds.add(client) }
            return
        }
        client.openCall = nil
        client.listedBytes = 0
        var output = Applications.List.Output()
        output.applications = cursor.found
        client.reply(output)
        resume(client)
    }

    func explainApplication(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let key = try key(in: call, of: client)
        let explanations = try ask { registry, _ throws(Refusal) in
            try registry.explain(key, at: now)
        }
        var output = Applications.Explain.Output()
        output.explanations = explanations.map(Tasks.Explanation.init)
        client.reply(output)
    }

    func simulateMemoryPressure(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let input = try decode(call, as: Applications.SimulateMemoryPressure.Input.self)
        let owner = client.credentials.user == 0 ? nil : client.caller.owner
        let killed = registry.memoryPressure(
            on: owner, count: input.count ?? 1, at: now, &actions)
        var output = Applications.SimulateMemoryPressure.Output()
        output.terminated = killed.map(\.id)
        client.reply(output)
    }

    func pushMessage(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Applications.Push.Input.self)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        let message = PushMessage(
            kind: input.kind == .alert ? .alert : .silent, action: UserAction(input.action),
            payload: input.payload?.text)
        let number = nextNumber()
        let receipt = try ask { registry, actions throws(Refusal) in
            try registry.push(
                key, message, badge: input.badge, number: number, at: now, &actions)
        }
        let output = Applications.Push.Output(receipt)
        guard receipt.waits else { return client.reply(output) }
        wait(client, for: number, key, .receipt(output))
    }

    func messageDelivered(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let input = try decode(call, as: Applications.Delivered.Input.self)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        guard let id = UInt64(exactly: input.deliveryId) else { throw .invalid("deliveryId") }
        try ask { registry, _ throws(Refusal) in
            try registry.delivered(key, id, at: now)
        }
        client.reply(Empty())
    }

    func setBadge(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Applications.SetBadge.Input.self)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        let number = nextNumber()
        let waits = try ask { registry, actions throws(Refusal) in
            try registry.setBadge(key, input.badge, number: number, &actions)
        }
        guard waits else { return client.reply(Empty()) }
        wait(client, for: number, key, .nothing)
    }

    /// Performs the order to start an application, where there is one.
    private func start(_ key: ApplicationKey, by launcher: Submitter, at now: Instant) {
        applications.setLauncher(launcher, of: key)
        perform(at: now)
        _ = applications.takeLauncher(of: key)
    }

    /// The application that a call names; it is the caller's own, whoever else has one of that name.
    private func key(in call: Call, of client: Client) throws(CallFailure) -> ApplicationKey {
        let id = try decode(call, as: Applications.Reference.self).id
        return ApplicationKey(owner: client.caller.owner, id: id)
    }

    private typealias ApplicationOrderBody = (
        inout BackgroundTaskRegistry, ApplicationKey, UInt64, inout [Action]
    ) throws(Refusal) -> Bool

    /// Carries an order out, and answers with the application as it is then.
    ///
    /// - Parameter body: tells whether the answer waits.
    private func order(
        _ client: Client, _ call: Call, _ body: ApplicationOrderBody
    ) throws(CallFailure) {
        let key = try key(in: call, of: client)
        let number = nextNumber()
        let waits = try ask { registry, actions throws(Refusal) in
            try body(&registry, key, number, &actions)
        }
        wait(client, for: number, key, .application)
        if !waits { actions.append(.application(key, .answer(number, nil))) }
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
