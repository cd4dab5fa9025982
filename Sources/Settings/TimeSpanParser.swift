/// Reads the components of a time span from left to right, in microseconds.
struct TimeSpanParser {
    private let bytes: [UInt8]
    private var index = 0
    private var total: Int64 = 0

    /// Longer texts are refused before they are looked at; no honest time span comes near.
    private static let lengthMax = 256

    /// Microseconds in each unit (systemd.time(7): a month is 30.44 and a year 365.25 days).
    private static let units: [String: Int64] = {
        let byLength: [(Int64, [String])] = [
            (1, ["usec", "us", "µs", "μs"]),
            (1000, ["msec", "ms"]),
            (1_000_000, ["seconds", "second", "sec", "s"]),
            (60_000_000, ["minutes", "minute", "min", "m"]),
            (3_600_000_000, ["hours", "hour", "hr", "h"]),
            (86_400_000_000, ["days", "day", "d"]),
            (604_800_000_000, ["weeks", "week", "w"]),
            (2_629_800_000_000, ["months", "month", "M"]),
            (31_557_600_000_000, ["years", "year", "y"]),
        ]
        var units: [String: Int64] = [:]
        for (length, names) in byLength {
            for name in names { units[name] = length }
        }
        return units
    }()

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    mutating func timeSpan() throws(TimeSpan.Failure) -> TimeSpan {
        guard bytes.count <= Self.lengthMax else {
            throw TimeSpan.Failure(description: "too long for a time span")
        }
        skipSpaces()
        guard index < bytes.count else { throw TimeSpan.Failure(description: "empty") }
        if text(trimmedFrom: index) == "infinity" { return .infinite }
        var components = 0
        var bareNumber: String?
        while index < bytes.count {
            let start = index
            let hasUnit = try component()
            components += 1
            if !hasUnit { bareNumber = Self.text(bytes[start..<index]) }
            skipSpaces()
        }
        if let bareNumber, components > 1 {
            throw TimeSpan.Failure(description: "\(bareNumber) has no unit")
        }
        return .finite(.microseconds(total))
    }

    /// Adds one number and its unit to the total.
    ///
    /// - Returns: whether a unit was written.
    private mutating func component() throws(TimeSpan.Failure) -> Bool {
        let whole = digits()
        var fraction: ArraySlice<UInt8> = []
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            fraction = digits()
            guard !fraction.isEmpty else {
                throw TimeSpan.Failure(description: "expected digits after the point")
            }
        } else if whole.isEmpty {
            throw TimeSpan.Failure(description: "expected a number at \(rest())")
        }
        let afterNumber = index
        skipSpaces()
        let unit = letters()
        if unit.isEmpty { index = afterNumber }
        guard let length = Self.units[unit.isEmpty ? "s" : unit] else {
            throw TimeSpan.Failure(description: "unknown unit \(unit.quotedOnOneLine)")
        }
        try add(whole: whole, fraction: fraction, length: length)
        return !unit.isEmpty
    }

    private mutating func add(
        whole: ArraySlice<UInt8>,
        fraction: ArraySlice<UInt8>,
        length: Int64
    ) throws(TimeSpan.Failure) {
        var sum: Int64 = 0
        var fits = true
        for digit in whole {
            let (shifted, tooLarge) = sum.multipliedReportingOverflow(by: 10)
            let (next, carry) = shifted.addingReportingOverflow(Int64(digit &- 0x30))
            fits = fits && !tooLarge && !carry
            sum = next
        }
        let (product, tooLarge) = sum.multipliedReportingOverflow(by: length)
        var (result, carry) = total.addingReportingOverflow(product)
        fits = fits && !tooLarge && !carry
        var remainder = Self.part(fraction, of: length)
        (remainder, carry) = result.addingReportingOverflow(remainder)
        result = remainder
        guard fits, !carry else {
            throw TimeSpan.Failure(description: "longer than a time span can be")
        }
        total = result
    }

    /// The digits after the point as a share of a unit, cut off below a microsecond.
    private static func part(_ fraction: ArraySlice<UInt8>, of length: Int64) -> Int64 {
        var numerator: Int64 = 0
        var denominator: Int64 = 1
        for digit in fraction.prefix(18) {
            numerator = numerator * 10 + Int64(digit &- 0x30)
            denominator *= 10
        }
        let (high, low) = length.multipliedFullWidth(by: numerator)
        return denominator.dividingFullWidth((high, low)).quotient
    }

    private mutating func digits() -> ArraySlice<UInt8> {
        let start = index
        while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
        return bytes[start..<index]
    }

    /// A run of letters; bytes of the Greek mu count, for `µs`.
    private mutating func letters() -> String {
        let start = index
        while index < bytes.count,
            (0x41...0x5A).contains(bytes[index] & 0xDF) || bytes[index] >= 0x80
        {
            index += 1
        }
        return Self.text(bytes[start..<index])
    }

    private mutating func skipSpaces() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private func rest() -> String {
        index < bytes.count ? Self.text(bytes[index...]).quotedOnOneLine : "the end"
    }

    private func text(trimmedFrom start: Int) -> String {
        var end = bytes.count
        while end > start, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[end - 1]) { end -= 1 }
        return Self.text(bytes[start..<end])
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
