internal import Glibc

/// Reads tokens of a document; lives no longer than the scope that lends the document's storage.
@usableFromInline
struct JSONView {
    let text: UnsafePointer<UInt8>?
    @usableFromInline
    let tokens: UnsafePointer<JSONToken>
    let side: UnsafePointer<UInt8>?
    @usableFromInline
    let count: Int

    @usableFromInline
    init(
        text: UnsafePointer<UInt8>?,
        tokens: UnsafePointer<JSONToken>,
        side: UnsafePointer<UInt8>?,
        count: Int
    ) {
        self.text = text
        self.tokens = tokens
        self.side = side
        self.count = count
    }

    /// The token at an index; `null` past the end.
    @inlinable
    @inline(__always)
    subscript(_ index: Int) -> JSONToken {
        UInt(bitPattern: index) < UInt(bitPattern: count) ? tokens[index] : JSONToken.none
    }

    /// The bytes of a scalar, freed of escapes.
    @inline(__always)
    func bytes(of token: JSONToken) -> UnsafeBufferPointer<UInt8> {
        guard let base = token.has(.unescapedString) ? side : text else {
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        return UnsafeBufferPointer(start: base + token.offset, count: token.extent)
    }

    /// The string of a string token.
    @inline(__always)
    func string(of token: JSONToken) -> String {
        String(decoding: bytes(of: token), as: UTF8.self)
    }

    /// Tells whether a string token is exactly `name`.
    @inline(__always)
    func matches(_ token: JSONToken, _ name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard token.extent == length, let base = bytes(of: token).baseAddress else { return false }
        return memcmp(base, name.utf8Start, length) == 0
    }
}
