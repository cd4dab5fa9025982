/// A case of somebody's test suite: what it is called there, and what is to be read.
package struct NamedInput: Sendable {
    package let name: String
    package let bytes: [UInt8]

    package init(_ name: String, _ text: String) {
        self.name = name
        bytes = Array(text.utf8)
    }

    /// What is not UTF-8, as hexadecimal digits, two a byte.
    package init(_ name: String, digits: String) {
        let digits = Array(digits)
        self.name = name
        bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }
}
