/// Shows text that somebody else wrote so that it cannot steer a terminal or forge a line.
package enum VisibleText {
    /// The text on one line: every control and format character is shown as an escape.
    package static func oneLine(_ text: String) -> String {
        escaped(text, keeping: [])
    }

    /// The text with its newlines and tabs; every other control and format character is shown as an escape.
    package static func lines(_ text: String) -> String {
        escaped(text, keeping: ["\n", "\t"])
    }

    /// JSON text with the characters escaped that steer a terminal and that JSON lets stand.
    ///
    /// Such characters are in strings only, so that the text means what it meant.
    static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            guard isUnsafe(scalar) else {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }
        }
        return result
    }

    private static func escaped(_ text: String, keeping kept: Set<Unicode.Scalar>) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if !isUnsafe(scalar) || kept.contains(scalar) {
                result.unicodeScalars.append(scalar)
            } else if scalar.value < 0x100 {
                let digits = String(scalar.value, radix: 16)
                result += digits.utf8.count < 2 ? "\\x0" + digits : "\\x" + digits
            } else {
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            }
        }
        return result
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
