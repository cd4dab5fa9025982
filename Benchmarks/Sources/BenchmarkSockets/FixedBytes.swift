internal import Glibc

/// Bytes that do not change, kept until the program ends.
public struct FixedBytes {
    /// Where they are, also where there are none.
    public let start: UnsafePointer<UInt8>
    /// How many there are.
    public let count: Int

    /// The bytes of a text.
    public init(_ text: String) {
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: text.utf8.count + 1)
        copy.initialize(repeating: 0, count: text.utf8.count + 1)
        for (place, byte) in text.utf8.enumerated() { copy[place] = byte }
        start = UnsafePointer(copy)
        count = text.utf8.count
    }

    /// Whether others, of which there are at least as many, begin with these.
    public func begin(_ others: UnsafePointer<UInt8>) -> Bool {
        memcmp(others, start, count) == 0
    }
}
