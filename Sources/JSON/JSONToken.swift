/// One entry of the tape that a text is parsed into: what it is, where it starts, and how long it
/// is.
///
/// Eight bytes, so that a frame of nothing but digits and commas costs four times its size, and room that is
/// made for more of them at most twice that. Keys are string tokens; the value follows its key.
@usableFromInline
package struct JSONToken: Sendable {
    @usableFromInline
    let bits: UInt64

    /// What a token stands for.
    @usableFromInline
    package enum Kind: UInt8, Sendable {
        case null
        case bool
        /// A number without fraction and exponent.
        case integer
        case number
        /// A string whose bytes stand in the text as they are.
        case plainString
        /// A string whose bytes, freed of escapes, stand in the side buffer.
        case unescapedString
        case array
        case object
    }

    /// The largest offset, length or index that fits: 1 GiB.
    static let valueMax = (1 << 30) - 1

    /// `null`, for where there is no token.
    @inlinable
    @inline(__always)
    package static var none: JSONToken { JSONToken(bits: 0) }

    /// Makes a token whose extent is its length in bytes; of a container, the index of the token
    /// after it.
    @inlinable
    @inline(__always)
    package init(_ kind: Kind, at offset: Int, extent: Int) {
        bits =
            UInt64(kind.rawValue) &<< 60 | UInt64(truncatingIfNeeded: offset) &<< 30
            | UInt64(truncatingIfNeeded: extent)
    }

    /// The same container, with the index of the token after it, or while it is open of the one around it.
    @inlinable
    @inline(__always)
    func with(extent: Int) -> JSONToken {
        JSONToken(bits: bits & ~UInt64(JSONToken.valueMask) | UInt64(truncatingIfNeeded: extent))
    }

    @usableFromInline
    @inline(__always)
    init(bits: UInt64) { self.bits = bits }

    /// Tells whether it is of a kind.
    @inlinable
    @inline(__always)
    package func has(_ kind: Kind) -> Bool { bits &>> 60 == UInt64(kind.rawValue) }

    /// What the token stands for.
    // The initializer from a raw value is a call at each token.
    @inlinable
    @inline(__always)
    package var kind: Kind {
        switch bits &>> 60 {
        case 0: .null
        case 1: .bool
        case 2: .integer
        case 3: .number
        case 4: .plainString
        case 5: .unescapedString
        case 6: .array
        default: .object
        }
    }

    /// Where it starts: in the text, or in the side buffer for an unescaped string.
    @inlinable
    @inline(__always)
    package var offset: Int { Int(truncatingIfNeeded: bits &>> 30) & JSONToken.valueMask }

    /// The length in bytes; of a container, the index of the token after it.
    @inlinable
    @inline(__always)
    package var extent: Int { Int(truncatingIfNeeded: bits) & JSONToken.valueMask }

    /// Tells whether it is a string, in whichever buffer.
    @inlinable
    @inline(__always)
    package var isString: Bool { has(.plainString) || has(.unescapedString) }

    /// Tells of a truth value whether it is `true`.
    @inlinable
    @inline(__always)
    package var isTrue: Bool { extent == 4 }

    /// The index of the token after this value, where this one stands at `index`.
    @inlinable
    @inline(__always)
    package func next(after index: Int) -> Int {
        bits &>> 60 >= 6 ? extent : index &+ 1
    }

    @usableFromInline
    @inline(__always)
    static var valueMask: Int { (1 << 30) - 1 }
}
