/// One entry of the tape that a text is parsed into: what it is, where it starts, and how long it
/// is.
///
/// Eight bytes, so that a frame of nothing but digits and commas costs four times its size and not
/// more. Keys are string tokens; the value follows its key.
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

    /// Makes a token whose extent is its length in bytes; of a container, the index of the token
    /// after it.
    @inline(__always)
    init(_ kind: Kind, at offset: Int, extent: Int) {
        bits =
            UInt64(kind.rawValue) &<< 60 | UInt64(truncatingIfNeeded: offset) &<< 30
            | UInt64(truncatingIfNeeded: extent)
    }

    /// What the token stands for.
    @inline(__always)
    var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: bits &>> 60)) ?? .null }

    /// Where it starts: in the text, or in the side buffer for an unescaped string.
    @inline(__always)
    var offset: Int { Int(truncatingIfNeeded: bits &>> 30) & JSONToken.valueMask }

    /// The length in bytes; of a container, the index of the token after it.
    @inline(__always)
    var extent: Int { Int(truncatingIfNeeded: bits) & JSONToken.valueMask }

    /// Tells whether it is a string, in whichever buffer.
    @inline(__always)
    var isString: Bool { kind == .plainString || kind == .unescapedString }

    /// The index of the token after this value, where this one stands at `index`.
    @inline(__always)
    func next(after index: Int) -> Int {
        bits &>> 60 >= UInt64(Kind.array.rawValue) ? extent : index &+ 1
    }

    @inline(__always)
    static var valueMask: Int { (1 << 30) - 1 }
}
