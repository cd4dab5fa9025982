import BudgetCore

/// When the handler and the limit of a command are due, by the rules alone: what a budget, its extensions and orders
/// give, whoever is there to enforce it.
struct CommandTimes: Equatable {
    let attempt: Int
    let budget: Duration
    let grace: Duration
    let lifetimeEndsAt: Instant
    /// `never` where it has fired.
    private(set) var handlerAt: Instant
    private(set) var limitAt: Instant
    private(set) var isExpiring = false
    private(set) var isStopped = false

    init(attempt: Int, budget: Budget, lifetime: Duration, at now: Instant) {
        self.attempt = attempt
        self.budget = budget.duration
        grace = budget.grace
        lifetimeEndsAt = now + lifetime
        limitAt = now + budget.duration
        handlerAt = limitAt - budget.grace
    }

    mutating func extend(at now: Instant) {
        limitAt = min(now + budget, lifetimeEndsAt)
        handlerAt = max(limitAt - grace, now)
        isExpiring = false
    }

    mutating func lengthen(_ atLeast: Duration, at now: Instant) {
        let granted = min(now + atLeast, lifetimeEndsAt)
        guard granted > limitAt, !isStopped else { return }
        limitAt = granted
        if granted - grace > now { isExpiring = false }
        handlerAt = isExpiring ? .never : max(granted - grace, now)
    }

    mutating func warn(at now: Instant) {
        guard !isExpiring else { return }
        handlerAt = now
        limitAt = min(limitAt, now + grace)
    }

    mutating func fired() {
        isExpiring = true
        handlerAt = .never
    }

    mutating func cancel(at now: Instant) {
        guard !isStopped else { return }
        isStopped = true
        limitAt = min(now + grace, limitAt)
        handlerAt = .never
    }
}
