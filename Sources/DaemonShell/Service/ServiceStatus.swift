internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Settings
internal import Systemd

/// What the service manager is told of the daemon (sd_notify(3)).
final class ServiceStatus {
    /// The status sentence is told to systemd at most this often.
    private static let interval = Duration.seconds(1)
    /// With more live tasks than this, looking for the next expiry would cost too much.
    private static let expirySearchMax = 1000
    /// What systemd is asked to wait at a time while the daemon stops: long enough for a slow machine to ask again,
    /// and short enough that one that hangs is noticed.
    private static let stopExtension = Duration.seconds(15)
    private static let stopExtensionInterval = Duration.seconds(5)
    /// What a stop may take beyond the longest grace: to kill, to record and to tell.
    private static let stopMargin = Duration.seconds(10)

    private let core: Core
    private let log: Logger
    private let notifier = ServiceNotifier()
    /// Whether somebody listens.
    private let hasManager: Bool
    private let statusTimer: TimerSource
    private let stopTimer: TimerSource
    private let relay: Relay
    /// Whether the status is going to be told when the timer fires.
    private var isStatusDue = false
    /// Until when systemd is asked to wait for the end.
    private var stopLimit: Instant?
    private var countsBeforeStop: RegistryCounts?
    /// What was wrong with the settings that were read last, until they are good.
    private var settingsRefusal: SettingsErrors?

    /// Lets the timers call what is made after them.
    private final class Relay {
        weak var status: ServiceStatus?
    }

    init(_ core: Core, _ loop: EventLoop, _ configuration: Configuration, _ log: Logger) throws {
        self.core = core
        self.log = log
        hasManager = configuration.environment["NOTIFY_SOCKET"] != nil
        let relay = Relay()
        self.relay = relay
        statusTimer = try loop.addTimer(priority: .health) { relay.status?.send() }
        stopTimer = try loop.addTimer(priority: .health) {
            relay.status?.extendStop(at: .measured())
        }
        relay.status = self
    }

    // MARK: - The status

    /// A sentence that an operator can use.
    private var text: String {
        var text = "\(core.registry.liveCount) running, \(core.registry.queuedCount) queued"
        if core.registry.isDraining { text = "stopping: " + text }
        if let fault = core.registry.storeFault {
            text = "nothing new is taken in: \(fault); " + text
        }
        if let next = nextExpiry {
            text += "; next expiry at " + WallClock.time(after: next - Instant.measured())
        }
        if let settingsRefusal { text += "; " + Self.sentence(settingsRefusal) }
        return text
    }

    private var nextExpiry: Instant? {
        guard (1...Self.expirySearchMax).contains(core.registry.liveCount) else { return nil }
        return core.registry.nextExpiry
    }

    private static func sentence(_ refusal: SettingsErrors) -> String {
        let first = refusal.first
        var text = "the settings of \(first.file) were refused: "
        if let line = first.line { text += "line \(line): " }
        text += first.text
        return refusal.others.isEmpty ? text : text + ", and \(refusal.others.count) more"
    }

    /// The daemon serves.
    func ready() throws(SystemdError) { try notifier.ready(status: text) }

    /// Asks for the status to be told soon, where somebody listens.
    func changed() {
        guard hasManager, !isStatusDue else { return }
        isStatusDue = true
        do {
            try statusTimer.arm(after: Self.interval)
        } catch {
            log.say(.statusTimerNotArmed, [.reason: "\(error)"])
        }
    }

    private func send() {
        isStatusDue = false
        tell(.statusNotSent) { () throws(SystemdError) in try notifier.status(text) }
    }

    func feedWatchdog() {
        tell(.statusNotSent) { () throws(SystemdError) in try notifier.watchdog() }
    }

    private func tell(_ failure: DaemonMessage, _ body: () throws(SystemdError) -> Void) {
        do throws(SystemdError) {
            try body()
        } catch {
            log.say(failure, [.reason: "\(error)"])
        }
        // What a manager that stands still had no room for is sent again with the status.
        if notifier.hasUnsent { changed() }
    }

    // MARK: - Reload

    /// The settings are being read; `reloaded` ends it, however that went.
    func reloading() {
        // A daemon that stops is not ready again.
        guard !core.registry.isDraining else { return }
        tell(.reloadNotTold) { () throws(SystemdError) in try notifier.reloading() }
    }

    func reloaded() {
        guard !core.registry.isDraining else { return send() }
        tell(.reloadNotTold) { () throws(SystemdError) in try notifier.ready(status: text) }
    }

    func settingsAccepted() { settingsRefusal = nil }

    func settingsRefused(_ errors: SettingsErrors) { settingsRefusal = errors }

    // MARK: - Stop

    /// A stop is going to begin: what it ends is counted from now on.
    func stopBegins() { countsBeforeStop = core.registry.counts }

    /// The drain has begun: it may take the longest grace, and some time to end what did not obey.
    func stopping() {
        stopLimit = core.now + core.registry.longestRemaining(at: core.now) + Self.stopMargin
        tell(.stopNotTold) { () throws(SystemdError) in try notifier.stopping(status: text) }
        extendStop(at: core.now)
    }

    /// Asks systemd to wait on, again and again until the limit; what takes longer than that, it may kill.
    private func extendStop(at now: Instant) {
        guard let stopLimit, now < stopLimit else { return }
        let time = min(Self.stopExtension, stopLimit - now)
        tell(.stopNotTold) { () throws(SystemdError) in
            try notifier.extendTimeout(microseconds: UInt64(clamping: time.wholeNanoseconds / 1000))
            try stopTimer.arm(after: Self.stopExtensionInterval)
        }
    }

    /// The last word: what became of the tasks that the stop met.
    func stopped() {
        let counts = core.registry.counts
        let before = countsBeforeStop ?? counts
        let ended = Outcome.allCases.compactMap { outcome in
            let count = counts[outcome] - before[outcome]
            return count > 0 ? "\(count) \(outcome)" : nil
        }
        let text = ended.isEmpty ? "stopped" : "stopped: " + ended.joined(separator: ", ")
        tell(.statusNotSent) { () throws(SystemdError) in try notifier.status(text) }
    }
}
