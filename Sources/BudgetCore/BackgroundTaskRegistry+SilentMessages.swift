// The rate of silent messages that wake an application.
extension BackgroundTaskRegistry {
    private static let hour = Duration.seconds(3600)

    /// How long a silent message has to wait; `nil` where none may ever wake an application.
    func waitForSilent(_ application: ManagedApplication, at now: Instant) -> Duration? {
        guard applicationRules.messagesPerHourMax > 0 else { return nil }
        let boot = boot(at: now)
        let due = application.wake(
            after: application.deferred.count, perHourMax: applicationRules.messagesPerHourMax)
        return due.map { max($0 - boot, .zero) } ?? .zero
    }

    mutating func noteWake(_ key: ApplicationKey, at now: Instant) {
        let boot = boot(at: now)
        let perHourMax = applicationRules.messagesPerHourMax
        updateDeferred(key) {
            $0.wakes.removeAll { boot - $0 >= BackgroundTaskRegistry.hour }
            $0.wakes.append(boot)
            if $0.wakes.count > perHourMax { $0.wakes.removeFirst() }
        }
    }

    mutating func deferSilent(
        _ key: ApplicationKey, _ message: PushMessage, _ wait: Duration?, at now: Instant,
        _ actions: inout [Action]
    ) -> MessageReceipt {
        let waiting = applications[key]?.deferred.count ?? 0
        guard let wait, waiting < applicationRules.messagesDeferredMax else {
            note(key, .messagesDropped(1), &actions)
            return .dropped
        }
        updateDeferred(key) { $0.deferred.append(message) }
        note(key, .messageDeferred(wait), &actions)
        return MessageReceipt(receipt: .deferred, notBefore: wait)
    }

    /// The hour of the first message that waits has come.
    mutating func deliverDeferred(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        guard let message = applications[key]?.deferred.first else { return }
        updateDeferred(key) { $0.deferred.removeFirst() }
        guard let application = applications[key], application.run?.isEnding != true else {
            return note(key, .messagesDropped(1), &actions)
        }
        noteWake(key, at: now)
        let route = MessageRoute.of(
            message, in: application.state, application.registration, wasPresented: false)
        guard route != .nowhere else { return note(key, .messagesDropped(1), &actions) }
        do throws(Refusal) {
            // Nobody waits for it: the number of no call.
            _ = try send(key, message, route, number: 0, at: now, &actions)
        } catch {
            note(key, .messagesDropped(1), &actions)
        }
    }

    /// Changes what the hour of a message depends on.
    private mutating func updateDeferred(
        _ key: ApplicationKey, _ body: (inout ManagedApplication) -> Void
    ) {
        applications.update(key, body)
        applications.planWake(key, perHourMax: applicationRules.messagesPerHourMax)
    }
}

extension ManagedApplication {
    /// When a silent message may wake it that has so many before it; `nil`: at once.
    ///
    /// The wake-ups of an hour are at most `perHourMax`: the next one waits until the one that many before it
    /// is an hour old, those that are planned included.
    func wake(after waiting: Int, perHourMax: Int) -> BootInstant? {
        guard perHourMax > 0 else { return nil }
        var wakes = wakes
        var next: BootInstant?
        for _ in 0...waiting {
            next = wakes.count < perHourMax ? nil : wakes[wakes.count - perHourMax] + .seconds(3600)
            guard let next else { continue }
            wakes.append(next)
        }
        return next
    }
}
