/// A parsed JSON text: its bytes and the tape of tokens over them.
///
/// A value: copies share their storage, and one that is kept stays valid whatever comes next.
@usableFromInline
package struct JSONDocument: Sendable {
    @usableFromInline
    let bytes: [UInt8]
    @usableFromInline
    let start: Int
    @usableFromInline
    let tape: JSONTape

    /// How deep arrays and objects may nest, if the caller does not say otherwise.
    package static let depthMaxDefault = 64

    /// Makes the document `{}`.
    package init(emptyObject: Void) {
        bytes = []
        start = 0
        tape = JSONTape()
        var writer = JSONTapeWriter(tape)
        writer.append(JSONToken(.object, at: 0, extent: 1))
        writer.finish()
        extendLifetime(tape)
    }

    /// Parses a text.
    package init(
        parsing text: some Sequence<UInt8>,
        depthMax: Int = depthMaxDefault
    ) throws(JSONError) {
        let bytes = [UInt8](text)
        var spare: JSONTape?
        try self.init(bytes, 0..<bytes.count, depthMax: depthMax, reusing: &spare)
    }

    /// Parses a part of a buffer.
    ///
    /// - Parameters:
    ///   - tokensMax: how many values and keys the part may have, about.
    ///   - spare: the tape of the document before it, which is written anew where that document is
    ///     gone; a tape for the next one, unless this one has become large.
    ///   - known: what the part is known to begin with; no deeper than `depthMax`.
    package init(
        _ buffer: [UInt8],
        _ range: Range<Int>,
        depthMax: Int,
        tokensMax: Int = .max,
        reusing spare: inout JSONTape?,
        after known: JSONStart? = nil
    ) throws(JSONError) {
        let tape = JSONTape.taken(from: &spare)
        try buffer.withUnsafeBufferPointer { whole throws(JSONError) in
            defer { extendLifetime(tape) }
            var parser = JSONParser(
                UnsafeBufferPointer(rebasing: whole[range]), tape, depthMax: depthMax,
                tokensMax: tokensMax)
            if let known { parser.skip(known) }
            try parser.parse()
        }
        if tape.isKept { spare = tape }
        bytes = buffer
        start = range.lowerBound
        self.tape = tape
    }

    /// Gives `body` a view of the document that is valid until it returns.
    @inline(__always)
    @inlinable
    package func withView<R, E: Error>(_ body: (JSONView) throws(E) -> R) throws(E) -> R {
        try bytes.withUnsafeBufferPointer { text throws(E) in
            defer { extendLifetime(tape) }
            return try body(
                JSONView(
                    text: text.baseAddress.map { $0 + start },
                    tokens: tape.tokens,
                    side: tape.side,
                    count: tape.count
                )
            )
        }
    }

    /// The value at a token, whatever its type.
    ///
    /// - Throws: where a number is out of the range of `Int` or `Double`.
    package func value(at token: Int = 0) throws(JSONRangeError) -> JSONValue {
        try withView { view throws(JSONRangeError) in try JSONValue(view, at: token) }
    }
}
