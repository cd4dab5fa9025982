import BudgetCore
import TaskStore
import TestKit

/// The clocks of a machine, and the time that really passes, which none of them tells over a power cut.
final class Machine {
    /// CLOCK_MONOTONIC.
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    /// How far CLOCK_BOOTTIME is ahead of it.
    private(set) var asleep = Duration.zero
    /// Units of a service manager whose processes are frozen, or some of them.
    var frozen: Set<AdoptedUnit> = []
    /// When the present daemon was started.
    private(set) var daemonStart = Moment(passed: .zero, setForward: .zero, run: 0)
    /// Each daemon has a program of its own that runs commands, and ends with it.
    var executor: ExecutorInstance { ExecutorInstance(high: 1, low: UInt64(daemonStart.run)) }
    /// What has passed since the history began.
    private var passed = Duration.zero
    /// By how much the time of day was set forward, all in all.
    private var setForward = Duration.zero
    private var offset = Duration.zero

    /// A point in time, as only the simulation knows it.
    struct Moment {
        fileprivate let passed: Duration
        fileprivate let setForward: Duration
        /// The number of the daemon that ran.
        fileprivate let run: Int
    }

    var moment: Moment {
        Moment(passed: passed, setForward: setForward, run: daemonStart.run)
    }

    var boot: BootInstant { BootInstant(nanoseconds: (now + asleep).nanoseconds) }

    /// The time of day.
    var time: WallTime {
        let start = WallTime(microseconds: 1_800_000_000_000_000)
        return start.earlier(by: .zero - passed - offset)
    }

    // MARK: - What happens

    func pass(_ duration: Duration) {
        now = now + duration
        passed += duration
    }

    func suspend(for duration: Duration) {
        asleep += duration
        passed += duration
    }

    /// Sets the time of day.
    func setClock(by change: Duration) {
        offset += change
        setForward += max(change, .zero)
    }

    /// The machine starts anew, on another clock.
    func restart(at now: Instant) {
        self.now = now
        asleep = .zero
        frozen = []
    }

    func daemonStarts() {
        daemonStart = Moment(
            passed: passed, setForward: setForward, run: daemonStart.run + 1)
    }

    // MARK: - What a daemon may take for passed

    /// The least that it may take for what has passed since then, of which an earlier daemon had recorded
    /// the time of day: where that was set back the wait begins anew with the start.
    func leastPassed(since then: Moment) -> Duration {
        passed - max(then.passed, daemonStart.passed)
    }

    /// The most. Within one run it is exact; over a restart the time of day may have been set forward,
    /// which looks like time that has passed.
    func mostPassed(since then: Moment) -> Duration {
        let isOfThisRun = then.run == daemonStart.run
        let forward = isOfThisRun ? .zero : daemonStart.setForward - then.setForward
        return passed - then.passed + forward
    }

    /// The most since a success. When a daemon took the time of day of it from the disk is not known.
    ///
    /// - Parameter isFollowed: whether the daemon that saw it remembers it without the disk.
    func mostPassed(sinceSuccess then: Moment, isFollowed: Bool) -> Duration {
        let isRemembered = isFollowed && then.run == daemonStart.run
        return passed - then.passed + (isRemembered ? .zero : setForward - then.setForward)
    }
}
