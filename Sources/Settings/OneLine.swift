extension String {
    /// The text in double quotes, cut to 64 characters, with everything escaped that could break
    /// a log line or a terminal.
    var quotedOnOneLine: String {
        "\"" + onOneLine(lengthMax: 64) + "\""
    }

    /// The text with control characters escaped, cut to `lengthMax` scalars.
    func onOneLine(lengthMax: Int) -> String {
        var result = ""
        var length = 0
        for scalar in unicodeScalars {
            if length == lengthMax { return result + "…" }
            length += 1
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator:
                result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default:
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// Writes a key path as TOML would: bare where that is possible, quoted elsewhere.
func keyPathText(_ path: [String]) -> String {
    path.map { part in
        let bare = part.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
        return bare && !part.isEmpty ? part.onOneLine(lengthMax: 64) : part.quotedOnOneLine
    }.joined(separator: ".")
}
