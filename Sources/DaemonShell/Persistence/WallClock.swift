internal import BudgetCore
internal import Glibc
internal import TaskStore

/// The time of day, for people to read; no deadline depends on it.
enum WallClock {
    /// The local time of an instant that is so far from now, as hours, minutes and seconds.
    static func time(after duration: Duration) -> String {
        var time = time_t(wallClockSeconds() + Int64(duration.components.seconds))
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return "?" }
        return [parts.tm_hour, parts.tm_min, parts.tm_sec]
            .map { $0 < 10 ? "0\($0)" : "\($0)" }
            .joined(separator: ":")
    }

    /// The time that is recorded on disk.
    static func now() -> WallTime {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return WallTime(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
    }

    /// The day, in days since 1970-01-01 UTC, as shadow(5) has them.
    static func today() -> Int { Int(wallClockSeconds() / 86_400) }

    private static func wallClockSeconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec)
    }
}
