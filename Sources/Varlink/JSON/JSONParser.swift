/// Reads one JSON text in one pass into a tape of tokens.
///
/// Iterative: how deep the input nests costs a bit of the tape and none of the stack.
struct JSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    let depthMax: Int
    var position = 0
    var tokens: [JSONToken]
    var unescaped: [UInt8]
    var open: [OpenContainer]

    /// A container whose end has not come yet.
    struct OpenContainer {
        let token: Int
        let isObject: Bool
        var members: Int
    }

    /// Reads the whole text; nothing but white space may surround the value.
    mutating func parse() throws(JSONError) {
        guard bytes.count <= JSONToken.valueMax else { throw JSONError(.tooLong, at: 0) }
        repeat {
            try parseValue()
        } while try parseSeparator()
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
    }

    /// Reads a scalar, or opens containers up to the first scalar or empty container inside.
    private mutating func parseValue() throws(JSONError) {
        while true {
            skipWhiteSpace()
            guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position &+= 1
                tokens.append(try parseString())
                return
            case UInt8(ascii: "{"):
                try openContainer(isObject: true)
                if skip(UInt8(ascii: "}")) {
                    try closeContainer()
                    return
                }
                try parseKey()
            case UInt8(ascii: "["):
                try openContainer(isObject: false)
                if skip(UInt8(ascii: "]")) {
                    try closeContainer()
                    return
                }
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                try parseNumber()
                return
            case UInt8(ascii: "t"): return try parseLiteral("true", .bool)
            case UInt8(ascii: "f"): return try parseLiteral("false", .bool)
            case UInt8(ascii: "n"): return try parseLiteral("null", .null)
            default: throw JSONError(.unexpectedByte, at: position)
            }
        }
    }

    /// Closes what ends here.
    ///
    /// - Returns: whether another value has to follow.
    private mutating func parseSeparator() throws(JSONError) -> Bool {
        while true {
            skipWhiteSpace()
            guard let container = open.last else { return false }
            guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
            let byte = bytes[position]
            if byte == UInt8(ascii: ",") {
                position &+= 1
                open[open.count &- 1].members &+= 1
                if container.isObject { try parseKey() }
                return true
            }
            let end = container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
            guard byte == end else { throw JSONError(.unexpectedByte, at: position) }
            position &+= 1
            open[open.count &- 1].members &+= 1
            try closeContainer()
        }
    }

    private mutating func parseKey() throws(JSONError) {
        skipWhiteSpace()
        guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
        guard bytes[position] == UInt8(ascii: "\"") else {
            throw JSONError(.unexpectedByte, at: position)
        }
        position &+= 1
        tokens.append(try parseString())
        guard skip(UInt8(ascii: ":")) else {
            throw JSONError(
                position < bytes.count ? .unexpectedByte : .unexpectedEnd,
                at: position
            )
        }
    }

    private mutating func openContainer(isObject: Bool) throws(JSONError) {
        guard open.count < depthMax else { throw JSONError(.tooDeep, at: position) }
        open.append(OpenContainer(token: tokens.count, isObject: isObject, members: 0))
        tokens.append(JSONToken(isObject ? .object : .array, at: position, extent: 0))
        position &+= 1
    }

    private mutating func closeContainer() throws(JSONError) {
        guard let container = open.popLast() else { return }
        let offset = tokens[container.token].offset
        let kind: JSONToken.Kind = container.isObject ? .object : .array
        tokens[container.token] = JSONToken(kind, at: offset, extent: tokens.count)
        guard container.isObject, container.members > 1 else { return }
        try refuseDuplicates(object: container.token, members: container.members)
    }

    private mutating func parseLiteral(
        _ literal: StaticString,
        _ kind: JSONToken.Kind
    ) throws(JSONError) {
        let length = literal.utf8CodeUnitCount
        guard bytes.count &- position >= length else {
            throw JSONError(.badLiteral, at: position)
        }
        for index in 0..<length where bytes[position &+ index] != literal.utf8Start[index] {
            throw JSONError(.badLiteral, at: position)
        }
        tokens.append(JSONToken(kind, at: position, extent: length))
        position &+= length
    }

    /// Skips white space, and `byte` where it comes next.
    private mutating func skip(_ byte: UInt8) -> Bool {
        skipWhiteSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position &+= 1
        return true
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
