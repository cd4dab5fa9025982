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

    /// How many bytes a text encodes; `nil` where it is not the one encoding of some bytes.
    package static func byteCount(of text: String) -> Int? {
        var count: Int?
        withDigits(of: text) {
            count = $0.count / 4 * 3 - $0.reversed().prefix { $0 == padding }.count
        }
        return count
    }

    /// - Returns: `nil` where the text is not the one encoding of some bytes.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8]?
        withDigits(of: text) { characters in
            let most = characters.count / 4 * 3
            let filled = characters.count - characters.reversed().prefix { $0 == padding }.count
            bytes = [UInt8](unsafeUninitializedCapacity: most) { room, count in
                var bits: UInt32 = 0
                for index in 0..<characters.count {
                    let value = index < filled ? values[Int(characters[index])] : 0
                    bits = bits << 6 | UInt32(value)
                    guard index % 4 == 3 else { continue }
                    for place in 0..<3 {
                        room[count + place] = UInt8(
                            truncatingIfNeeded: bits >> UInt32(16 - 8 * place))
                    }
                    count += 3
                    bits = 0
                }
                count -= characters.count - filled
            }
        }
        return bytes
    }

    /// Has a text looked at that is the one encoding of some bytes.
    private static func withDigits(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        var text = text
        text.withUTF8 { characters in
            guard characters.count.isMultiple(of: 4) else { return }
            let padded = characters.reversed().prefix { $0 == padding }.count
            guard padded < 3, characters.dropLast(padded).allSatisfy({ values[Int($0)] < 64 })
            else {
                return
            }
            // Bits that say nothing are zero, so that the same bytes are the same text.
            if padded > 0 {
                let last = values[Int(characters[characters.count - padded - 1])]
                guard last & (padded == 1 ? 3 : 15) == 0 else { return }
            }
            body(characters)
        }
    }

    /// The value of each character; 255 of those that are no digit.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()
}
