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
            request.name, request.profile, request.budget, for: request.owner)
        try check(application: request.application)
        let ownerPlace = table.place(of: request.owner)
        guard table.charged(to: request.owner, at: ownerPlace).live < limits.tasksPerOwnerMax else {
            throw .limitReached(limit: "tasksPerOwnerMax", value: limits.tasksPerOwnerMax)
        }
        try checkBackgroundTime(application: request.application, owner: request.owner, at: now)
        let id = try takeIdentifier(&actions)
        let slot = table.insertHeld(
            id, of: request.owner, at: ownerPlace, holder: request.holder)
        table[slot].holderProcess = request.holderProcess
        table[slot].isCutByLifetime = grant.isCut
        table[slot].occupy(
            id: id, owner: request.owner, kind: .held, name: request.name,
            terms: terms(of: grant, request.application), at: now)
        counts.begunHeld += 1
        startBudget(slot, at: now, &actions)
        actions.append(.tell(.began, id))
        return id
    }

    /// Starts the clock of a task that is live now.
    mutating func startBudget(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let hasApplication = table[slot].hasApplication
        table[slot].begin(
            isDormant: hasApplication && applicationClock(at: slot) == .foreground,
            warnAfterNanoseconds: limits.warnAfterNanoseconds, at: now)
        if hasApplication { applicationTaskBegan(table[slot], at: now, &actions) }
        updateDeadlines(slot)
    }

    struct Grant: ~Copyable {
        /// Those of the profile.
        let terms: Terms
        /// What was granted of a budget that was asked for; `nil`: the profile's.
        let budget: Budget?
        /// Whether less was granted than asked for, because of the profile's lifetime limit.
        let isCut: Bool
    }

    /// Everything that can be refused before an id is used up for it.
    ///
    /// Mutating, like all that is asked whenever a task begins, as `applicationClock(at:)` says.
    mutating func checkedGrant(
        _ name: String, _ profile: String?, _ budget: RequestedBudget?, for owner: OwnerID
    ) throws(Refusal) -> Grant {
        guard !isDraining else { throw .notAccepting("the daemon is stopping") }
        try BackgroundTaskRegistry.check(name, "name", bytesMax: limits.nameBytesMax)
        let known = if let profile { profiles[profile]?.terms } else { usualTerms }
        guard let terms = known else { throw .noSuchProfile(profile ?? Profile.defaultName) }
        guard terms.budget != nil || limits.allowsUnlimited(owner) else {
            throw .permissionDenied
        }
        guard let budget else { return Grant(terms: terms, budget: nil, isCut: false) }
        return try grant(budget, of: terms)
    }

    /// The terms of a task, which it may share with others.
    mutating func terms(of grant: consuming Grant, _ application: String?) -> Terms {
        let budget = grant.budget ?? grant.terms.budget
        if application == nil, budget == grant.terms.budget { return grant.terms }
        return recentTerms.take(of: grant.terms, budget: budget, application: application)
    }

    private func grant(
        _ asked: RequestedBudget, of terms: Terms
    ) throws(Refusal) -> Grant {
        guard asked.duration > .zero, asked.duration <= Budget.durationMax else {
            throw .invalidParameter("budget.durationMs")
        }
        guard let budget = Budget(duration: asked.duration, grace: asked.grace) else {
            throw .invalidParameter("budget.graceMs")
        }
        guard let lifetimeMax = terms.lifetimeMax, asked.duration > lifetimeMax else {
            return Grant(terms: terms, budget: budget, isCut: false)
        }
        guard let cut = Budget(duration: lifetimeMax, grace: asked.grace) else {
            throw .limitReached(limit: "lifetimeMax", value: lifetimeMax.wholeMilliseconds)
        }
        return Grant(terms: terms, budget: cut, isCut: true)
    }

    mutating func check(application: String?) throws(Refusal) {
        if let application { try check(application, "application") }
    }

    func check(_ name: String, _ parameter: String) throws(Refusal) {
        try BackgroundTaskRegistry.check(name, parameter, bytesMax: limits.nameBytesMax)
    }

    private static func check(
        _ name: String, _ parameter: String, bytesMax: Int
    ) throws(Refusal) {
        // First, since looking through a name takes as long as the peer has made it.
        guard name.utf8.count <= bytesMax else {
            throw .limitReached(limit: "nameBytesMax", value: bytesMax)
        }
        guard !name.isEmpty, !name.steersText else {
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
        table.charged(to: owner).live
    }
}

extension String {
    fileprivate var steersText: Bool {
        // Most names are of ASCII alone, which is looked through far faster.
        let isPlain = utf8.withContiguousStorageIfAvailable { bytes in
            UnsafeRawBufferPointer(bytes).isPlainText
        }
        return isPlain != true && unicodeScalars.contains(where: \.steersText)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether all bytes are characters of ASCII that are no control characters; eight of them at once.
    fileprivate var isPlainText: Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var place = 0
        while place + 8 <= count {
            let bytes = loadUnaligned(fromByteOffset: place, as: UInt64.self)
            // A highest bit: the byte's own, that of what borrows below 0x20, that of what is 0x7F.
            let steering = bytes | (bytes &- 0x20 &* ones) | (bytes &+ ones)
            guard steering & (0x80 &* ones) == 0 else { return false }
            place += 8
        }
        while place < count {
            guard 0x20..<0x7F ~= self[place] else { return false }
            place += 1
        }
        return true
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
