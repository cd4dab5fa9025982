// How applications are started, come to the front and leave it.
extension ApplicationMachine {
    /// The command of an application runs.
    mutating func started(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        guard self[key]?.run?.phase == .starting else { return }
        update(key) { $0.run?.runs() }
        guard self[key]?.run?.comesToFront == false else {
            return comeToFront(key, on: .launched, &turn)
        }
        let duration = wakingTime(key, turn)
        update(key) { $0.run?.leaveFront(duration, at: turn.now, turn.boot) }
        move(key, on: .launchedInBackground, &turn)
        turn.changeClock(key, to: clock(of: key, turn))
        deliverPending(key, &turn)
        planSuspension(key, promptly: false, turn)
        answerWaiters(key, nil, &turn) { $0 == .awake }
    }

    /// The background time of an application that is woken without having come to the front; `nil`: no limit.
    private func wakingTime(_ key: ApplicationKey, _ turn: ApplicationTurn) -> Duration? {
        guard !hasBackgroundMode(key, turn) else { return nil }
        guard let until = self[key]?.run?.performances.until else { return rules.messageTime }
        return until == .never ? nil : max(until - turn.now, rules.messageTime)
    }

    /// Refuses an adoption that cannot be; asked before the processes are looked at, and again after it.
    func checkAdoption(_ key: ApplicationKey, _ turn: ApplicationTurn) throws(Refusal) {
        try turn.checkGoesOn()
        try turn.checkStores()
        guard let application = self[key] else {
            try turn.check(key.id, "id")
            return try checkRoom(for: key.owner)
        }
        guard application.forgetting == nil else {
            throw .notAccepting(
                "application \(key.id) is being unregistered; try again in a moment")
        }
        guard application.run == nil else { throw .wrongState(key.id, application.state) }
    }

    /// Processes that run already become an application, which comes to the front when the disk knows the
    /// units that they live in.
    ///
    /// - Parameter number: of the call, which is answered then.
    mutating func adopt(
        _ key: ApplicationKey, units: [AdoptedUnit], number: UInt64,
        _ turn: inout ApplicationTurn
    ) throws(Refusal) {
        try checkAdoption(key, turn)
        if self[key] == nil {
            insert(key, ApplicationRecord(registration: Registration()), isSaved: false)
        }
        update(key) { $0.begin(ApplicationRun(adoptedBy: number), units: units) }
        save(key, .adoption(number), &turn)
    }

    /// Gets an application out of wherever it is, so that it can be told something.
    ///
    /// - Parameter number: of a call that waits for it.
    mutating func wake(
        _ key: ApplicationKey, toFront: Bool, for number: UInt64?, _ turn: inout ApplicationTurn
    ) throws(Refusal) {
        guard let application = self[key] else { return }
        try turn.checkGoesOn()
        switch application.run?.phase {
        case .ending, .recording: throw .wrongState(key.id, application.state)
        case nil:
            guard application.registration.command != nil else { throw .notRegistered(key.id) }
            start(key, &turn)
        case .running:
            if toFront { comeToFront(key, on: .activated, &turn) }
            return
        case .freezing, .frozen: thaw(key, &turn)
        case .starting, .adopting, .thawing: break
        }
        update(key) {
            if toFront { $0.run?.come(toFront: true) }
            if let number { $0.wait(number, for: toFront ? .front : .awake) }
        }
    }

    private mutating func start(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        let number = nextRun()
        update(key) { $0.begin(ApplicationRun(number: number)) }
        save(key, .record, &turn)
        turn.note(key, .starting)
        turn.order(key, .start)
    }

    /// It is in front now; where there is room for one, the other leaves before.
    mutating func comeToFront(
        _ key: ApplicationKey, on event: LifecycleEvent, _ turn: inout ApplicationTurn
    ) {
        if rules.isForegroundSingle, self[key]?.state.isInFront == false {
            for other in front(of: key.owner) where self[other]?.run?.phase == .running {
                leaveFront(other, &turn)
            }
        }
        move(key, on: event, &turn)
        update(key) { $0.run?.comeToFront() }
        turn.changeClock(key, to: .foreground)
        deliverPending(key, &turn)
        answerWaiters(key, nil, &turn) { $0 != .gone }
    }

    /// It is in the background now, where its time runs.
    mutating func leaveFront(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        guard self[key] != nil else { return }
        let budget = backgroundBudget(of: key, turn)
        update(key) { $0.run?.leaveFront(budget?.duration, at: turn.now, turn.boot) }
        move(key, on: .leftFront, &turn)
        turn.changeClock(key, to: clock(of: key, turn))
        planSuspension(key, promptly: false, turn)
    }

    /// It is awake without having come to the front: for a message, or since it was needed before it was
    /// frozen.
    mutating func stayAwake(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        let wasSuspended = self[key]?.state == .suspended
        let run = self[key]?.run
        let isTold = run?.messages.hasPending == true || run?.performances.isEmpty == false
        if wasSuspended {
            let duration = wakingTime(key, turn)
            update(key) { $0.run?.stay.startTime(duration, at: turn.now) }
            move(key, on: .woken, &turn)
            turn.changeClock(key, to: clock(of: key, turn))
        }
        deliverPending(key, &turn)
        planSuspension(key, promptly: !wasSuspended && !isTold, turn)
        answerWaiters(key, nil, &turn) { $0 == .awake }
    }

    /// Takes the steps of the state table, and has the observers told of each.
    mutating func move(
        _ key: ApplicationKey, on event: LifecycleEvent, reason: TerminationReason? = nil,
        _ turn: inout ApplicationTurn
    ) {
        guard let application = self[key],
            let steps = Lifecycle.steps(from: application.state, on: event)
        else { return }
        for step in steps {
            guard let present = self[key] else { return }
            let callback = step.callback.flatMap { present.registration.handles($0) ? $0 : nil }
            var told = ApplicationEvent(callback, state: step.next, previous: present.state)
            update(key) { $0.state = step.next }
            if step.callback == .willEnterForeground {
                told.background = present.background(at: turn.boot)
            }
            if step.next == .background { told.remaining = self[key]?.remaining(at: turn.now) }
            told.reason = reason?.text
            guard callback != nil || step.next != present.state else { continue }
            turn.order(key, .tell(told))
        }
        noteState(key, reason: reason, turn)
    }

    // MARK: Calls that wait

    /// The call that was given this number is not waited for any more.
    mutating func forgetWaiter(_ number: UInt64, of key: ApplicationKey) {
        update(key) { $0.forgetWaiter(number) }
    }

    mutating func answerWaiters(
        _ key: ApplicationKey, _ refusal: Refusal?, _ turn: inout ApplicationTurn,
        where isMeant: (ManagedApplication.Goal) -> Bool
    ) {
        guard self[key]?.hasWaiters == true else { return }
        var answered: [UInt64] = []
        update(key) { answered = $0.takeWaiters(where: isMeant) }
        for number in answered { turn.order(key, .answer(number, refusal)) }
    }
}
