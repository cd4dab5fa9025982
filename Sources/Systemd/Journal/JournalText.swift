/// Entries as lines for a person: `notice background task ended  BGTASK_ID=42 BGTASK_NAME=sync`.
///
/// No content can forge a line, a field or a terminal escape: control characters, bytes that are not
/// UTF-8, and characters that end lines or turn the writing direction are escaped; a value that is
/// not one plain word is quoted, and a message that has the two spaces before the fields is too.
package enum JournalText {
    /// - Returns: one line with its newline.
    package static func line(_ entry: JournalEntry, levelPrefix: Bool) -> [UInt8] {
        var line: [UInt8] = []
        if levelPrefix {
            line.append(contentsOf: "<\(entry.level.rawValue)>".utf8)
        }
        line.append(contentsOf: entry.level.word.utf8)
        line.append(UInt8(ascii: " "))
        append(entry.message, to: &line, isBare: isPlainSentence)
        var separator = "  "
        for (key, value) in entry.fields {
            line.append(contentsOf: separator.utf8)
            line.append(contentsOf: key.name.utf8)
            line.append(UInt8(ascii: "="))
            append(value, to: &line, isBare: isPlainWord)
            separator = " "
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private static func append(
        _ value: JournalValue,
        to line: inout [UInt8],
        isBare: ([UInt8]) -> Bool
    ) {
        var content: [UInt8] = []
        value.append(to: &content)
        if isBare(content) {
            line.append(contentsOf: content)
        } else {
            appendQuoted(content, to: &line)
        }
    }

    /// Whether a value needs no quotes: printable ASCII without space, quote and backslash.
    private static func isPlainWord(_ content: [UInt8]) -> Bool {
        !content.isEmpty
            && content.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
    }

    /// Whether a message needs no quotes: printable ASCII, single spaces between words.
    private static func isPlainSentence(_ content: [UInt8]) -> Bool {
        var previous = UInt8(ascii: " ")
        for byte in content {
            guard (0x20...0x7e).contains(byte), byte != 0x22, byte != 0x5c else { return false }
            if byte == 0x20, previous == 0x20 { return false }
            previous = byte
        }
        return previous != 0x20
    }

    private static func appendQuoted(_ content: [UInt8], to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        var rest = content[...]
        while let byte = rest.first {
            let length = validLength(rest)
            let unit = rest.prefix(max(length, 1))
            rest = rest.dropFirst(unit.count)
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                line.append(contentsOf: [UInt8(ascii: "\\"), byte])
            } else if byte == UInt8(ascii: "\n") {
                line.append(contentsOf: "\\n".utf8)
            } else if byte == UInt8(ascii: "\t") {
                line.append(contentsOf: "\\t".utf8)
            } else if length == 0 || !isPrintable(unit) {
                for byte in unit {
                    line.append(contentsOf: escape(byte))
                }
            } else {
                line.append(contentsOf: unit)
            }
        }
        line.append(UInt8(ascii: "\""))
    }

    /// The length of the UTF-8 sequence at the front; 0 where there is none.
    private static func validLength(_ bytes: ArraySlice<UInt8>) -> Int {
        guard let first = bytes.first else { return 0 }
        let length =
            switch first {
            case 0x00...0x7f: 1
            case 0xc2...0xdf: 2
            case 0xe0...0xef: 3
            case 0xf0...0xf4: 4
            default: 0
            }
        let unit = bytes.prefix(length)
        return unit.count == length && String(validating: unit, as: UTF8.self) != nil ? length : 0
    }

    private static func isPrintable(_ unit: ArraySlice<UInt8>) -> Bool {
        guard let scalar = String(decoding: unit, as: UTF8.self).unicodeScalars.first else {
            return false
        }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: true
        }
    }

    /// `\x1b` for 27.
    private static func escape(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        let (high, low) = (Int(byte >> 4), Int(byte & 15))
        return [UInt8(ascii: "\\"), UInt8(ascii: "x"), digits[high], digits[low]]
    }
}
