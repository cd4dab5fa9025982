internal import Glibc

/// The time of day, for people to read and to name.
enum WallClock {
    /// Seconds since 1970.
    static var seconds: time_t { time(nil) }

    /// The local date and time so many milliseconds ago: `2026-03-01 14:03:07`.
    static func text(millisecondsAgo milliseconds: Int) -> String {
        text(millisecondsAgo: milliseconds, "%Y-%m-%d %H:%M:%S")
    }

    /// The time of day of what was today, and the date with it of what was before.
    static func brief(millisecondsAgo milliseconds: Int) -> String {
        let date = "%Y-%m-%d"
        let isToday = text(millisecondsAgo: milliseconds, date) == text(millisecondsAgo: 0, date)
        return text(millisecondsAgo: milliseconds, isToday ? "%H:%M:%S" : "%Y-%m-%d %H:%M")
    }

    /// Now, for a line of a live view: the time of day for a person, with the date for a script.
    static func moment(_ style: Style) -> String {
        style.isTerminal ? text(millisecondsAgo: 0, "%H:%M:%S") : text(millisecondsAgo: 0)
    }

    private static func text(millisecondsAgo milliseconds: Int, _ format: String) -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let seconds =
            (Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000 - Int64(milliseconds)) / 1000
        var time = time_t(seconds)
        var parts = tm()
        var bytes = [CChar](repeating: 0, count: 32)
        guard localtime_r(&time, &parts) != nil,
            strftime(&bytes, bytes.count, format, &parts) > 0
        else { return "?" }
        return String(
            decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
