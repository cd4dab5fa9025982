internal import CLinux
internal import Glibc

/// Nanoseconds on the kernel's clocks. 2^63 of them are 292 years.
package enum MonotonicClock {
    /// CLOCK_MONOTONIC: since boot, without the time the machine slept (clock_gettime(2)).
    package static func now() -> Int64 {
        nanoseconds(CLOCK_MONOTONIC)
    }
}

/// The clock that goes on while the machine sleeps.
package enum BootTimeClock {
    /// CLOCK_BOOTTIME: nanoseconds since boot, sleep included (clock_gettime(2)).
    package static func now() -> Int64 {
        nanoseconds(CLOCK_BOOTTIME)
    }

    /// The same in clock ticks, as proc_pid_stat(5) has the start of a process.
    static func ticks() -> UInt64 {
        UInt64(clamping: now() / (1_000_000_000 / Int64(max(sysconf(Int32(_SC_CLK_TCK)), 1))))
    }
}

/// How long the machine has slept since it was started: how far CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC.
///
/// The two cannot be read at one moment. What was found stays for as long as no reading contradicts it, so that
/// only a sleep changes it.
package struct SleepClock: Sendable {
    private var slept: Int64 = 0

    package init() {}

    /// - Returns: nanoseconds of CLOCK_MONOTONIC, and how far the other clock is ahead of it.
    package mutating func read() -> (now: Int64, slept: Int64) {
        let before = MonotonicClock.now()
        let boot = BootTimeClock.now()
        let after = MonotonicClock.now()
        if slept < boot - after || slept > boot - before { slept = boot - after }
        return (after, slept)
    }
}

func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    // Fails on an unknown clock only.
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
