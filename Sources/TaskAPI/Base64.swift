/// Bytes as text, and back (RFC 4648, section 4, with padding).
package enum Base64 {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits =
                group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
            for place in 0..<4 {
                let digit = digits[Int(bits >> UInt32(18 - 6 * place)) & 63]
                text.append(place <= group.count ? digit : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` where the text is not the one encoding of some bytes.
    package static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3)
        for start in stride(from: 0, to: characters.count, by: 4) {
            let isLast = start + 4 == characters.count
            let group = characters[start..<start + 4]
            let filled = group.prefix { $0 != padding }.count
            guard filled == 4 || isLast && filled >= 2,
                group.dropFirst(filled).allSatisfy({ $0 == padding })
            else { return nil }
            var bits: UInt32 = 0
            for character in group.prefix(filled) {
                guard let value = values[Int(character)] else { return nil }
                bits = bits << 6 | UInt32(value)
            }
            bits <<= 6 * UInt32(4 - filled)
            // Bits that say nothing are zero, so that the same bytes are the same text.
            guard bits & (1 << UInt32(8 * (4 - filled)) - 1) == 0 else { return nil }
            for place in 0..<filled - 1 {
                bytes.append(UInt8(bits >> UInt32(16 - 8 * place) & 255))
            }
        }
        return bytes
    }

    /// The value of each character.
    private static let values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()
}
