/// Works out the values of number literals whose grammar has been checked.
package enum JSONNumber {
    /// No number that means anything is longer; a longer one has no value here.
    private static let literalBytesMax = 4096

    /// The value of a literal without fraction and exponent; `nil` out of the range of `Int`.
    package static func integer(_ literal: UnsafeBufferPointer<UInt8>) -> Int? {
        let negative = literal.first == UInt8(ascii: "-")
        let digits = negative ? literal.dropFirst() : literal[...]
        guard digits.count > 18 else {
            var value = 0
            for byte in digits { value = value &* 10 &+ Int(byte &- UInt8(ascii: "0")) }
            return negative ? 0 &- value : value
        }
        var value = 0
        for byte in digits where !append(byte, to: &value, negative: negative) { return nil }
        return value
    }

    /// The value of any literal that is a whole number, such as `1.0`, `1e2` or `100e-2`.
    ///
    /// Exact: no step goes through a floating-point number.
    package static func wholeNumber(_ literal: UnsafeBufferPointer<UInt8>) -> Int? {
        let negative = literal.first == UInt8(ascii: "-")
        let (mantissa, exponent) = split(negative ? literal.dropFirst() : literal[...])
        var scale = exponent
        var pastPoint = false
        var value = 0
        var zeros = 0
        for byte in mantissa {
            if byte == UInt8(ascii: ".") {
                pastPoint = true
                continue
            }
            if pastPoint { scale &-= 1 }
            guard byte != UInt8(ascii: "0") else {
                zeros &+= 1
                continue
            }
            guard value == 0 || zeros < 19 else { return nil }
            if value != 0 {
                for _ in 0..<zeros
                where !append(UInt8(ascii: "0"), to: &value, negative: negative) { return nil }
            }
            zeros = 0
            guard append(byte, to: &value, negative: negative) else { return nil }
        }
        guard value != 0 else { return 0 }
        scale &+= zeros
        guard scale >= 0, scale < 19 else { return nil }
        for _ in 0..<scale where !append(UInt8(ascii: "0"), to: &value, negative: negative) {
            return nil
        }
        return value
    }

    /// The nearest double; `nil` where that would be infinite.
    package static func double(_ literal: UnsafeBufferPointer<UInt8>) -> Double? {
        guard literal.count <= literalBytesMax else { return nil }
        let value = Double(String(decoding: literal, as: UTF8.self))
        guard let value, value.isFinite else { return nil }
        return value
    }

    /// Appends a decimal digit; `false` where the value leaves the range of `Int`.
    private static func append(_ byte: UInt8, to value: inout Int, negative: Bool) -> Bool {
        let digit = Int(byte &- UInt8(ascii: "0"))
        let (shifted, tooLarge) = value.multipliedReportingOverflow(by: 10)
        let (sum, tooMuch) =
            negative
            ? shifted.subtractingReportingOverflow(digit) : shifted.addingReportingOverflow(digit)
        guard !tooLarge, !tooMuch else { return false }
        value = sum
        return true
    }

    /// Splits a literal into what stands before the exponent, and the exponent, cut to a range in
    /// which sums with the length of a literal stay exact.
    private static func split(
        _ literal: Slice<UnsafeBufferPointer<UInt8>>
    ) -> (mantissa: Slice<UnsafeBufferPointer<UInt8>>, exponent: Int) {
        guard let mark = literal.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) else {
            return (literal, 0)
        }
        let exponentMax = 1 << 40
        var exponent = 0
        let digits = literal[(mark + 1)...].drop { $0 < UInt8(ascii: "0") }
        for byte in digits where exponent < exponentMax {
            exponent = exponent &* 10 &+ Int(byte &- UInt8(ascii: "0"))
        }
        let negative = literal[mark + 1] == UInt8(ascii: "-")
        return (literal[..<mark], negative ? 0 &- exponent : exponent)
    }
}
