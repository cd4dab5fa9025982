internal import Glibc

/// Remembers the names of the methods last called, so that a call need not make a string of its
/// own.
struct MethodNames: Sendable {
    private var names: [String] = []
    private var oldest = 0

    private static let countMax = 8

    /// The string of these bytes, which are UTF-8.
    ///
    /// - Throws: where they are not an interface, a dot and a member.
    mutating func string(
        _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ProtocolViolation) -> String {
        for name in names where MethodNames.equal(name, bytes) { return name }
        guard CallEnvelope.isQualified(bytes) else { throw .badName }
        let name = String(decoding: bytes, as: UTF8.self)
        if names.count < MethodNames.countMax {
            names.append(name)
        } else {
            names[oldest] = name
            oldest = (oldest &+ 1) % MethodNames.countMax
        }
        return name
    }

    @inline(__always)
    private static func equal(_ name: String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard name.utf8.count == bytes.count, let base = bytes.baseAddress else { return false }
        return name.utf8.withContiguousStorageIfAvailable {
            memcmp($0.baseAddress ?? base, base, bytes.count) == 0
        } ?? false
    }
}
