/// The memory that a text is parsed into: its tokens, and what its strings with escapes say without
/// them.
///
/// An array asks at each token whether it is shared and where its room ends, which costs more than
/// the token itself; so this memory is kept by hand, and it is here alone that a pointer is written
/// through. That is safe, because
/// - `tokens` and `side` point to `capacity` and `sideCapacity` elements from `init` to `deinit`, and
///   no count is ever more than that: the parser asks before each value, which is two tokens with its
///   key, whether there is room, and what appends to the side asks itself;
/// - below a count all memory is written, and no pointer leaves but in a `JSONView`, which stops at
///   the count, and in the parser's `JSONTapeWriter`; both live no longer than the scope that holds the tape;
/// - what `sideRoom` gives is written, and counted, before anything else is asked of the side;
/// - one parser writes while nobody else has the tape (`taken`), and afterwards nobody does.
@usableFromInline
package final class JSONTape: @unchecked Sendable {  // After parsing it is only read.
    @usableFromInline
    fileprivate(set) var tokens: UnsafeMutablePointer<JSONToken>
    @usableFromInline
    fileprivate(set) var count = 0
    @usableFromInline
    fileprivate(set) var side: UnsafeMutablePointer<UInt8>?
    fileprivate var capacity = JSONTape.tokensMin
    private(set) var sideCount = 0
    private var sideCapacity = 0

    /// As many tokens as a short call has.
    static let tokensMin = 16
    private static let sideBytesMin = 64
    /// A tape that holds at most so many bytes is kept for the next text; a larger one is given back with its
    /// document.
    private static let byteCountKept = 4096

    init() {
        tokens = .allocate(capacity: JSONTape.tokensMin)
    }

    deinit {
        tokens.deallocate()
        side?.deallocate()
    }

    /// An empty tape: the spare one, unless a document has that still.
    static func taken(from spare: inout JSONTape?) -> JSONTape {
        guard isKnownUniquelyReferenced(&spare), let tape = spare.take() else { return JSONTape() }
        tape.count = 0
        tape.sideCount = 0
        return tape
    }

    /// Whether it is small enough to be kept for the next text.
    var isKept: Bool { byteCount <= JSONTape.byteCountKept }

    /// The bytes that it holds, written or not.
    private var byteCount: Int { capacity &* MemoryLayout<JSONToken>.stride &+ sideCapacity }

    /// Moves the tokens to twice the room.
    @inline(never)
    fileprivate func grow(keeping count: Int) {
        let larger = UnsafeMutablePointer<JSONToken>.allocate(capacity: capacity * 2)
        larger.initialize(from: tokens, count: count)
        tokens.deallocate()
        tokens = larger
        capacity *= 2
    }

    /// Appends what a string says.
    func appendToSide(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        if sideCapacity &- sideCount < bytes.count { growSide(by: bytes.count) }
        guard let side else { return }
        (side + sideCount).initialize(from: base, count: bytes.count)
        sideCount &+= bytes.count
    }

    /// Gives the place of what a string says next, with room for at least so many bytes; `wroteToSide` tells how many
    /// they were.
    @inline(__always)
    func sideRoom(for most: Int) -> UnsafeMutablePointer<UInt8> {
        if let side, sideCapacity &- sideCount >= most { return side + sideCount }
        return growSide(by: most) + sideCount
    }

    /// Counts bytes that have been written where `sideRoom` told.
    @inline(__always)
    func wroteToSide(_ more: Int) { sideCount &+= more }

    @discardableResult
    @inline(never)
    private func growSide(by more: Int) -> UnsafeMutablePointer<UInt8> {
        let room = max(sideCount + more, 2 * sideCapacity, JSONTape.sideBytesMin)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
        if let side { larger.initialize(from: side, count: sideCount) }
        side?.deallocate()
        side = larger
        sideCapacity = room
        return larger
    }
}

/// Writes the tokens of one text, with what it needs for it in registers.
///
/// Lives no longer than the scope that holds the tape: a reference that is counted would have to be
/// released in every way out of the parser, which keeps the whole parser in memory.
struct JSONTapeWriter {
    unowned(unsafe) let tape: JSONTape
    private var tokens: UnsafeMutablePointer<JSONToken>
    private var capacity: Int
    private(set) var count = 0

    /// Starts with an empty tape.
    @inline(__always)
    init(_ tape: JSONTape) {
        self.tape = tape
        tokens = tape.tokens
        capacity = tape.capacity
    }

    /// Whether a key and its value fit.
    @inline(__always)
    var hasRoom: Bool { capacity &- count >= 2 }

    /// Makes room for as many tokens again.
    mutating func makeRoom() {
        tape.grow(keeping: count)
        tokens = tape.tokens
        capacity = tape.capacity
    }

    /// Appends a token, for which there has to be room.
    @inline(__always)
    mutating func append(_ token: JSONToken) {
        assert(count < capacity, "no room for a token")
        tokens[count] = token
        count &+= 1
    }

    /// Appends tokens.
    mutating func append(contentsOf tokens: [JSONToken]) {
        tokens.withUnsafeBufferPointer { tokens in
            for token in tokens {
                if !hasRoom { makeRoom() }
                append(token)
            }
        }
    }

    /// A token that has been appended.
    @inline(__always)
    subscript(_ index: Int) -> JSONToken {
        get {
            assert(index >= 0 && index < count, "no such token")
            return tokens[index]
        }
        set {
            assert(index >= 0 && index < count, "no such token")
            tokens[index] = newValue
        }
    }

    /// Gives `body` a view of what has been written of this text.
    @inline(__always)
    func withView<E: Error>(
        of text: UnsafeBufferPointer<UInt8>,
        _ body: (JSONView) throws(E) -> Void
    ) throws(E) {
        try body(
            JSONView(text: text.baseAddress, tokens: tokens, side: tape.side, count: count))
    }

    /// Shows the tokens to who reads the tape.
    @inline(__always)
    func finish() { tape.count = count }
}
