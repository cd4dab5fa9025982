/// How long an executor has said nothing though answers of it are awaited. Nanoseconds on CLOCK_MONOTONIC.
package struct ExecutorSilence {
    /// What it may take for an answer, far more than any takes.
    private static let lengthMax: Int64 = 5_000_000_000

    /// Since when nothing was heard that is awaited; `nil`: nothing is.
    private var since: Int64?
    /// Whether it has lasted too long.
    package private(set) var isLong = false

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
    package var nextDeadline: Int64? { isLong ? nil : since.map { $0 + Self.lengthMax } }

    /// Whether it lasts too long; said once.
    package mutating func isNewlyLong(at now: Int64) -> Bool {
        guard let deadline = nextDeadline, deadline <= now else { return false }
        isLong = true
        return true
    }
}
