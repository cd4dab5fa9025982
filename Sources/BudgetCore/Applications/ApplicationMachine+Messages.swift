/// What became of a message.
package enum Receipt: UInt8, Sendable {
    /// The application is told.
    case delivered
    case deferred
    /// It has no callback for it, or none is due.
    case dropped
}

/// What became of a message, and by what the application is told.
package struct MessageReceipt: Equatable, Sendable {
    package var receipt: Receipt
    package var callback: Callback?
    /// How long it waits at least.
    package var notBefore: Duration?
    /// Whether the answer waits until the application is awake.
    package var waits = false

    package init(
        receipt: Receipt, callback: Callback? = nil, notBefore: Duration? = nil, waits: Bool = false
    ) {
        self.receipt = receipt
        self.callback = callback
        self.notBefore = notBefore
        self.waits = waits
    }

    static let dropped = MessageReceipt(receipt: .dropped)
}

// Messages to applications (rule 22 in docs/architecture.md), and their badges.
extension ApplicationMachine {
    /// Routes a message.
    ///
    /// - Parameters:
    ///   - badge: the new badge, whatever becomes of the message.
    ///   - number: of the call, for an answer that waits.
    mutating func push(
        _ key: ApplicationKey, _ message: PushMessage, badge: Int?, number: UInt64,
        _ turn: inout ApplicationTurn
    ) throws(Refusal) -> MessageReceipt {
        let application = try known(key)
        guard message.payload?.utf8.count ?? 0 <= rules.payloadBytesMax else {
            throw .limitReached(limit: "payloadBytesMax", value: rules.payloadBytesMax)
        }
        if let badge {
            guard badge >= 0 else { throw .invalidParameter("badge") }
            try turn.checkStores()
            if changeBadge(key, badge, &turn) { save(key, .record, &turn) }
        }
        guard application.run?.isEnding != true else { return .dropped }
        let route = takeRoute(of: message, to: application)
        guard route != .nowhere else { return .dropped }
        if message.kind == .silent, !application.state.isInFront {
            let wait = waitForSilent(application, turn)
            guard wait == .zero else { return deferSilent(key, message, wait, &turn) }
            noteWake(key, turn)
        }
        return try send(key, message, route, number: number, &turn)
    }

    /// The application has finished with a message, or with a task.
    ///
    /// - Parameter isSuccess: of a task that it was told to perform.
    mutating func delivered(
        _ key: ApplicationKey, _ id: UInt64, isSuccess: Bool, _ turn: inout ApplicationTurn
    ) throws(Refusal) {
        let application = try known(key)
        guard hasGiven(id) else { throw .invalidParameter("deliveryId") }
        guard !performed(key, id, isSuccess: isSuccess, &turn) else { return }
        guard application.run?.messages.owes(id) == true else { return }
        update(key) { $0.run?.messages.finish(id) }
        planSuspension(key, promptly: true, turn)
    }

    /// Sets the badge of an application.
    ///
    /// - Returns: whether the call waits for the disk.
    mutating func setBadge(
        _ key: ApplicationKey, _ badge: Int, number: UInt64, _ turn: inout ApplicationTurn
    ) throws(Refusal) -> Bool {
        let application = try known(key)
        guard badge >= 0 else { throw .invalidParameter("badge") }
        try turn.checkStores()
        let isNew = changeBadge(key, badge, &turn)
        // The same badge may still be on its way to the disk.
        guard isNew || application.writes.isUnsaved || application.writes.isPending else {
            return false
        }
        save(key, .badge(number), &turn)
        return true
    }

    mutating func changeBadge(
        _ key: ApplicationKey, _ badge: Int, _ turn: inout ApplicationTurn
    ) -> Bool {
        guard let application = self[key], application.record.badge != badge else { return false }
        update(key) { $0.record.badge = badge }
        let callback: Callback? =
            application.registration.handles(.badgeChanged) ? .badgeChanged : nil
        var told = ApplicationEvent(
            callback, state: application.state, previous: application.state)
        told.badge = badge
        turn.order(key, .tell(told))
        return true
    }

    /// The row of the table that a message belongs to. An alert that was presented is tapped once.
    private mutating func takeRoute(
        of message: PushMessage, to application: ManagedApplication
    ) -> MessageRoute {
        let wasPresented = application.run?.messages.wasPresented(message.payload) ?? false
        let route = MessageRoute.of(
            message, in: application.state, application.registration, wasPresented: wasPresented)
        guard message.kind == .alert, application.state.isInFront else { return route }
        update(application.key) {
            if message.action == .tapped {
                $0.run?.messages.tap(message.payload)
            } else if !route.callbacks.isEmpty {
                $0.run?.messages.present(message.payload)
            }
        }
        return route
    }

