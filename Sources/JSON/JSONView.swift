public import Glibc

/// Reads tokens of a document; lives no longer than the scope that lends the document's storage.
@usableFromInline
package struct JSONView {
    @usableFromInline
    let text: UnsafePointer<UInt8>?
    @usableFromInline
    let tokens: UnsafePointer<JSONToken>
    @usableFromInline
    let side: UnsafePointer<UInt8>?
    /// How many tokens there are.
    @usableFromInline
    package let count: Int

    @inlinable
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
    package subscript(_ index: Int) -> JSONToken {
        UInt(bitPattern: index) < UInt(bitPattern: count) ? tokens[index] : JSONToken.none
    }

    /// The bytes of a scalar, freed of escapes.
    @inlinable
    @inline(__always)
    package func bytes(of token: JSONToken) -> UnsafeBufferPointer<UInt8> {
        guard let base = token.has(.unescapedString) ? side : text else {
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        return UnsafeBufferPointer(start: base + token.offset, count: token.extent)
    }

    /// The string of a string token.
    @inlinable
    @inline(__always)
    package func string(of token: JSONToken) -> String {
        String(decoding: bytes(of: token), as: UTF8.self)
    }

    /// Tells whether a string token is exactly `name`.
    @inlinable
    @inline(__always)
    package func matches(_ token: JSONToken, _ name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard token.extent == length, let base = bytes(of: token).baseAddress else { return false }
        return memcmp(base, name.utf8Start, length) == 0
    }
}
