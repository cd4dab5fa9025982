/// The silent messages of an application, of which so many in an hour may wake it.
struct SilentMessages: Sendable {
    /// When they woke it, in the last hour.
    private var wakes: [BootInstant] = []
    /// Those that wait for their hour, the oldest first.
    private(set) var deferred: [PushMessage] = []

    private static let hour = Duration.seconds(3600)

    /// The earliest time at which one more may wake it; `nil`: at once.
    ///
    /// The wake-ups of an hour are at most `perHourMax`: the next one waits until the one that many before it
    /// is an hour old, those that are planned included.
    ///
    /// - Parameter waiting: how many come before it.
    func wake(after waiting: Int, perHourMax: Int) -> BootInstant? {
        guard perHourMax > 0 else { return nil }
        var wakes = wakes
        var next: BootInstant?
        for _ in 0...waiting {
            next =
                wakes.count < perHourMax
                ? nil : wakes[wakes.count - perHourMax] + SilentMessages.hour
            guard let next else { continue }
            wakes.append(next)
        }
        return next
    }

    mutating func noteWake(at boot: BootInstant, perHourMax: Int) {
        wakes.removeAll { boot - $0 >= SilentMessages.hour }
        wakes.append(boot)
        if wakes.count > perHourMax { wakes.removeFirst() }
    }

    mutating func deferMessage(_ message: PushMessage) { deferred.append(message) }

    mutating func takeFirst() -> PushMessage? {
        deferred.isEmpty ? nil : deferred.removeFirst()
    }

    mutating func takeAll() -> [PushMessage] { exchange(&deferred, with: []) }
}
