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
}

private func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    // Fails on an unknown clock only.
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
