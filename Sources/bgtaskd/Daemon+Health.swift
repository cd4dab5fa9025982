internal import BudgetCore
internal import LinuxSystem
internal import Settings
internal import Systemd

// What the service manager is told of the daemon (sd_notify(3)).
extension Daemon {
    /// The status sentence is told to systemd at most this often.
    private static let statusInterval: Int64 = 1_000_000_000
    /// With more live tasks than this, looking for the next expiry would cost too much.
    private static let expirySearchMax = 1000
    /// What systemd is asked to wait at a time while the daemon stops: long enough for a slow machine to
    /// ask again, and short enough that one that hangs is noticed.
    private static let stopExtension = Duration.seconds(15)
    private static let stopExtensionInterval = Duration.seconds(5)
    /// What a stop may take beyond the longest grace: to kill, to record and to tell.
    private static let stopMargin = Duration.seconds(10)

    /// A sentence that an operator can use.
    func statusText() -> String {
        var text = "\(registry.liveCount) running, \(registry.queuedCount) queued"
        if registry.isDraining { text = "stopping: " + text }
        if let fault = registry.storeFault { text = "nothing new is taken in: \(fault); " + text }
        if let next = nextExpiry() {
            text += "; next expiry at " + WallClock.time(after: next - now)
        }
        if let settingsRefusal { text += "; " + Self.sentence(settingsRefusal) }
        return text
    }

    /// Asks for the status to be told soon, where somebody listens.
    func statusChanged() {
        guard hasManager, statistics.statusTimerIsIdle else { return }
        statistics.statusTimerIsIdle = false
        do {
            try statusTimer?.arm(
                atNanoseconds: UInt64(MonotonicClock.now() + Daemon.statusInterval))
        } catch {
            log.say(.statusTimerNotArmed, [.reason: "\(error)"])
        }
    }

    func feedWatchdog() {
        tell(.statusNotSent) { () throws(SystemdError) in try notifier.watchdog() }
    }

    func sendStatus() {
        statistics.statusTimerIsIdle = true
        tell(.statusNotSent) { () throws(SystemdError) in try notifier.status(statusText()) }
    }

    /// The settings are being read; `tellReloaded` ends it, however that went.
    func tellReloading() {
        // A daemon that stops is not ready again.
        guard !registry.isDraining else { return }
        tell(.reloadNotTold) { () throws(SystemdError) in try notifier.reloading() }
    }

    func tellReloaded() {
        guard !registry.isDraining else { return sendStatus() }
        tell(.reloadNotTold) { () throws(SystemdError) in try notifier.ready(status: statusText()) }
    }

    /// The drain has begun: it may take the longest grace, and some time to end what did not obey.
    func tellStopping(at now: Instant) {
        stopLimit = now + registry.longestRemaining(at: now) + Daemon.stopMargin
        tell(.stopNotTold) { () throws(SystemdError) in try notifier.stopping(status: statusText())
        }
        extendStop(at: now)
    }

    /// Asks systemd to wait on, again and again until the limit; what takes longer than that, it may kill.
    func extendStop(at now: Instant) {
        guard let stopLimit, now < stopLimit else { return }
        let time = min(Daemon.stopExtension, stopLimit - now)
        tell(.stopNotTold) { () throws(SystemdError) in
            try notifier.extendTimeout(microseconds: UInt64(clamping: time.wholeNanoseconds / 1000))
            let next = now + Daemon.stopExtensionInterval
            try stopTimer?.arm(atNanoseconds: UInt64(clamping: next.nanoseconds))
        }
    }

    /// The last word: what became of the tasks that the stop met.
    func tellStopped() {
        let before = countsBeforeStop ?? registry.counts
        let ended = Outcome.allCases.compactMap { outcome in
            let count = registry.counts[outcome] - before[outcome]
            return count > 0 ? "\(count) \(outcome)" : nil
        }
        let text = ended.isEmpty ? "stopped" : "stopped: " + ended.joined(separator: ", ")
        tell(.statusNotSent) { () throws(SystemdError) in try notifier.status(text) }
    }

    private func tell(
        _ failure: DaemonMessage, _ body: () throws(SystemdError) -> Void
    ) {
        do throws(SystemdError) {
            try body()
        } catch {
            log.say(failure, [.reason: "\(error)"])
        }
        // What a manager that stands still had no room for is sent again with the status.
        if notifier.hasUnsent { statusChanged() }
    }

    private static func sentence(_ refusal: SettingsErrors) -> String {
        let first = refusal.first
        var text = "the settings of \(first.file) were refused: "
        if let line = first.line { text += "line \(line): " }
        text += first.text
        return refusal.others.isEmpty ? text : text + ", and \(refusal.others.count) more"
    }

    private func nextExpiry() -> Instant? {
        guard (1...Daemon.expirySearchMax).contains(registry.liveCount) else { return nil }
        return registry.nextExpiry
    }
}
