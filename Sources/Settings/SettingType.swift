/// What a key takes, with its range.
package enum SettingType: Sendable, Equatable, CustomStringConvertible {
    case integer(ClosedRange<Int>)
    case time(ClosedRange<Duration>, infinity: Bool)
    case flag
    case choice([String])
    case group
    case users

    /// The type as it stands after "expected".
    package var description: String {
        switch self {
        case .integer(let range):
            "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .time(let range, let infinity):
            "a time span from \(TimeSpan.finite(range.lowerBound)) to "
                + "\(TimeSpan.finite(range.upperBound))\(infinity ? " or infinity" : "")"
        case .flag:
            "true or false"
        case .choice(let words):
            words.map { "\"\($0)\"" }.joined(separator: " or ")
        case .group:
            "the name of a group, or \"\" for none"
        case .users:
            "a list of users, by name or number"
        }
    }

    /// Reads a time span in its range; `nil` is infinity, and comes only where that is allowed.
    func duration(_ given: TOMLValue) throws(SettingProblem) -> Duration? {
        guard case .time(let range, let infinity) = self, case .string(let text) = given else {
            throw mismatch(given)
        }
        let span: TimeSpan
        do throws(TimeSpan.Failure) {
            span = try TimeSpan(parsing: text)
        } catch {
            throw SettingProblem(
                text: "\(text.quotedOnOneLine) is not a time span: \(error); expected \(self)"
            )
        }
        guard let duration = span.duration else {
            guard infinity else { throw outOfRange(text) }
            return nil
        }
        guard range.contains(duration) else { throw outOfRange(text) }
        return duration
    }

    func mismatch(_ given: TOMLValue) -> SettingProblem {
        var hint = ""
        switch (self, given) {
        case (.time, .integer), (.time, .float), (.time, .date): hint = "; write it as \"180s\""
        case (.integer, .string(let text)) where Int(text) != nil: hint = "; leave out the quotes"
        case (.flag, .string("true")), (.flag, .string("false")): hint = "; leave out the quotes"
        default: break
        }
        return SettingProblem(text: "expected \(self), found \(given.found)\(hint)")
    }

    func outOfRange(_ text: String) -> SettingProblem {
        SettingProblem(text: "\(text.onOneLine(lengthMax: 64)) is out of range: expected \(self)")
    }
}

/// The value of any setting.
package enum SettingValue: Sendable, Equatable, CustomStringConvertible {
    case integer(Int)
    /// `nil`: infinity.
    case time(Duration?)
    case flag(Bool)
    case word(String)
    case words([String])

    package var description: String {
        switch self {
        case .integer(let number): String(number)
        case .time(let duration): duration.map(TimeSpan.finite)?.description ?? "infinity"
        case .flag(let flag): String(flag)
        case .word(let word): word
        case .words(let words): "[\(words.map { "\"\($0)\"" }.joined(separator: ", "))]"
        }
    }
}

/// Why a value is refused, without its place.
package struct SettingProblem: Error, Equatable {
    let text: String
}
