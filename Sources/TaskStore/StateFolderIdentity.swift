internal import BudgetCore

/// The number of a state folder, made once with its store: by it an executor knows whose commands it runs, over all
/// daemons that work with the folder one after the other.
package struct StateFolderIdentity: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    /// `nil` where both are 0, which is nobody.
    package init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        self.high = high
        self.low = low
    }
}

/// A number of 128 bits as the store has it: 32 hexadecimal digits.
struct NumberText {
    let text: String

    init(_ high: UInt64, _ low: UInt64) {
        text = [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// The halves of one; `nil` where the text is none.
    static func halves(_ text: String) -> (high: UInt64, low: UInt64)? {
        let digits = Array(text.utf8)
        guard digits.count == 32 else { return nil }
        var halves: [UInt64] = []
        for half in [digits[..<16], digits[16...]] {
            var number: UInt64 = 0
            for digit in half {
                guard let value = value(of: digit) else { return nil }
                number = number << 4 | value
            }
            halves.append(number)
        }
        return (halves[0], halves[1])
    }

    private static func value(of digit: UInt8) -> UInt64? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a")) + 10
        default: nil
        }
    }
}

extension ExecutorInstance {
    /// As the store has it.
    var stored: String { NumberText(high, low).text }

    init?(stored text: String) {
        guard let (high, low) = NumberText.halves(text) else { return nil }
        self.init(high: high, low: low)
    }
}