    private mutating func send(
        _ key: ApplicationKey, _ message: PushMessage, _ route: MessageRoute, number: UInt64,
        _ turn: inout ApplicationTurn
    ) throws(Refusal) -> MessageReceipt {
        var receipt = MessageReceipt(receipt: .delivered, callback: route.callbacks.last)
        if route.callbacks.isEmpty { receipt.receipt = .dropped }
        if route.preparation != .nothing {
            try wake(key, toFront: route.preparation == .launch, for: number, &turn)
            guard self[key]?.run?.phase == .running else {
                receipt.waits = true
                guard !route.callbacks.isEmpty else { return receipt }
                guard keep(message, route.callbacks, for: key) else {
                    forgetWaiter(number, of: key)
                    turn.note(key, .messagesDropped(1))
                    return .dropped
                }
                return receipt
            }
        }
        deliver(key, message, route.callbacks, &turn)
        planSuspension(key, promptly: false, turn)
        return receipt
    }

    /// - Returns: whether there was room for a message that waits until the application is awake.
    private mutating func keep(
        _ message: PushMessage, _ callbacks: [Callback], for key: ApplicationKey
    ) -> Bool {
        var isKept = true
        update(key) { isKept = $0.run?.messages.add(message, callbacks) ?? true }
        return isKept
    }

    /// Tells an application of a message; it is awake.
    private mutating func deliver(
        _ key: ApplicationKey, _ message: PushMessage, _ callbacks: [Callback],
        _ turn: inout ApplicationTurn
    ) {
        guard let application = self[key] else { return }
        for callback in callbacks {
            var told = ApplicationEvent(
                callback, state: application.state, previous: application.state)
            told.payload = message.payload
            if message.kind == .silent || callback == .didReceiveRemoteNotificationFetch {
                told.delivery = owe(key, for: message, application.state, turn)
            }
            turn.order(key, .tell(told))
        }
    }

    private mutating func owe(
        _ key: ApplicationKey, for message: PushMessage, _ state: ApplicationState,
        _ turn: ApplicationTurn
    ) -> UInt64 {
        let id = nextNumber()
        guard message.kind == .silent, !state.isInFront else { return id }
        let until = turn.now + rules.messageTime
        update(key) { $0.run?.messages.owe(id, until: until) }
        return id
    }

    /// Delivers what waited until the application was awake, and in front also what waits for its hour.
    mutating func deliverPending(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        tellPerformances(key, &turn)
        guard let application = self[key] else { return }
        var pending: [ApplicationMessages.Pending] = []
        var deferred: [PushMessage] = []
        update(key) {
            pending = $0.run?.messages.takePending() ?? []
            if application.state.isInFront { deferred = $0.silent.takeAll() }
        }
        for message in pending { deliver(key, message.message, message.callbacks, &turn) }
        for message in deferred {
            let route = MessageRoute.of(
                message, in: application.state, application.registration, wasPresented: false)
            deliver(key, message, route.callbacks, &turn)
        }
    }

    // MARK: Silent messages, of which few may wake an application

    /// How long a silent message has to wait; `nil` where none may ever wake an application.
    private func waitForSilent(
        _ application: ManagedApplication, _ turn: ApplicationTurn
    ) -> Duration? {
        guard rules.messagesPerHourMax > 0 else { return nil }
        let due = application.silent.wake(
            after: application.deferred.count, perHourMax: rules.messagesPerHourMax)
        return due.map { max($0 - turn.boot, .zero) } ?? .zero
    }

    private mutating func noteWake(_ key: ApplicationKey, _ turn: ApplicationTurn) {
        let perHourMax = rules.messagesPerHourMax
        updateSilent(key) { $0.noteWake(at: turn.boot, perHourMax: perHourMax) }
    }

    private mutating func deferSilent(
        _ key: ApplicationKey, _ message: PushMessage, _ wait: Duration?,
        _ turn: inout ApplicationTurn
    ) -> MessageReceipt {
        let waiting = self[key]?.deferred.count ?? 0
        guard let wait, waiting < rules.messagesDeferredMax else {
            turn.note(key, .messagesDropped(1))
            return .dropped
        }
        updateSilent(key) { $0.deferMessage(message) }
        turn.note(key, .messageDeferred(wait))
        return MessageReceipt(receipt: .deferred, notBefore: wait)
    }

    /// The hour of the first message that waits has come.
    mutating func deliverDeferred(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        var first: PushMessage?
        updateSilent(key) { first = $0.takeFirst() }
        guard let message = first else { return }
        guard let application = self[key], application.run?.isEnding != true else {
            return turn.note(key, .messagesDropped(1))
        }
        noteWake(key, turn)
        let route = MessageRoute.of(
            message, in: application.state, application.registration, wasPresented: false)
        guard route != .nowhere else { return turn.note(key, .messagesDropped(1)) }
        do throws(Refusal) {
            // Nobody waits for it: the number of no call.
            _ = try send(key, message, route, number: 0, &turn)
        } catch {
            turn.note(key, .messagesDropped(1))
        }
    }
}
