internal import ArgumentParser
package import Glibc

/// A point in time on the command line, by the local clock: `22:00`, `tomorrow`, `tomorrow 8:30`, `2026-12-24 18:00`;
/// or as JSON has it, with its zone: `2026-12-24T17:00:00.250Z`, whose fraction is left out.
///
/// A time of day that is over today is tomorrow's; a day alone is its midnight.
package struct PointInTime: Equatable {
    static let help = "such as 22:00, \"tomorrow 8:30\" or \"2026-12-24 18:00\""

    private var day = Day.next
    private var (hour, minute, second): (Int32, Int32, Int32) = (0, 0, 0)
    /// Seconds that its clock is before that of Greenwich; `nil` for the local one.
    private var zone: Int?

    private enum Day: Equatable {
        /// The next one on which that time of day is still to come.
        case next
        case today, tomorrow, yesterday
        case date(year: Int32, month: Int32, day: Int32)
    }

    /// Reads it.
    package static func parse(_ text: String) throws -> PointInTime {
        // ISO 8601 divides them by a T: 2026-12-24T18:00.
        let isDateWithTime =
            text.utf8.count > 10 && text.utf8.first.map { (0x30...0x39).contains($0) } == true
        let words = text.split { $0 == " " || $0 == "T" && isDateWithTime }.map(String.init)
        guard let point = PointInTime(words) else {
            throw ValidationError("\"\(text)\" is no point in time; write it \(help)")
        }
        return point
    }

    private init?(_ words: [String]) {
        switch words.count {
        case 1:
            if readTime(words[0]) { return }
            guard let day = Self.day(words[0]) else { return nil }
            self.day = day
        case 2:
            guard let day = Self.day(words[0]) else { return nil }
            self.day = day
            guard readTime(isDate ? readZone(words[1]) : words[1]) else { return nil }
        default: return nil
        }
    }

    private var isDate: Bool { if case .date = day { true } else { false } }

    /// Takes a zone and a fraction of a second off a time of day: `Z`, `+01:00`, `-0530`.
    ///
    /// - Returns: what is left, which is no time of day where that was no zone.
    private mutating func readZone(_ word: String) -> String {
        var time = Substring(word)
        if time.last == "Z" {
            time.removeLast()
            zone = 0
        } else if let sign = time.lastIndex(where: { "+-".contains($0) }) {
            guard let seconds = Self.seconds(ofZone: time[sign...].dropFirst()) else { return "" }
            zone = time[sign] == "-" ? -seconds : seconds
            time = time[..<sign]
        }
        guard let point = time.firstIndex(where: { ".,".contains($0) }) else {
            return String(time)
        }
        let fraction = time[point...].dropFirst()
        let isFraction =
            !fraction.isEmpty && fraction.utf8.allSatisfy { (0x30...0x39).contains($0) }
            && time[..<point].count { $0 == ":" } == 2
        return isFraction ? String(time[..<point]) : ""
    }

    /// `01`, `0130` or `01:30`.
    private static func seconds(ofZone text: Substring) -> Int? {
        var digits = text
        if digits.utf8.count == 5, let middle = digits.firstIndex(of: ":"),
            digits.distance(from: digits.startIndex, to: middle) == 2
        {
            digits.remove(at: middle)
        }
        guard [2, 4].contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits)
        else { return nil }
        let (hours, minutes) = digits.utf8.count == 2 ? (number, 0) : (number / 100, number % 100)
        return hours < 24 && minutes < 60 ? hours * 3600 + minutes * 60 : nil
    }

    private static func day(_ word: String) -> Day? {
        switch word.lowercased() {
        case "today": return .today
        case "tomorrow": return .tomorrow
        case "yesterday": return .yesterday
        default:
            guard let parts = numbers(word, "-", 3...3), parts[0] >= 1970,
                (1...12).contains(parts[1]),
                (1...31).contains(parts[2])
            else { return nil }
            return .date(year: parts[0], month: parts[1], day: parts[2])
        }
    }

    private mutating func readTime(_ word: String) -> Bool {
        guard let parts = Self.numbers(word, ":", 2...3), parts[0] < 24, parts[1] < 60,
            parts.count == 2 || parts[2] < 60
        else { return false }
        (hour, minute, second) = (parts[0], parts[1], parts.count == 3 ? parts[2] : 0)
        return true
    }

    private static func numbers(
        _ word: String, _ separator: Character, _ count: ClosedRange<Int>
    ) -> [Int32]? {
        let parts = word.split(separator: separator, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.count <= 4 && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
                ? Int32(part) : nil
        }
        return numbers.count == parts.count && count.contains(parts.count) ? numbers : nil
    }

    /// How many seconds after the time of day `now` it is; negative where it is over, `nil` where there is no such day.
    ///
    /// - Parameter now: seconds since 1970, as of time(2).
    package func seconds(after now: time_t) -> Int? {
        var (clock, parts) = (now, tm())
        guard localtime_r(&clock, &parts) != nil else { return nil }
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (hour, minute, second, -1)
        switch day {
        case .today: break
        case .tomorrow: parts.tm_mday += 1
        case .yesterday: parts.tm_mday -= 1
        case .date(let year, let month, let day):
            (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
            // mktime(3) makes the 2nd of March of a 30th of February.
            var checked = parts
            if let zone {
                let point = timegm(&checked)
                return point == -1 || checked.tm_mday != day ? nil : Int(point) - zone - Int(now)
            }
            guard mktime(&checked) != -1, checked.tm_mday == day else { return nil }
        case .next:
            var today = parts
            if mktime(&today) <= now { parts.tm_mday += 1 }
        }
        let point = mktime(&parts)
        return point == -1 ? nil : Int(point - now)
    }

    /// How many seconds before the time of day `now` it was; `nil` where it is still to come, or there is no such day.
    ///
    /// A time of day that has not come today was yesterday's.
    package func seconds(before now: time_t) -> Int? {
        guard let ahead = seconds(after: now) else { return nil }
        guard ahead > 0 else { return -ahead }
        guard day == .next else { return nil }
        var past = self
        past.day = .today
        if let ahead = past.seconds(after: now), ahead <= 0 { return -ahead }
        past.day = .yesterday
        return past.seconds(after: now).map { -$0 }
    }
}

/// Since when, on the command line: a length of time, or a point in time that is over.
enum SinceOption {
    static let help =
        "such as 10min, 14:00, yesterday, \"2026-11-24 8:00\" or 2026-11-24T07:00:00Z"

    /// How many milliseconds ago that was.
    static func milliseconds(_ text: String) throws -> Int {
        if let span = try? SpanOption.milliseconds(text) { return span }
        guard let point = try? PointInTime.parse(text) else {
            throw ValidationError(
                "\"\(text)\" is neither a time nor how long ago one was; write it \(help)")
        }
        guard let seconds = point.seconds(before: WallClock.seconds) else {
            throw ValidationError("\"\(text)\" is still to come, or no day")
        }
        return seconds * 1000
    }
}
