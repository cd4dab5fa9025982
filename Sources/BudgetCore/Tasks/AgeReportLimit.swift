/// Old tasks are named in the log at most so many times a second; the rest is counted.
struct AgeReportLimit: Sendable {
    static let perSecondMax = 10

    private var windowEndsAt = Instant(nanoseconds: .min)
    private var named = 0
    private var missed = 0

    /// When a count of the tasks that were not named is due.
    var reportAt: Instant? { missed > 0 ? windowEndsAt : nil }

    /// - Returns: whether this one may be named.
    mutating func mayName(at now: Instant) -> Bool {
        if now >= windowEndsAt, missed == 0 {
            windowEndsAt = now + .seconds(1)
            named = 0
        }
        guard now < windowEndsAt, named < AgeReportLimit.perSecondMax else {
            missed += 1
            return false
        }
        named += 1
        return true
    }

    mutating func takeReport(at now: Instant) -> Int? {
        guard missed > 0, now >= windowEndsAt else { return nil }
        defer { missed = 0 }
        return missed
    }
}
