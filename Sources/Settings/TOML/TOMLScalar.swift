/// Tells what a word without quotes is: a boolean, a number, a date or a time.
enum TOMLScalar {
    case value(TOMLValue)
    case tooLarge
    case invalid

    static func read(_ word: String) -> TOMLScalar {
        if word == "true" || word == "false" { return .value(.boolean(word == "true")) }
        let bytes = Array(word.utf8)
        if TOMLDate.isDate(bytes) { return .value(.date(word)) }
        if let prefixed = prefixedInteger(bytes) { return prefixed }
        return decimal(bytes, word)
    }

    /// `0x`, `0o` and `0b`, which take no sign.
    private static func prefixedInteger(_ bytes: [UInt8]) -> TOMLScalar? {
        guard bytes.count > 1, bytes[0] == UInt8(ascii: "0") else { return nil }
        let radix: Int
        switch bytes[1] {
        case UInt8(ascii: "x"): radix = 16
        case UInt8(ascii: "o"): radix = 8
        case UInt8(ascii: "b"): radix = 2
        default: return nil
        }
        guard let digits = digits(bytes[2...], radix: radix) else { return .invalid }
        return Int(digits, radix: radix).map { .value(.integer($0)) } ?? .tooLarge
    }

    private static func decimal(_ bytes: [UInt8], _ word: String) -> TOMLScalar {
        var rest = bytes[...]
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let unsigned = String(decoding: rest, as: UTF8.self)
        if unsigned == "inf" || unsigned == "nan" { return .value(.float(word)) }
        let exponent = rest.firstIndex { $0 | 0x20 == UInt8(ascii: "e") }
        if let exponent {
            var power = rest[rest.index(after: exponent)...]
            if power.first == UInt8(ascii: "+") || power.first == UInt8(ascii: "-") {
                power.removeFirst()
            }
            guard digits(power, radix: 10) != nil else { return .invalid }
            rest = rest[..<exponent]
        }
        let point = rest.firstIndex(of: UInt8(ascii: "."))
        if let point {
            guard digits(rest[rest.index(after: point)...], radix: 10) != nil else {
                return .invalid
            }
            rest = rest[..<point]
        }
        guard let whole = digits(rest, radix: 10), whole == "0" || !whole.hasPrefix("0") else {
            return .invalid
        }
        if exponent != nil || point != nil { return .value(.float(word)) }
        let sign = bytes.first == UInt8(ascii: "-") ? "-" : ""
        return Int(sign + whole).map { .value(.integer($0)) } ?? .tooLarge
    }

    /// The digits without their underscores, each of which must stand between two digits.
    private static func digits(_ bytes: ArraySlice<UInt8>, radix: Int) -> String? {
        var result = ""
        var afterDigit = false
        for byte in bytes {
            if byte == UInt8(ascii: "_"), afterDigit {
                afterDigit = false
                continue
            }
            let character = Character(Unicode.Scalar(byte))
            guard let value = character.hexDigitValue, value < radix else { return nil }
            result.append(character)
            afterDigit = true
        }
        return afterDigit ? result : nil
    }
}

/// Recognises dates and times (RFC 3339, as TOML narrows it).
enum TOMLDate {
    static func isDate(_ bytes: [UInt8]) -> Bool {
        guard let date = numbers(bytes.prefix(10), "dddd-dd-dd") else {
            return isTime(bytes[...])
        }
        guard (1...12).contains(date[1]),
            (1...days(inMonth: date[1], of: date[0])).contains(date[2])
        else { return false }
        guard bytes.count > 10 else { return true }
        guard bytes[10] | 0x20 == UInt8(ascii: "t") || bytes[10] == 0x20 else { return false }
        let rest = bytes[11...]
        guard
            let zone = rest.firstIndex(where: {
                $0 | 0x20 == UInt8(ascii: "z") || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
            })
        else { return isTime(rest) }
        return isTime(rest[..<zone]) && isZone(rest[zone...])
    }

    /// `07:32:00` with or without a fraction.
    private static func isTime(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let time = numbers(bytes.prefix(8), "dd:dd:dd"),
            time[0] < 24, time[1] < 60, time[2] <= 60
        else { return false }
        let rest = bytes.dropFirst(8)
        if rest.isEmpty { return true }
        return rest.count > 1 && rest.first == UInt8(ascii: ".")
            && rest.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isZone(_ bytes: ArraySlice<UInt8>) -> Bool {
        if bytes.count == 1 { return (bytes.first ?? 0) | 0x20 == UInt8(ascii: "z") }
        guard let offset = numbers(bytes.dropFirst(), "dd:dd") else { return false }
        return bytes.first != UInt8(ascii: "z") && bytes.first != UInt8(ascii: "Z")
            && offset[0] < 24 && offset[1] < 60
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    /// The numbers of a text that has exactly the form of `shape`, where `d` is a digit.
    private static func numbers(_ bytes: ArraySlice<UInt8>, _ shape: String) -> [Int]? {
        guard bytes.count == shape.utf8.count else { return nil }
        var numbers = [0]
        for (byte, form) in zip(bytes, shape.utf8) {
            if form == UInt8(ascii: "d") {
                guard (0x30...0x39).contains(byte) else { return nil }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte - 0x30)
            } else {
                guard byte == form else { return nil }
                numbers.append(0)
            }
        }
        return numbers
    }
}
