/// A span of time that is drawn from left to right, and what is written along it.
package struct TimeAxis: Sendable {
    /// In milliseconds since 1970.
    package let begin: Int
    package let end: Int
    package let clock: LocalClock

    /// Less cannot be told apart on it.
    private static let lengthMin = 2000

    /// - Parameter end: later than `begin`, or what is drawn is two seconds long.
    package init(begin: Int, end: Int, clock: LocalClock) {
        self.begin = max(0, min(begin, end))
        self.end = max(end, self.begin + Self.lengthMin)
        self.clock = clock
    }

    var length: Int { end - begin }

    /// How far along it a moment is, from 0 to 1; what is before or behind it is at its end.
    func fraction(_ moment: Int) -> Double {
        Double(min(max(moment, begin), end) - begin) / Double(length)
    }

    /// The moment that far along it.
    func moment(_ fraction: Double) -> Int {
        begin + Int(Double(length) * min(max(fraction, 0), 1))
    }

    /// The span in words: `2026-11-25 08:00:00 – 2026-11-25 10:00:00 (UTC+01:00)`.
    package var title: String {
        let zones = [clock.zone(begin / 1000), clock.zone(end / 1000)]
        let zone = zones[0] == zones[1] ? zones[0] : zones.joined(separator: ", then ")
        let isOneDay = clock.date(begin / 1000) == clock.date(end / 1000)
        let last = isOneDay ? clock.time(end / 1000) : clock.text(end)
        return "\(clock.text(begin)) – \(last) (\(zone))"
    }

    // MARK: Ticks

    /// A moment that is named on the axis.
    package struct Tick: Equatable, Sendable {
        /// In milliseconds since 1970.
        package let moment: Int
        package let label: String
        /// The day, where the label is a time of day and the tick is the first of that day.
        package let day: String?
    }

    /// How far ticks are from each other.
    package enum Step: Equatable, Sendable {
        /// A part of an hour, which goes on over a change of the clock.
        case seconds(Int)
        case hours(Int)
        case days(Int)
        case weeks(Int)
        case months(Int)

        static let all: [Step] =
            [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600].map(Step.seconds)
            + [2, 3, 6, 12].map(Step.hours) + [1, 2].map(Step.days) + [1, 2].map(Step.weeks)
            + [1, 3, 6, 12, 24, 60, 120, 240, 600].map(Step.months)

        /// The shortest time between two ticks, in seconds.
        fileprivate var secondsMin: Int {
            switch self {
            case .seconds(let count): count
            case .hours(let count): count * 3600
            case .days(let count): count * 86400
            case .weeks(let count): count * 7 * 86400
            case .months(let count): count * 28 * 86400
            }
        }

        /// The characters of its longest label.
        fileprivate var labelWidth: Int {
            switch self {
            case .seconds(let count) where count < 60: 8
            case .seconds, .hours: 5
            case .days, .weeks: 6
            case .months(let count): count % 12 == 0 ? 4 : 8
            }
        }
    }

    /// The finest step whose labels have room.
    ///
    /// - Parameter characters: how many are as wide as the axis.
    package func step(characters: Int) -> Step {
        let seconds = Double(length) / 1000
        let fitting = Step.all.first { step in
            let count = seconds / Double(step.secondsMin)
            return count * Double(step.labelWidth + 3) <= Double(max(characters, 1))
        }
        return fitting ?? .months(1200)
    }

    /// What is named on the axis, from left to right.
    package func ticks(_ step: Step) -> [Tick] {
        var day: String?
        return moments(step).map { seconds in
            let reading = clock.reading(at: seconds)
            switch step {
            case .seconds, .hours:
                let name = Self.day(reading)
                defer { day = name }
                let isFine = if case .seconds(..<60) = step { true } else { false }
                let time = clock.time(seconds)
                return Tick(
                    moment: seconds * 1000, label: isFine ? time : String(time.prefix(5)),
                    day: name == day ? nil : name)
            case .days, .weeks:
                return Tick(
                    moment: seconds * 1000,
                    label: "\(reading.day) \(Self.months[reading.month - 1])", day: nil)
            case .months(let count):
                let month = count % 12 == 0 ? "" : "\(Self.months[reading.month - 1]) "
                return Tick(moment: seconds * 1000, label: "\(month)\(reading.year)", day: nil)
            }
        }
    }

    /// A day in words: `Wed 25 Nov`.
    private static func day(_ reading: LocalClock.Reading) -> String {
        "\(weekdays[reading.weekday % 7]) \(reading.day) \(months[(reading.month - 1) % 12])"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The seconds since 1970 of the ticks within the axis, each later than the one before.
    private func moments(_ step: Step) -> [Int] {
        let (first, last) = ((begin + 999) / 1000, end / 1000)
        guard first <= last else { return [] }
        switch step {
        case .seconds(let count):
            let offset = clock.local(at: first) - first
            let start = Self.roundedUp(first + offset, to: count) - offset
            return Array(stride(from: start, through: last, by: count))
        case .hours(let count): return moments(every: count * 3600, from: 0)
        case .days(let count): return moments(every: count * 86400, from: 0)
        // The first Monday of 1970 was the 5th.
        case .weeks(let count): return moments(every: count * 7 * 86400, from: 4 * 86400)
        case .months(let count): return moments(ofLocals: months(every: count))
        }
    }

    /// The moments within the axis at which the clock shows a multiple of some seconds behind a start.
    private func moments(every step: Int, from start: Int) -> [Int] {
        let (first, last) = locals
        let next = Self.roundedUp(first - start, to: step) + start
        return moments(ofLocals: Array(stride(from: next, through: last, by: step)))
    }

    /// The moments within the axis at which the clock shows these. One that it leaves out has none.
    private func moments(ofLocals locals: [Int]) -> [Int] {
        var found: [Int] = []
        for moment in locals.compactMap(clock.moment(ofLocal:))
        where begin...end ~= moment * 1000 && moment > found.last ?? -1 {
            found.append(moment)
        }
        return found
    }

    /// The local seconds at which months begin, from January on in steps of so many.
    private func months(every count: Int) -> [Int] {
        let (first, last) = locals
        let reading = LocalClock.reading(ofLocal: first)
        var found: [Int] = []
        var month = (reading.year * 12 + reading.month - 1) / count * count
        while true {
            let local = LocalClock.local(year: month / 12, month: month % 12 + 1)
            guard local <= last, month < Self.monthMax else { return found }
            if local >= first { found.append(local) }
            month += count
        }
    }

    private static let monthMax = 12 * 20_000

    /// What the clock shows at both ends; a day more, since one that was set back shows less at the end.
    private var locals: (first: Int, last: Int) {
        let (first, last) = (clock.local(at: begin / 1000), clock.local(at: end / 1000))
        return (first, max(first, last) + 86400)
    }

    private static func roundedUp(_ number: Int, to step: Int) -> Int {
        let rest = number % step
        return rest == 0 ? number : rest > 0 ? number - rest + step : number - rest
    }
}
