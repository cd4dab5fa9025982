/// A stay of an application in the background, and the time that its tasks have there.
///
/// A message that wakes it begins another time within the same stay.
package struct BackgroundStay: Equatable, Sendable {
    /// When it left the front; `nil` where it is there.
    private(set) var since: BootInstant?
    /// When its time is over; `never` where it has no limit.
    private(set) var until = Instant.never
    /// Whether it was told that this time expires.
    private(set) var isToldOfExpiry = false
    /// Whether it was noted that this time is over, where nothing is enforced.
    private(set) var isOverrunNoted = false

    init() {}

    /// One that began under an earlier daemon.
    package init(since: BootInstant?, until: Instant, isToldOfExpiry: Bool, isOverrunNoted: Bool) {
        (self.since, self.until) = (since, until)
        (self.isToldOfExpiry, self.isOverrunNoted) = (isToldOfExpiry, isOverrunNoted)
    }

    mutating func enter(at boot: BootInstant) { since = boot }

    /// A new time begins, which it has been told nothing of; `nil`: it has no limit.
    mutating func startTime(_ duration: Duration?, at now: Instant) {
        until = duration.map { now + $0 } ?? .never
        isToldOfExpiry = false
        isOverrunNoted = false
    }

    mutating func leave() { self = BackgroundStay() }

    /// - Returns: whether it has to be told that this time expires, which it is once.
    mutating func tellOfExpiry() -> Bool {
        defer { isToldOfExpiry = true }
        return !isToldOfExpiry
    }

    /// - Returns: whether this time is found to be over for the first time, at the hard limit of a task.
    mutating func noteOverrun(of hardAt: Instant) -> Bool {
        // Its tasks reach the limit one after another.
        guard until <= hardAt, !isOverrunNoted else { return false }
        isOverrunNoted = true
        return true
    }
}
