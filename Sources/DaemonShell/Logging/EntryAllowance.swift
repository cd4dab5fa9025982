internal import BudgetCore

/// How many entries a second the doings of one account may make in the log, so that a flood of one does
/// not push out what is there of the others.
struct EntryAllowance {
    private var perSecondMax: Int
    private var windowEndsAt = Instant(nanoseconds: .min)
    private var counts: [OwnerID: Int] = [:]
    /// Left out, and not said yet.
    private var missed: [OwnerID: Int] = [:]

    init(perSecondMax: Int) {
        self.perSecondMax = perSecondMax
    }

    /// Takes so many from now on.
    mutating func limit(perSecondMax: Int) { self.perSecondMax = perSecondMax }

    /// When it is to be said what was left out; `nil` while nothing was.
    var nextReport: Instant? { missed.isEmpty ? nil : windowEndsAt }

    /// Counts an entry about an account.
    ///
    /// - Returns: whether it may be written.
    mutating func take(_ account: OwnerID, at now: Instant) -> Bool {
        if now >= windowEndsAt, missed.isEmpty {
            windowEndsAt = now + .seconds(1)
            counts.removeAll(keepingCapacity: counts.count < 64)
        }
        let count = counts[account, default: 0] + 1
        counts[account] = count
        guard count > perSecondMax else { return true }
        missed[account, default: 0] += 1
        return false
    }

    /// What was left out in a second that is over, by account.
    mutating func takeReport(at now: Instant) -> [(account: OwnerID, count: Int)] {
        guard now >= windowEndsAt, !missed.isEmpty else { return [] }
        defer {
            missed = [:]
            counts = [:]
        }
        return missed.sorted { $0.key < $1.key }.map { (account: $0.key, count: $0.value) }
    }
}
