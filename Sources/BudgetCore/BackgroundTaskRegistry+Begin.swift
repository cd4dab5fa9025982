/// A budget as a peer asked for it, not yet checked.
package struct RequestedBudget: Equatable, Sendable {
    package var duration: Duration
    package var grace: Duration

    package init(duration: Duration, grace: Duration) {
        self.duration = duration
        self.grace = grace
    }
}

/// What a client asks for to do work of its own.
package struct BeginRequest: Equatable, Sendable {
    package var name: String
    package var owner: OwnerID
    package var holder: HolderID
    /// The process that the holder is, where it is not a connection; for those who list tasks.
    package var holderProcess: ProcessID?
    package var application: String?
    package var profile: String?
    package var budget: RequestedBudget?

    package init(name: String, owner: OwnerID, holder: HolderID) {
        self.name = name
        self.owner = owner
        self.holder = holder
    }
}

extension BackgroundTaskRegistry {
    /// Borrows time for work that the holder does itself.
    package mutating func begin(
        _ request: BeginRequest, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> TaskID {
        let grant = try checkedGrant(
            request.name, request.profile, request.budget, for: request.owner,
            request.application)
        try check(application: request.application)
        guard liveCount(of: request.owner) < limits.tasksPerOwnerMax else {
            throw .limitReached(limit: "tasksPerOwnerMax", value: limits.tasksPerOwnerMax)
        }
        try checkBackgroundTime(application: request.application, owner: request.owner, at: now)
        let id = try takeIdentifier(&actions)
        var task = BackgroundTask(
            id: id,
            owner: request.owner,
            kind: .held,
            name: request.name,
            application: request.application,
            profile: grant.profile,
            budget: grant.budget,
            at: now
        )
        task.holderProcess = request.holderProcess
        let slot = table.insert(task, holder: request.holder)
        counts.begunHeld += 1
        startBudget(
            slot, lifetimeMax: grant.profile.lifetimeMax, isCut: grant.isCut, at: now, &actions)
        actions.append(.tell(.began, id))
        return id
    }

    /// Starts the clock of a task that is live now.
    mutating func startBudget(
        _ slot: Int, lifetimeMax: Duration?, isCut: Bool, at now: Instant,
        _ actions: inout [Action]
    ) {
        table[slot].begunAt = now
        table[slot].warnAt = now + limits.warnAfter
        table[slot].lifetimeMax = lifetimeMax
        table[slot].isCutByLifetime = isCut
        if let lifetimeMax { table[slot].lifetimeEndsAt = now + lifetimeMax }
        if let budget = table[slot].budget { table[slot].ownHardAt = now + budget.duration }
        if applicationClock(of: table[slot]) == .foreground {
            table[slot].state = .dormant
            table[slot].pausedAt = now
        } else {
            table[slot].state = .running
            table[slot].startClock(at: now)
        }
        applicationTaskBegan(table[slot], at: now, &actions)
        updateDeadlines(slot)
    }

    struct Grant {
        let profile: Profile
        let budget: Budget?
        /// Whether less was granted than asked for, because of the profile's lifetime limit.
        let isCut: Bool
    }

    /// Everything that can be refused before an id is used up for it.
    func checkedGrant(
        _ name: String, _ profile: String?, _ budget: RequestedBudget?, for owner: OwnerID,
        _ application: String?
    ) throws(Refusal) -> Grant {
        guard !isDraining else { throw .notAccepting("the daemon is stopping") }
        try check(name, "name")
        let profileName = profile ?? Profile.defaultName
        guard let profile = profiles[profileName] else { throw .noSuchProfile(profileName) }
        guard profile.budget != nil || mayBeUnlimited(owner, application) else {
            throw .permissionDenied
        }
        guard let budget else {
            return Grant(profile: profile, budget: profile.budget, isCut: false)
        }
        return try grant(budget, of: profile)
    }

    private func grant(
        _ asked: RequestedBudget, of profile: Profile
    ) throws(Refusal) -> Grant {
        guard asked.duration > .zero, asked.duration <= Budget.durationMax else {
            throw .invalidParameter("budget.durationMs")
        }
        guard let budget = Budget(duration: asked.duration, grace: asked.grace) else {
            throw .invalidParameter("budget.graceMs")
        }
        guard let lifetimeMax = profile.lifetimeMax, asked.duration > lifetimeMax else {
            return Grant(profile: profile, budget: budget, isCut: false)
        }
        guard let cut = Budget(duration: lifetimeMax, grace: asked.grace) else {
            throw .limitReached(limit: "lifetimeMax", value: lifetimeMax.wholeMilliseconds)
        }
        return Grant(profile: profile, budget: cut, isCut: true)
    }

    func check(application: String?) throws(Refusal) {
        if let application { try check(application, "application") }
    }

    func check(_ name: String, _ parameter: String) throws(Refusal) {
        // First, since looking through a name takes as long as the peer has made it.
        guard name.utf8.count <= limits.nameBytesMax else {
            throw .limitReached(limit: "nameBytesMax", value: limits.nameBytesMax)
        }
        guard !name.isEmpty, !name.unicodeScalars.contains(where: \.steersText) else {
            throw .invalidParameter(parameter)
        }
    }

    mutating func takeIdentifier(_ actions: inout [Action]) throws(Refusal) -> TaskID {
        guard let id = identifiers.take(&actions) else {
            throw .notAccepting("no ids are reserved on disk")
        }
        return id
    }

    func liveCount(of owner: OwnerID) -> Int {
        table.owners[owner]?.liveCount ?? 0
    }
}

extension Unicode.Scalar {
    /// Whether it would end a line, turn the direction of writing, or steer a terminal, and so let a
    /// name pretend to be something else (Unicode TR 36).
    fileprivate var steersText: Bool {
        switch value {
        case 0x00..<0x20, 0x7F..<0xA0, 0x2028...0x2029: true
        case 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
