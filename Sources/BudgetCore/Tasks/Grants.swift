/// A budget as a peer asked for it, not yet checked.
package struct RequestedBudget: Equatable, Sendable {
    package var duration: Duration
    package var grace: Duration

    package init(duration: Duration, grace: Duration) {
        self.duration = duration
        self.grace = grace
    }
}

/// What is granted to a task that begins or is submitted.
struct Grant: ~Copyable {
    /// Those of the profile.
    let terms: Terms
    /// What was granted of a budget that was asked for; `nil`: the profile's.
    let budget: Budget?

    init(_ terms: Terms, budget: Budget? = nil) {
        self.terms = terms
        self.budget = budget
    }

    /// Grants a budget, where the profile allows it.
    static func of(_ asked: RequestedBudget, _ terms: Terms) throws(Refusal) -> Grant {
        guard asked.duration > .zero, asked.duration <= Budget.durationMax else {
            throw .invalidParameter("budget.durationMs")
        }
        guard let budget = Budget(duration: asked.duration, grace: asked.grace) else {
            throw .invalidParameter("budget.graceMs")
        }
        if let lifetimeMax = terms.lifetimeMax, asked.duration > lifetimeMax {
            throw .limitReached(limit: "lifetimeMax", value: lifetimeMax.wholeMilliseconds)
        }
        return Grant(terms, budget: budget)
    }
}

/// The profiles of the settings, and the terms that tasks share.
struct Grants: Sendable {
    private(set) var profiles: [String: Profile] = [:]
    /// What a task is granted that asks for nothing; `nil` where the settings have no such profile.
    private var usualTerms: Terms?
    private var recentTerms = RecentTerms()

    init(_ profiles: [Profile]) {
        replaceProfiles(profiles)
    }

    /// Takes new profiles for what begins from now on; tasks keep what they were granted.
    mutating func replaceProfiles(_ profiles: [Profile]) {
        self.profiles = Dictionary(profiles.map { ($0.name, $0) }) { _, last in last }
        usualTerms = self.profiles[Profile.defaultName]?.terms
    }

    /// The terms of a profile, or of a task that names none.
    ///
    /// Mutating, though it changes nothing: others are called on a copy, and this one is called whenever a task
    /// begins.
    mutating func terms(ofProfile name: String?) throws(Refusal) -> Terms {
        let known = if let name { profiles[name]?.terms } else { usualTerms }
        guard let known else { throw .noSuchProfile(name ?? Profile.defaultName) }
        return known
    }

    /// The terms of a task, which it may share with others.
    mutating func terms(of grant: consuming Grant, _ application: String?) -> Terms {
        let budget = grant.budget ?? grant.terms.budget
        if application == nil, budget == grant.terms.budget { return grant.terms }
        return recentTerms.take(of: grant.terms, budget: budget, application: application)
    }
}
