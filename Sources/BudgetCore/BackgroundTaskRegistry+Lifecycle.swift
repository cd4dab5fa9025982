// How applications are started, come to the front, leave it and are frozen, as the shell reports it.
extension BackgroundTaskRegistry {
    /// The command of an application runs.
    package mutating func applicationStarted(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        guard applications[key]?.run?.phase == .starting else { return }
        applications.update(key) { $0.run?.phase = .running }
        comeToFront(key, on: .launched, at: now, &actions)
    }

    /// Processes that run already become an application, which comes to the front when the disk knows the
    /// units that they live in.
    ///
    /// - Parameter number: of the call, which is answered then.
    package mutating func adopt(
        _ key: ApplicationKey, units: [AdoptedUnit], number: UInt64, _ actions: inout [Action]
    ) throws(Refusal) {
        try checkAdoption(key)
        if applications[key] == nil {
            applications.insert(
                ManagedApplication(key, ApplicationRecord(registration: Registration())))
        }
        applications.update(key) {
            $0.run = ApplicationRun(.adopting(number), isAdopted: true)
            $0.record.isRunning = true
            $0.record.units = units
        }
        save(key, .adoption(number), &actions)
    }

    /// Gets an application out of wherever it is, so that it can be told something.
    ///
    /// - Parameter number: of a call that waits for it.
    mutating func wake(
        _ key: ApplicationKey, toFront: Bool, for number: UInt64?, at now: Instant,
        _ actions: inout [Action]
    ) throws(Refusal) {
        guard let application = applications[key] else { return }
        guard !isDraining else { throw .notAccepting("the daemon is stopping") }
        switch application.run?.phase {
        case .ending, .recording: throw .wrongState(key.id, application.state)
        case nil:
            guard application.registration.command != nil else { throw .notRegistered(key.id) }
            start(key, &actions)
        case .running:
            if toFront { comeToFront(key, on: .activated, at: now, &actions) }
            return
        case .freezing, .frozen: thaw(key, at: now, &actions)
        case .starting, .adopting, .thawing: break
        }
        applications.update(key) {
            if toFront { $0.run?.comesToFront = true }
            guard let number else { return }
            $0.waiters.append(.init(number: number, goal: toFront ? .front : .awake))
        }
    }

    private mutating func start(_ key: ApplicationKey, _ actions: inout [Action]) {
        applications.update(key) {
            $0.run = ApplicationRun(.starting, isAdopted: false)
            $0.record.isRunning = true
        }
        save(key, .record, &actions)
        note(key, .starting, &actions)
        actions.append(.application(key, .start))
    }

    /// It is in front now; where there is room for one, the other leaves before.
    mutating func comeToFront(
        _ key: ApplicationKey, on event: LifecycleEvent, at now: Instant,
        _ actions: inout [Action]
    ) {
        if applicationRules.isForegroundSingle, applications[key]?.state.isInFront == false {
            for other in applications.front(of: key.owner)
            where applications[other]?.run?.phase == .running {
                leaveFront(other, at: now, &actions)
            }
        }
        move(key, on: event, at: now, &actions)
        applications.update(key) {
            $0.run?.comesToFront = false
            $0.run?.leaveBackground()
        }
        applicationMoved(key, to: .foreground, at: now, &actions)
        deliverPending(key, at: now, &actions)
        answerWaiters(key, nil, &actions) { $0 != .gone }
    }

    /// It is in the background now, where its time runs.
    mutating func leaveFront(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        guard applications[key] != nil else { return }
        let budget = backgroundBudget(of: key)
        let boot = boot(at: now)
        applications.update(key) {
            $0.run?.leftFrontAt = boot
            $0.run?.startBackgroundTime(budget?.duration, at: now)
            $0.run?.presented = []
        }
        move(key, on: .leftFront, at: now, &actions)
        applicationMoved(key, to: clock(of: key), at: now, &actions)
        planSuspension(key, promptly: false, at: now)
    }

    /// It is awake without having come to the front: for a message, or since it was needed before it was
    /// frozen.
    mutating func stayAwake(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        let wasSuspended = applications[key]?.state == .suspended
        let isTold = applications[key]?.run?.messages.isEmpty == false
        if wasSuspended {
            let duration = hasBackgroundMode(key) ? nil : applicationRules.messageTime
            applications.update(key) { $0.run?.startBackgroundTime(duration, at: now) }
            move(key, on: .woken, at: now, &actions)
            applicationMoved(key, to: clock(of: key), at: now, &actions)
        }
        deliverPending(key, at: now, &actions)
        planSuspension(key, promptly: !wasSuspended && !isTold, at: now)
        answerWaiters(key, nil, &actions) { $0 == .awake }
    }

    /// Takes the steps of the state table, and has the observers told of each.
    mutating func move(
        _ key: ApplicationKey, on event: LifecycleEvent, reason: String? = nil, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard let application = applications[key],
            let steps = Lifecycle.steps(from: application.state, on: event)
        else { return }
        for step in steps {
            guard let present = applications[key] else { return }
            let callback = step.callback.flatMap { present.registration.handles($0) ? $0 : nil }
            var told = ApplicationEvent(callback, state: step.next, previous: present.state)
            applications.update(key) { $0.state = step.next }
            if step.callback == .willEnterForeground {
                told.background = present.background(at: boot(at: now))
            }
            if step.next == .background { told.remaining = applications[key]?.remaining(at: now) }
            told.reason = reason
            guard callback != nil || step.next != present.state else { continue }
            actions.append(.application(key, .tell(told)))
        }
    }

    /// The call that was given this number is not waited for any more.
    package mutating func forgetWaiter(_ number: UInt64, of key: ApplicationKey) {
        applications.update(key) { $0.waiters.removeAll { $0.number == number } }
    }

    mutating func answerWaiters(
        _ key: ApplicationKey, _ refusal: Refusal?, _ actions: inout [Action],
        where isMeant: (ManagedApplication.Waiter.Goal) -> Bool
    ) {
        guard let waiters = applications[key]?.waiters, !waiters.isEmpty else { return }
        applications.update(key) { $0.waiters.removeAll { isMeant($0.goal) } }
        for waiter in waiters where isMeant(waiter.goal) {
            actions.append(.application(key, .answer(waiter.number, refusal)))
        }
    }
}

extension ApplicationRun {
    /// A new background time begins, which it has been told nothing of; `nil`: it has no limit.
    mutating func startBackgroundTime(_ duration: Duration?, at now: Instant) {
        backgroundUntil = duration.map { now + $0 } ?? .never
        isToldOfExpiry = false
        isOverrunNoted = false
    }

    /// Nothing of the background counts any more.
    mutating func leaveBackground() {
        leftFrontAt = nil
        startBackgroundTime(nil, at: .never)
        suspendAt = .never
        wouldBeSuspended = false
        freezeFailure = nil
        deliveries = []
    }
}
