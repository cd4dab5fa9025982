// What others ask for about applications.
extension ApplicationMachine {
    /// Makes an application known, or gives it other settings.
    ///
    /// - Parameter number: of the call, which is answered when the disk has it.
    mutating func register(
        _ key: ApplicationKey, _ registration: Registration, number: UInt64,
        _ turn: inout ApplicationTurn
    ) throws(Refusal) {
        try check(key, registration, turn)
        if self[key] == nil {
            insert(key, ApplicationRecord(registration: registration), isSaved: false)
        }
        let hadMode = hasBackgroundMode(key, turn)
        setRegistration(key, registration)
        if self[key]?.saved == nil { turn.note(key, .registered) }
        save(key, .registration(number), &turn)
        guard hadMode != hasBackgroundMode(key, turn) else { return }
        backgroundModeChanged(key, &turn)
    }

    /// The application says which callbacks it implements; it does so at each start, mostly as before.
    ///
    /// - Parameters:
    ///   - handles: `nil`: all.
    ///   - number: of the call.
    /// - Returns: whether the call waits for the disk.
    mutating func setHandles(
        _ key: ApplicationKey, _ handles: Callbacks?, number: UInt64,
        _ turn: inout ApplicationTurn
    ) throws(Refusal) -> Bool {
        let application = try known(key)
        try checkMayChange(key, turn)
        let isNew = application.registration.handles != handles
        guard isNew || application.writes.isUnsaved || application.writes.isPending else {
            return false
        }
        var registration = application.registration
        registration.handles = handles
        setRegistration(key, registration)
        save(key, .registration(number), &turn)
        return true
    }

    private func check(
        _ key: ApplicationKey, _ registration: Registration, _ turn: ApplicationTurn
    ) throws(Refusal) {
        try checkMayChange(key, turn)
        try turn.check(key.id, "registration.id")
        if self[key] == nil { try checkRoom(for: key.owner) }
        try checkSize(key, registration)
        let mayBeUnlimited = turn.allowsUnlimited(key.owner)
        guard !registration.hasBackgroundMode || mayBeUnlimited else {
            throw .permissionDenied(.backgroundMode)
        }
        guard let name = registration.profile else { return }
        guard let profile = turn.profile(name) else { throw .noSuchProfile(name) }
        guard profile.budget != nil || mayBeUnlimited else {
            throw .permissionDenied(.unlimitedTask)
        }
    }

    /// Refuses what has to be on disk while nothing can be, and what a daemon that stops would not keep up.
    private func checkMayChange(
        _ key: ApplicationKey, _ turn: ApplicationTurn
    ) throws(Refusal) {
        try turn.checkGoesOn()
        try turn.checkStores()
        guard self[key]?.forgetting == nil else {
            throw .notAccepting(
                "application \(key.id) is being unregistered; try again in a moment")
        }
    }

    /// Forgets an application that does not run; the call is answered when the disk has it.
    mutating func unregister(
        _ key: ApplicationKey, number: UInt64, _ turn: inout ApplicationTurn
    ) throws(Refusal) {
        let application = try known(key)
        try checkMayChange(key, turn)
        guard application.run == nil else { throw .wrongState(key.id, application.state) }
        update(key) { $0.forgetting = number }
        turn.forget(key)
    }

    /// Starts the command of an application, which comes to the front.
    ///
    /// - Returns: whether the call waits for it; else it is done.
    mutating func launch(
        _ key: ApplicationKey, number: UInt64, _ turn: inout ApplicationTurn
    ) throws(Refusal) -> Bool {
        let application = try known(key)
        guard application.run == nil else { throw .wrongState(key.id, application.state) }
        return try activate(key, number: number, &turn)
    }

    /// Brings an application to the front; it is started or thawed where it has to be.
    ///
    /// - Returns: whether the call waits for it; else it is done.
    mutating func activate(
        _ key: ApplicationKey, number: UInt64, _ turn: inout ApplicationTurn
    ) throws(Refusal) -> Bool {
        let application = try known(key)
        if application.state == .active, application.run?.phase == .running { return false }
        try wake(key, toFront: true, for: number, &turn)
        return self[key]?.state != .active
    }

    /// Lays something over an application in front: it gets no events, and no budget runs.
    mutating func resign(_ key: ApplicationKey, _ turn: inout ApplicationTurn) throws(Refusal) {
        let application = try known(key)
        guard application.state.isInFront, application.run?.phase == .running else {
            throw .wrongState(key.id, application.state)
        }
        if application.state == .active { move(key, on: .resigned, &turn) }
    }

    /// Sends an application away from the front.
    mutating func enterBackground(
        _ key: ApplicationKey, _ turn: inout ApplicationTurn
    ) throws(Refusal) {
        let application = try known(key)
        guard let run = application.run, application.state != .notRunning, !run.isEnding
        else { throw .wrongState(key.id, application.state) }
        update(key) { $0.run?.come(toFront: false) }
        answerWaiters(key, .wrongState(key.id, application.state), &turn) { $0 == .front }
        if application.state.isInFront { leaveFront(key, &turn) }
    }

    /// Ends an application by order.
    ///
    /// - Returns: whether the call waits for its end.
    mutating func terminate(
        _ key: ApplicationKey, number: UInt64,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) throws(Refusal) -> Bool {
        let application = try known(key)
        guard application.run != nil else { return false }
        update(key) { $0.wait(number, for: .gone) }
        end(key, .terminated, tasks, &turn)
        return true
    }
}
