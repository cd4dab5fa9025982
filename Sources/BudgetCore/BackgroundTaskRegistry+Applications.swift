// What others ask for about applications.
extension BackgroundTaskRegistry {
    /// The application, where the caller may see it.
    package func application(
        _ key: ApplicationKey
    ) throws(Refusal) -> ManagedApplication {
        guard let application = applications[key], application.isKnown else {
            throw .noSuchApplication(key.id)
        }
        return application
    }

    /// The applications of an owner, or all, sorted by owner and id.
    package func applications(of owner: OwnerID?) -> [ManagedApplication] {
        applications.keys(of: owner)
            .compactMap { applications[$0] }.filter(\.isKnown)
    }

    /// The keys of those, in the same order.
    package func applicationKeys(of owner: OwnerID?) -> [ApplicationKey] {
        applications.keys(of: owner).filter { applications[$0]?.isKnown == true }
    }

    /// How many tasks of an application are live.
    package func taskCount(of key: ApplicationKey) -> Int { applications.tasks[key]?.count ?? 0 }

    /// Applications that run, or are being started.
    package var runningApplicationCount: Int { applications.runningCount }

    /// What is to be on disk of an application.
    package func applicationRecord(_ key: ApplicationKey) -> ApplicationRecord? {
        applications[key]?.record
    }

    /// Makes an application known, or gives it other settings.
    ///
    /// - Parameter number: of the call, which is answered when the disk has it.
    package mutating func register(
        _ key: ApplicationKey, _ registration: Registration, number: UInt64, at now: Instant,
        _ actions: inout [Action]
    ) throws(Refusal) {
        try checkRegistration(key, registration)
        if applications[key] == nil {
            let record = ApplicationRecord(registration: registration)
            applications.insert(ManagedApplication(key, record))
        }
        let hadMode = hasBackgroundMode(key)
        applications.setRegistration(key, registration)
        if applications[key]?.saved == nil { note(key, .registered, &actions) }
        save(key, .registration(number), &actions)
        guard hadMode != hasBackgroundMode(key) else { return }
        backgroundModeChanged(key, at: now, &actions)
    }

    private func checkRegistration(
        _ key: ApplicationKey, _ registration: Registration
    ) throws(Refusal) {
        try checkMayChange(key)
        try check(key.id, "registration.id")
        if applications[key] == nil { try checkRoom(for: key.owner) }
        guard registration.byteCount <= applicationRules.registrationBytesMax else {
            throw .limitReached(
                limit: "registrationBytesMax", value: applicationRules.registrationBytesMax)
        }
        let others = applications.registeredBytes(of: key.owner) - applications.bytes(of: key)
        guard others + registration.byteCount <= applicationRules.registrationBytesPerOwnerMax
        else {
            throw .limitReached(
                limit: "registrationBytesPerOwnerMax",
                value: applicationRules.registrationBytesPerOwnerMax)
        }
        let mayBeUnlimited = limits.allowsUnlimited(key.owner)
        guard !registration.hasBackgroundMode || mayBeUnlimited else { throw .permissionDenied }
        guard let name = registration.profile else { return }
        guard let profile = profiles[name] else { throw .noSuchProfile(name) }
        guard profile.budget != nil || mayBeUnlimited else { throw .permissionDenied }
    }

    /// Whether an application has a background mode that counts: one that was registered when its owner might have
    /// one, and may not any more, is as if it were not there (DESIGN.md rule 8).
    func hasBackgroundMode(_ key: ApplicationKey) -> Bool {
        applications[key]?.registration.hasBackgroundMode == true
            && limits.allowsUnlimited(key.owner)
    }

    func checkRoom(for owner: OwnerID) throws(Refusal) {
        let limit = applicationRules.applicationsPerOwnerMax
        guard applications.count(of: owner) < limit else {
            throw .limitReached(limit: "applicationsPerOwnerMax", value: limit)
        }
    }

    /// Refuses what has to be on disk while nothing can be, and what a daemon that stops would not keep up.
    private func checkMayChange(_ key: ApplicationKey) throws(Refusal) {
        guard !isDraining else { throw .notAccepting("the daemon is stopping") }
        if let storeFault { throw .notAccepting(storeFault) }
        guard applications[key]?.forgetting == nil else {
            throw .notAccepting("application \(key.id) is being forgotten")
        }
    }

    /// Forgets an application that does not run; the call is answered when the disk has it.
    package mutating func unregister(
        _ key: ApplicationKey, number: UInt64, _ actions: inout [Action]
    ) throws(Refusal) {
        let application = try application(key)
        try checkMayChange(key)
        guard application.run == nil else { throw .wrongState(key.id, application.state) }
        applications.update(key) { $0.forgetting = number }
        actions.append(.store(.applicationForgotten(key)))
    }

    /// Starts the command of an application, which comes to the front.
    ///
    /// - Returns: whether the call waits for it; else it is done.
    package mutating func launch(
        _ key: ApplicationKey, number: UInt64, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        let application = try application(key)
        guard application.run == nil else { throw .wrongState(key.id, application.state) }
        return try activate(key, number: number, at: now, &actions)
    }

    /// Brings an application to the front; it is started or thawed where it has to be.
    ///
    /// - Returns: whether the call waits for it; else it is done.
    package mutating func activate(
        _ key: ApplicationKey, number: UInt64, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        let application = try application(key)
        if application.state == .active, application.run?.phase == .running { return false }
        try wake(key, toFront: true, for: number, at: now, &actions)
        return applications[key]?.state != .active
    }

    /// Lays something over an application in front: it gets no events, and no budget runs.
    package mutating func resign(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) {
        let application = try application(key)
        guard application.state.isInFront, application.run?.phase == .running else {
            throw .wrongState(key.id, application.state)
        }
        if application.state == .active { move(key, on: .resigned, at: now, &actions) }
    }

    /// Sends an application away from the front.
    package mutating func enterBackground(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) {
        let application = try application(key)
        guard let run = application.run, application.state != .notRunning, !run.isEnding
        else { throw .wrongState(key.id, application.state) }
        applications.update(key) { $0.run?.comesToFront = false }
        answerWaiters(key, .wrongState(key.id, application.state), &actions) { $0 == .front }
        if application.state.isInFront { leaveFront(key, at: now, &actions) }
    }

    /// Ends an application by order.
    ///
    /// - Returns: whether the call waits for its end.
    package mutating func terminate(
        _ key: ApplicationKey, number: UInt64, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        let application = try application(key)
        guard application.run != nil else { return false }
        applications.update(key) { $0.waiters.append(.init(number: number, goal: .gone)) }
        end(key, .terminated, at: now, &actions)
        return true
    }

    func note(_ key: ApplicationKey, _ note: ApplicationNote, _ actions: inout [Action]) {
        actions.append(.application(key, .note(note)))
    }
}
