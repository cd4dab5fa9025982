/// How long an executor has said nothing though answers of it are awaited. Nanoseconds on CLOCK_MONOTONIC.
package struct ExecutorSilence {
    /// What it may take for an answer, far more than any takes.
    private static let lengthMax: Int64 = 5_000_000_000
    /// When it is looked first whether anything needs one that is silent, and how often after that.
    private static let uselessAfter: Int64 = 30_000_000_000
    private static let lookEvery: Int64 = 5_000_000_000

    /// Since when nothing was heard that is awaited; `nil`: nothing is.
    private var since: Int64?
    /// Whether it has lasted too long.
    package private(set) var isLong = false
    /// When it is looked whether anything needs the executor, while the silence is too long.
    private var lookAt: Int64 = .max

    package init() {}

    /// Something was ordered that is to be answered.
    package mutating func ordered(at now: Int64) { since = since ?? now }

    /// Something was heard.
    ///
    /// - Parameter isAwaited: whether answers are awaited still.
    /// - Returns: whether it had been silent for too long.
    package mutating func heard(isAwaited: Bool, at now: Int64) -> Bool {
        since = isAwaited ? now : nil
        defer { isLong = false }
        return isLong
    }

    /// When it lasts too long.
    package var nextDeadline: Int64? { isLong ? lookAt : since.map { $0 + Self.lengthMax } }

    /// Whether it lasts too long; said once.
    package mutating func isNewlyLong(at now: Int64) -> Bool {
        guard !isLong, let since, since + Self.lengthMax <= now else { return false }
        isLong = true
        lookAt = since + Self.uselessAfter
        return true
    }

    /// Whether it has lasted so long that an executor of which nothing runs is of no use; said again and again.
    package mutating func isToBeLookedAt(at now: Int64) -> Bool {
        guard isLong, lookAt <= now else { return false }
        lookAt = now + Self.lookEvery
        return true
    }
}
