internal import Glibc

/// The time of day, for people to read and to name.
package enum WallClock {
    /// Seconds since 1970.
    static var seconds: time_t { time(nil) }

    /// Milliseconds since 1970.
    static var milliseconds: Int {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int(now.tv_sec) * 1000 + Int(now.tv_nsec) / 1_000_000
    }

    /// So many milliseconds ago, in microseconds since 1970 as the journal has it; 1970 at the earliest.
    static func microseconds(millisecondsAgo milliseconds: Int) -> UInt64 {
        UInt64(max(0, Self.milliseconds - milliseconds)) * 1000
    }

    /// A point in time, in UTC as ISO 8601 has it: `2026-03-01T13:03:07.250Z`; `nil` before 1970 and after the year 9999.
    ///
    /// - Parameter moment: in milliseconds since 1970.
    package static func utc(_ moment: Int) -> String? {
        guard moments.contains(moment) else { return nil }
        var (seconds, parts) = (time_t(moment / 1000), tm())
        guard gmtime_r(&seconds, &parts) != nil else { return nil }
        let fraction = String(moment % 1000 + 1000).dropFirst()
        return text(&parts, "%Y-%m-%dT%H:%M:%S").map { "\($0).\(fraction)Z" }
    }

    private static let moments = 0..<253_402_300_800_000

    /// The local date and time so many milliseconds ago: `2026-03-01 14:03:07`.
    static func text(millisecondsAgo milliseconds: Int) -> String {
        text(millisecondsAgo: milliseconds, "%Y-%m-%d %H:%M:%S")
    }

    /// The time of day of what was today, and the date with it of what was before.
    package static func brief(millisecondsAgo milliseconds: Int) -> String {
        let date = "%Y-%m-%d"
        let isToday = text(millisecondsAgo: milliseconds, date) == text(millisecondsAgo: 0, date)
        return text(millisecondsAgo: milliseconds, isToday ? "%H:%M:%S" : "%Y-%m-%d %H:%M")
    }

    /// Now, for a line of a live view: the time of day for a person, with the date for a script.
    static func moment(_ style: Style) -> String {
        style.isTerminal ? text(millisecondsAgo: 0, "%H:%M:%S") : text(millisecondsAgo: 0)
    }

    private static func text(millisecondsAgo milliseconds: Int, _ format: String) -> String {
        let (moment, overflow) = Self.milliseconds.subtractingReportingOverflow(milliseconds)
        guard !overflow else { return "?" }
        var (seconds, parts) = (time_t(moment / 1000), tm())
        guard localtime_r(&seconds, &parts) != nil else { return "?" }
        return text(&parts, format) ?? "?"
    }

    private static func text(_ parts: inout tm, _ format: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 32)
        guard strftime(&bytes, bytes.count, format, &parts) > 0 else { return nil }
        return String(
            decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
