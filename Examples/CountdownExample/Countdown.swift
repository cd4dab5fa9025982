import BackgroundTasksKit

/// Counts down in front, and says each second that is left.
@MainActor final class Countdown {
    private var remainingMs: Int
    /// When the present second began, while it counts.
    private var began: ContinuousClock.Instant?
    private var left: ContinuousClock.Instant?
    private var timer: Timer?

    init(seconds: Int) { remainingMs = seconds * 1000 }

    /// Counts on, if it does not.
    func start() {
        guard began == nil else { return }
        began = .now
        say(Self.clock(remainingMs))
        count()
    }

    func leave() {
        left = .now
        timer?.invalidate()
        guard let began else { return }
        // No more than this second: whoever hears of it late was away, which counts on the return.
        remainingMs -= min(Self.milliseconds(since: began), secondMs)
        self.began = nil
        say("leaves with \(Self.clock(remainingMs))")
    }

    func comeBack() {
        guard let left else { return }
        let awayMs = Self.milliseconds(since: left)
        remainingMs = max(remainingMs - awayMs, 0)
        say("was away for \(Self.clock(awayMs))")
        start()
    }

    /// How long the present second is: the first after a return is what was left of one.
    private var secondMs: Int { (remainingMs + 999) % 1000 + 1 }

    private func count() {
        guard let began else { return }
        guard remainingMs > 0 else {
            say("the time is over")
            exit(0)
        }
        let due = Double(secondMs - Self.milliseconds(since: began)) / 1000
        timer = Timer.scheduledTimer(withTimeInterval: max(due, 0), repeats: false) { _ in
            MainActor.assumeIsolated { self.secondIsOver() }
        }
    }

    private func secondIsOver() {
        // Each begins where the last one ends, so that what is late adds up to nothing.
        began = began?.advanced(by: .milliseconds(secondMs))
        remainingMs -= secondMs
        say(Self.clock(remainingMs))
        count()
    }

    private static func milliseconds(since instant: ContinuousClock.Instant) -> Int {
        Int(instant.duration(to: .now) / .milliseconds(1))
    }

    /// Minutes and seconds: 4:59, or 4:58.250.
    private static func clock(_ milliseconds: Int) -> String {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let clock = String(format: "%d:%02d", seconds / 60, seconds % 60)
        return rest == 0 ? clock : clock + String(format: ".%03d", rest)
    }
}
