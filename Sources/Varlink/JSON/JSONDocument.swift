/// A parsed JSON text: its bytes and the tape of tokens over them.
///
/// A value: copies share their storage, and one that is kept stays valid whatever comes next.
@usableFromInline
package struct JSONDocument: Sendable {
    @usableFromInline
    var bytes: [UInt8]
    @usableFromInline
    var start: Int
    @usableFromInline
    var tokens: [JSONToken]
    @usableFromInline
    var unescaped: [UInt8]

    /// How deep arrays and objects may nest, if the caller does not say otherwise.
    package static let depthMaxDefault = 64

    /// Makes an empty document, for `parse` to fill.
    package init() {
        bytes = []
        start = 0
        tokens = []
        unescaped = []
    }

    /// Makes the document `{}`.
    init(emptyObject: Void) {
        self.init()
        tokens = [JSONToken(.object, at: 0, extent: 1)]
    }

    /// Parses a text.
    package init(
        parsing text: some Sequence<UInt8>,
        depthMax: Int = depthMaxDefault
    ) throws(JSONError) {
        self.init()
        let bytes = [UInt8](text)
        var open: [JSONParser.OpenContainer] = []
        try parse(bytes, 0..<bytes.count, depthMax: depthMax, open: &open)
    }

    /// Parses a part of a buffer in place of what the document held, reusing its storage.
    ///
    /// After an error the document is empty.
    mutating func parse(
        _ buffer: [UInt8],
        _ range: Range<Int>,
        depthMax: Int,
        open: inout [JSONParser.OpenContainer]
    ) throws(JSONError) {
        bytes = buffer
        start = range.lowerBound
        do throws(JSONError) {
            try buffer.withUnsafeBufferPointer { whole throws(JSONError) in
                var parser = JSONParser(
                    bytes: UnsafeBufferPointer(rebasing: whole[range]),
                    depthMax: depthMax,
                    tokens: [],
                    unescaped: [],
                    open: []
                )
                swap(&parser.tokens, &tokens)
                swap(&parser.unescaped, &unescaped)
                swap(&parser.open, &open)
                parser.tokens.removeAll(keepingCapacity: true)
                parser.unescaped.removeAll(keepingCapacity: true)
                parser.open.removeAll(keepingCapacity: true)
                defer {
                    swap(&parser.tokens, &tokens)
                    swap(&parser.unescaped, &unescaped)
                    swap(&parser.open, &open)
                }
                try parser.parse()
            }
        } catch {
            self = JSONDocument()
            throw error
        }
    }

    /// The storage without the text, for the next text; what is larger than `kept` is not kept.
    func storageForReuse(keeping kept: Int) -> JSONDocument {
        var storage = JSONDocument()
        if tokens.capacity &* MemoryLayout<JSONToken>.stride <= kept { storage.tokens = tokens }
        if unescaped.capacity <= kept { storage.unescaped = unescaped }
        return storage
    }

    /// Gives `body` a view of the document that is valid until it returns.
    @inline(__always)
    @inlinable
    func withView<R, E: Error>(_ body: (JSONView) throws(E) -> R) throws(E) -> R {
        try bytes.withUnsafeBufferPointer { text throws(E) in
            try tokens.withUnsafeBufferPointer { tape throws(E) in
                try unescaped.withUnsafeBufferPointer { side throws(E) in
                    try body(
                        JSONView(
                            text: text.baseAddress.map { $0 + start },
                            tokens: tape.baseAddress,
                            side: side.baseAddress,
                            count: tape.count
                        )
                    )
                }
            }
        }
    }

    /// Reads the value at a token into a message; strictly: refuses fields that the message does
    /// not know.
    @inlinable
    func decode<M: Message>(
        _ type: M.Type,
        at token: Int = 0,
        strict: Bool
    ) throws(MessageError) -> M {
        try withView { view throws(MessageError) in
            var reader = MessageReader(view, token: token, strict: strict)
            return try M.read(from: &reader)
        }
    }

    /// The value at a token, whatever its type.
    ///
    /// - Throws: where a number is out of the range of `Int` or `Double`.
    package func value(at token: Int = 0) throws(MessageError) -> JSONValue {
        try withView { view throws(MessageError) in
            var reader = MessageReader(view, token: token, strict: true)
            return try reader.readAnyValue()
        }
    }
}
