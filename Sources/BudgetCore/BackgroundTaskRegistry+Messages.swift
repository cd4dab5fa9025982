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

    static let dropped = MessageReceipt(receipt: .dropped)
}

// Messages to applications (DESIGN.md rule 22), and their badges.
extension BackgroundTaskRegistry {
    /// Routes a message.
    ///
    /// - Parameters:
    ///   - badge: the new badge, whatever becomes of the message.
    ///   - number: of the call, for an answer that waits.
    package mutating func push(
        _ key: ApplicationKey, _ message: PushMessage, badge: Int?, number: UInt64, at now: Instant,
        _ actions: inout [Action]
    ) throws(Refusal) -> MessageReceipt {
        let application = try application(key)
        guard message.payload?.utf8.count ?? 0 <= applicationRules.payloadBytesMax else {
            throw .limitReached(
                limit: "payloadBytesMax", value: applicationRules.payloadBytesMax)
        }
        if let badge {
            guard badge >= 0 else { throw .invalidParameter("badge") }
            if let storeFault { throw .notAccepting(storeFault) }
            if changeBadge(key, badge, &actions) { save(key, .record, &actions) }
        }
        guard application.run?.isEnding != true else { return .dropped }
        let route = takeRoute(of: message, to: application)
        guard route != .nowhere else { return .dropped }
        if message.kind == .silent, !application.state.isInFront {
            let wait = waitForSilent(application, at: now)
            guard wait == .zero else { return deferSilent(key, message, wait, at: now, &actions) }
            noteWake(key, at: now)
        }
        return try send(key, message, route, number: number, at: now, &actions)
    }

    /// The application has finished with a message.
    package mutating func delivered(
        _ key: ApplicationKey, _ id: UInt64, at now: Instant
    ) throws(Refusal) {
        let application = try application(key)
        guard id > 0, id <= applications.numberLast else {
            throw .invalidParameter("deliveryId")
        }
        guard application.run?.deliveries.contains(where: { $0.id == id }) == true else { return }
        applications.update(key) { $0.run?.deliveries.removeAll { $0.id == id } }
        planSuspension(key, promptly: true, at: now)
    }

    /// Sets the badge of an application.
    ///
    /// - Returns: whether the call waits for the disk.
    package mutating func setBadge(
        _ key: ApplicationKey, _ badge: Int, number: UInt64, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        let application = try application(key)
        guard badge >= 0 else { throw .invalidParameter("badge") }
        if let storeFault { throw .notAccepting(storeFault) }
        let isNew = changeBadge(key, badge, &actions)
        // The same badge may still be on its way to the disk.
        guard isNew || application.isUnsaved || !application.saves.isEmpty else { return false }
        save(key, .badge(number), &actions)
        return true
    }

    mutating func changeBadge(
        _ key: ApplicationKey, _ badge: Int, _ actions: inout [Action]
    ) -> Bool {
        guard let application = applications[key], application.record.badge != badge else {
            return false
        }
        applications.update(key) { $0.record.badge = badge }
        let callback: Callback? =
            application.registration.handles(.badgeChanged) ? .badgeChanged : nil
        var told = ApplicationEvent(
            callback, state: application.state, previous: application.state)
        told.badge = badge
        actions.append(.application(key, .tell(told)))
        return true
    }

    /// The row of the table that a message belongs to. An alert that was presented is tapped once.
    private mutating func takeRoute(
        of message: PushMessage, to application: ManagedApplication
    ) -> MessageRoute {
        let presented = application.run?.presented.firstIndex(of: message.payload)
        let route = MessageRoute.of(
            message, in: application.state, application.registration,
            wasPresented: presented != nil)
        guard message.kind == .alert, application.state.isInFront else { return route }
        applications.update(application.key) {
            if message.action == .tapped {
                if let presented { $0.run?.presented.remove(at: presented) }
            } else if !route.callbacks.isEmpty {
                if $0.run?.presented.count == ApplicationRun.presentedMax {
                    $0.run?.presented.removeFirst()
                }
                $0.run?.presented.append(message.payload)
            }
        }
        return route
    }

    mutating func send(
        _ key: ApplicationKey, _ message: PushMessage, _ route: MessageRoute, number: UInt64,
        at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> MessageReceipt {
        var receipt = MessageReceipt(receipt: .delivered, callback: route.callbacks.last)
        if route.callbacks.isEmpty { receipt.receipt = .dropped }
        if route.preparation != .nothing {
            let launches = route.preparation == .launch
            try wake(key, toFront: launches, for: number, at: now, &actions)
            guard applications[key]?.run?.phase == .running else {
                receipt.waits = true
                guard !route.callbacks.isEmpty else { return receipt }
                guard applications[key]?.run?.messages.count ?? 0 < ApplicationRun.messagesMax
                else {
                    forgetWaiter(number, of: key)
                    note(key, .messagesDropped(1), &actions)
                    return .dropped
                }
                applications.update(key) {
                    $0.run?.messages.append(
                        .init(message: message, callbacks: route.callbacks))
                }
                return receipt
            }
        }
        deliver(key, message, route.callbacks, at: now, &actions)
        planSuspension(key, promptly: false, at: now)
        return receipt
    }

    /// Tells an application of a message; it is awake.
    private mutating func deliver(
        _ key: ApplicationKey, _ message: PushMessage, _ callbacks: [Callback], at now: Instant,
        _ actions: inout [Action]
    ) {
        guard let application = applications[key] else { return }
        for callback in callbacks {
            var told = ApplicationEvent(
                callback, state: application.state, previous: application.state)
            told.payload = message.payload
            if message.kind == .silent || callback == .didReceiveRemoteNotificationFetch {
                told.delivery = owe(key, for: message, application.state, at: now)
            }
            actions.append(.application(key, .tell(told)))
        }
    }

    private mutating func owe(
        _ key: ApplicationKey, for message: PushMessage, _ state: ApplicationState, at now: Instant
    ) -> UInt64 {
        let id = applications.nextNumber()
        guard message.kind == .silent, !state.isInFront else { return id }
        let until = now + applicationRules.messageTime
        applications.update(key) { $0.run?.deliveries.append(.init(id: id, until: until)) }
        return id
    }

    /// Delivers what waited until the application was awake, and in front also what waits for its hour.
    mutating func deliverPending(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        guard let application = applications[key] else { return }
        let messages = application.run?.messages ?? []
        let deferred = application.state.isInFront ? application.deferred : []
        guard !messages.isEmpty || !deferred.isEmpty else { return }
        applications.update(key) {
            $0.run?.messages = []
            if !deferred.isEmpty { $0.deferred = [] }
        }
        for pending in messages {
            deliver(key, pending.message, pending.callbacks, at: now, &actions)
        }
        for message in deferred {
            let route = MessageRoute.of(
                message, in: application.state, application.registration, wasPresented: false)
            deliver(key, message, route.callbacks, at: now, &actions)
        }
    }
}
