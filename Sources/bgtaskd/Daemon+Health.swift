internal import BudgetCore
internal import LinuxSystem
internal import Systemd

extension Daemon {
    /// The status sentence is told to systemd at most this often.
    private static let statusInterval: Int64 = 1_000_000_000
    /// With more live tasks than this, looking for the next expiry would cost too much.
    private static let expirySearchMax = 1000

    /// A sentence that an operator can use.
    func statusText() -> String {
        var text = "\(registry.liveCount) running, \(registry.queuedCount) queued"
        if registry.isDraining { text = "stopping: " + text }
        if let next = nextExpiry() {
            text += "; next expiry at " + WallClock.time(after: next - now)
        }
        return text
    }

    /// Asks for the status to be told soon, where somebody listens.
    func statusChanged() {
        guard configuration.environment["NOTIFY_SOCKET"] != nil, statistics.statusTimerIsIdle
        else { return }
        statistics.statusTimerIsIdle = false
        do {
            try statusTimer?.arm(
                atNanoseconds: UInt64(MonotonicClock.now() + Daemon.statusInterval))
        } catch {
            log.say(.statusTimerNotArmed, [.reason: "\(error)"])
        }
    }

    func sendStatus() {
        statistics.statusTimerIsIdle = true
        do {
            try notifier.status(statusText())
        } catch {
            log.say(.statusNotSent, [.reason: "\(error)"])
        }
    }

    private func nextExpiry() -> Instant? {
        guard (1...Daemon.expirySearchMax).contains(registry.liveCount) else { return nil }
        return registry.nextExpiry
    }
}
