internal import BudgetCore

/// How much of the history was let go of to make room on a full disk: told at once, and then once a minute at most.
struct HistoryCuts {
    private static let pause = Duration.seconds(60)

    private var count = 0
    private var nextAt = Instant(nanoseconds: .min)

    mutating func add(_ count: Int) { self.count += count }

    /// When it is to be told; `nil` where nothing is.
    var nextReport: Instant? { count > 0 ? nextAt : nil }

    /// What is to be told now; `nil` where nothing is.
    mutating func takeReport(at now: Instant) -> Int? {
        guard count > 0, nextAt <= now else { return nil }
        defer { count = 0 }
        nextAt = now + Self.pause
        return count
    }
}
