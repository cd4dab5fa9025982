import Glibc

/// What time it is, and what this program has used.
enum Clock {
    static let second: UInt64 = 1_000_000_000

    /// Nanoseconds from some instant on, which never go back.
    static func now() -> UInt64 { read(CLOCK_MONOTONIC) }

    /// Nanoseconds of processor time of this process.
    static func used() -> UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * second + UInt64(time.tv_nsec)
    }
}
