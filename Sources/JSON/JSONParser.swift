/// Reads one JSON text in one pass into a tape of tokens.
///
/// Iterative: how deep the input nests costs a bit of the tape and none of the stack. While a
/// container is open, the extent of its token is the index of the container around it.
///
/// What every text needs is inlined into `fillTape`, and what few need is out of line and is handed
/// values, so that the parser is in registers there and not in memory.
struct JSONParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let depthMax: Int
    /// How many tokens the tape may grow to.
    private let tokensMax: Int
    private var tape: JSONTapeWriter
    private var position = 0
    /// How many containers are open.
    private var depth = 0
    /// The innermost of them.
    private var container = 0
    private var isInObject = false

    /// Makes a parser that fills an empty tape.
    init(_ bytes: UnsafeBufferPointer<UInt8>, _ tape: JSONTape, depthMax: Int, tokensMax: Int) {
        self.bytes = bytes
        self.tape = JSONTapeWriter(tape)
        self.depthMax = depthMax
        self.tokensMax = tokensMax
    }

    /// Goes on behind what the text is known to begin with, as if it had been read.
    mutating func skip(_ start: JSONStart) {
        tape.append(contentsOf: start.tokens)
        position = start.text.count &- 1
        depth = start.depth
        container = tape.count &- 1
        isInObject = true
    }

    /// Reads the whole text; nothing but white space may surround the value.
    mutating func parse() throws(JSONError) {
        guard bytes.count <= JSONToken.valueMax else { throw JSONError(.tooLong, at: 0) }
        while try !fillTape() {
            guard tape.count &+ 2 <= tokensMax else {
                throw JSONError(.tooManyValues, at: position)
            }
            tape.makeRoom()
        }
        tape.finish()
    }

    /// Goes on with the text.
    ///
    /// All that changes is in a copy meanwhile, which is in registers where `self` is in memory.
    ///
    /// - Returns: whether the text is read; otherwise the tape is full.
    @inline(never)
    private mutating func fillTape() throws(JSONError) -> Bool {
        var parser = self
        repeat {
            guard try parser.parseValue() else {
                self = parser
                return false
            }
        } while try parser.parseSeparator()
        parser.skipWhiteSpace()
        guard parser.position == bytes.count else {
            throw JSONError(.trailingBytes, at: parser.position)
        }
        self = parser
        return true
    }

    /// Reads a scalar, or opens containers up to the first scalar or empty container inside.
    ///
    /// - Returns: whether there was room.
    @inline(__always)
    private mutating func parseValue() throws(JSONError) -> Bool {
        while tape.hasRoom {
            if isInObject { try parseKey() }
            let byte = try nextByte()
            switch byte {
            case UInt8(ascii: "\""):
                try parseString()
                return true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                try openContainer(byte)
                if try closeEmptyContainer(byte) { return true }
            default:
                take(try JSONScanner.scalar(byte, bytes, at: position))
                return true
            }
        }
        return false
    }

    /// Closes what ends here.
    ///
    /// - Returns: whether another value has to follow.
    @inline(__always)
    private mutating func parseSeparator() throws(JSONError) -> Bool {
        while depth > 0 {
            let byte = try nextByte()
            if byte == UInt8(ascii: ",") {
                position &+= 1
                return true
            }
            guard byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                throw JSONError(.unexpectedByte, at: position)
            }
            position &+= 1
            try closeContainer()
        }
        return false
    }

    @inline(__always)
    private mutating func parseKey() throws(JSONError) {
        guard try nextByte() == UInt8(ascii: "\"") else {
            throw JSONError(.unexpectedByte, at: position)
        }
        try parseString()
        guard try nextByte() == UInt8(ascii: ":") else {
            throw JSONError(.unexpectedByte, at: position)
        }
        position &+= 1
    }

    /// Reads a string from its opening quote on.
    @inline(__always)
    private mutating func parseString() throws(JSONError) {
        let start = position &+ 1
        position = try JSONScanner.endOfPlainBytes(bytes, from: start)
        if bytes[position] == UInt8(ascii: "\"") {
            tape.append(JSONToken(.plainString, at: start, extent: position &- start))
            position &+= 1
        } else {
            let string = try EscapedString.read(bytes, from: start, to: position, into: tape.tape)
            tape.append(string.token)
            position = string.end
        }
    }

    /// Goes on behind a number or a literal.
    @inline(__always)
    private mutating func take(_ scalar: JSONToken) {
        tape.append(scalar)
        position &+= scalar.extent
    }

    @inline(__always)
    private mutating func openContainer(_ byte: UInt8) throws(JSONError) {
        guard depth < depthMax else { throw JSONError(.tooDeep, at: position) }
        isInObject = byte == UInt8(ascii: "{")
        tape.append(JSONToken(isInObject ? .object : .array, at: position, extent: container))
        container = tape.count &- 1
        depth &+= 1
        position &+= 1
    }

    /// Closes the container that has just been opened with a byte, if there is nothing in it.
    @inline(__always)
    private mutating func closeEmptyContainer(_ byte: UInt8) throws(JSONError) -> Bool {
        // In ASCII the closing brackets are both two after the opening ones.
        guard try nextByte() == byte &+ 2 else { return false }
        position &+= 1
        try closeContainer()
        return true
    }

    @inline(__always)
    private mutating func closeContainer() throws(JSONError) {
        let closed = container
        let token = tape[closed]
        tape[closed] = token.with(extent: tape.count)
        let hasMembers = isInObject && closed &+ 2 < tape.count
        depth &-= 1
        container = token.extent
        isInObject = depth > 0 && tape[container].has(.object)
        guard hasMembers, tape[closed &+ 2].next(after: closed &+ 2) < tape.count else { return }
        try tape.withView(of: bytes) { view throws(JSONError) in
            try JSONObjectKeys(of: closed, in: view, end: position).refuseDuplicates()
        }
    }

    /// The byte that comes next after white space.
    @inline(__always)
    private mutating func nextByte() throws(JSONError) -> UInt8 {
        skipWhiteSpace()
        guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
        return bytes[position]
    }

    @inline(__always)
    private mutating func skipWhiteSpace() {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte <= 0x20 else { return }
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position &+= 1
        }
    }
}
