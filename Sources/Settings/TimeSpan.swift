/// A length of time as people write it: `3min`, `1h 30min`, `1.5s`, `infinity`.
///
/// The units are those of systemd.time(7), "Parsing Time Spans". Two things are stricter than
/// systemd's parser: a number without a unit (seconds) must stand alone, because `1h 30` is more
/// often meant as minutes than as the 30 seconds systemd reads; and a sign is refused.
package enum TimeSpan: Sendable, Hashable {
    /// A length known to the microsecond, never negative.
    case finite(Duration)
    /// No end: written `infinity`.
    case infinite

    /// What is wrong with a text that is not a time span, as a clause without a full stop.
    package struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// Reads a time span.
    ///
    /// Fractions finer than a microsecond are cut off. The longest span is about 292,000 years.
    ///
    /// - Throws: ``Failure`` for anything else, also for an empty text and for what overflows.
    package init(parsing text: String) throws(Failure) {
        var parser = TimeSpanParser(text)
        self = try parser.timeSpan()
    }

    /// The length; `nil` for an infinite one.
    package var duration: Duration? {
        switch self {
        case .finite(let duration): duration
        case .infinite: nil
        }
    }

    /// Whole milliseconds, rounded up so that nothing waits too short; `nil` for an infinite one.
    package var milliseconds: Int64? {
        guard case .finite(let duration) = self else { return nil }
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, carry) = whole.addingReportingOverflow(rest)
        return overflow || carry ? .max : sum
    }
}

extension TimeSpan: CustomStringConvertible {
    /// The shortest text in days, hours, minutes and seconds that reads back as the same span.
    package var description: String {
        guard case .finite(let duration) = self else { return "infinity" }
        let (seconds, attoseconds) = duration.components
        let microseconds = attoseconds / 1_000_000_000_000
        if seconds == 0, microseconds != 0 { return Self.belowOneSecond(microseconds) }
        var parts: [String] = []
        for (unit, length, wrap) in Self.largeUnits {
            let count = wrap > 0 ? seconds / length % wrap : seconds / length
            if count > 0 { parts.append("\(count)\(unit)") }
        }
        let rest = seconds % 60
        if rest > 0 || microseconds > 0 || parts.isEmpty {
            parts.append("\(rest)\(Self.fraction(microseconds, digits: 6))s")
        }
        return parts.joined(separator: " ")
    }

    private static let largeUnits: [(unit: String, length: Int64, wrap: Int64)] = [
        ("d", 86400, 0), ("h", 3600, 24), ("min", 60, 60),
    ]

    private static func belowOneSecond(_ microseconds: Int64) -> String {
        guard microseconds >= 1000 else { return "\(microseconds)us" }
        return "\(microseconds / 1000)\(fraction(microseconds % 1000, digits: 3))ms"
    }

    /// `.5` for 500 of 1,000; nothing for 0.
    private static func fraction(_ part: Int64, digits: Int) -> String {
        guard part > 0 else { return "" }
        var text = String(part)
        text = "." + String(repeating: "0", count: digits - text.utf8.count) + text
        while text.hasSuffix("0") { text.removeLast() }
        return text
    }
}
