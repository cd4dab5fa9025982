internal import Glibc

/// The clock on the wall of some place: what it shows at a moment, and the moment at which it shows something.
///
/// It is a value, so that what is drawn by it depends on no setting of this process.
package struct LocalClock: Sendable {
    /// How many seconds it is before the clock of Greenwich, at a second since 1970.
    private let offset: @Sendable (Int) -> Int

    package init(offset: @escaping @Sendable (Int) -> Int) {
        self.offset = offset
    }

    /// That of this process: $TZ, or else that of the machine.
    static let here = LocalClock { seconds in
        var (clock, parts) = (time_t(seconds), tm())
        return localtime_r(&clock, &parts) == nil ? 0 : Int(parts.tm_gmtoff)
    }

    /// What a calendar and a clock show. Months and days count from 1, days of the week from 0, which is Sunday.
    struct Reading: Equatable {
        var year = 1970
        var month = 1
        var day = 1
        var weekday = 4
        var hour = 0
        var minute = 0
        var second = 0
    }

    /// The seconds since 1970 of the same reading at Greenwich: what can be counted with, over a change of the clock too.
    package func local(at seconds: Int) -> Int { seconds + offset(seconds) }

    /// When the clock shows these local seconds; the first time, where it shows them twice, and `nil` where it leaves
    /// them out.
    package func moment(ofLocal local: Int) -> Int? {
        // An offset holds for a day at least before and after a change, and is a day at most.
        let candidates = [offset(local - 86400), offset(local + 86400), offset(local)]
            .map { local - $0 }
        return candidates.filter { self.local(at: $0) == local }.min()
    }

    /// What it shows at a second since 1970.
    func reading(at seconds: Int) -> Reading {
        Self.reading(ofLocal: local(at: seconds))
    }

    /// What local seconds are on the calendar.
    static func reading(ofLocal local: Int) -> Reading {
        var (clock, parts) = (time_t(local), tm())
        guard gmtime_r(&clock, &parts) != nil else { return Reading() }
        return Reading(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            weekday: Int(parts.tm_wday), hour: Int(parts.tm_hour), minute: Int(parts.tm_min),
            second: Int(parts.tm_sec))
    }

    /// The local seconds of the first day of a month, which may be more than 12.
    static func local(year: Int, month: Int) -> Int {
        var parts = tm()
        parts.tm_year = Int32(clamping: year - 1900)
        parts.tm_mon = Int32(clamping: month - 1)
        parts.tm_mday = 1
        return Int(timegm(&parts))
    }

    // MARK: Words

    /// A moment in milliseconds since 1970 with its date: `2026-03-01 14:03:07`.
    func text(_ moment: Int) -> String {
        let seconds = moment / 1000
        return "\(date(seconds)) \(time(seconds))"
    }

    /// The date: `2026-03-01`.
    func date(_ seconds: Int) -> String {
        let reading = reading(at: seconds)
        return "\(reading.year)-\(Self.two(reading.month))-\(Self.two(reading.day))"
    }

    /// The time of day: `14:03:07`.
    func time(_ seconds: Int) -> String {
        let reading = reading(at: seconds)
        return "\(Self.two(reading.hour)):\(Self.two(reading.minute)):\(Self.two(reading.second))"
    }

    /// The zone as ISO 8601 has it: `UTC+01:00`.
    package func zone(_ seconds: Int) -> String {
        let offset = offset(seconds)
        let minutes = abs(offset) / 60
        return "UTC\(offset < 0 ? "-" : "+")\(Self.two(minutes / 60)):\(Self.two(minutes % 60))"
    }

    /// A number of two digits at least.
    static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}
