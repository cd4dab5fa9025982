public import JSON

/// Reads the fields of a message from the tape of a parsed frame.
///
/// Lives no longer than the call of `decode` that made it.
@usableFromInline
package struct MessageReader: FieldVisitor {
    @usableFromInline
    let view: JSONView
    /// Refuse what the message does not know; a client ignores it.
    @usableFromInline
    let strict: Bool
    /// The value that is read next.
    @usableFromInline
    var token: Int
    @usableFromInline
    var object: ObjectScope

    /// Where in which object the reader is.
    @usableFromInline
    struct ObjectScope {
        /// The first key.
        @usableFromInline
        var first: Int
        /// The token after the last value.
        @usableFromInline
        var end: Int
        /// The key that comes next if fields come in the order in which the message names them.
        @usableFromInline
        var cursor: Int
        /// Members that no field has asked for yet.
        @usableFromInline
        var left: Int

        @usableFromInline
        init(first: Int, end: Int, members: Int) {
            self.first = first
            self.end = end
            cursor = first
            left = members
        }
    }

    @usableFromInline
    init(_ view: JSONView, token: Int, strict: Bool) {
        self.view = view
        self.token = token
        self.strict = strict
        object = ObjectScope(first: 0, end: 0, members: 0)
    }

    /// Reads a field of the object that the reader is in.
    @inlinable
    package mutating func field<T: FieldValue>(
        _ name: StaticString,
        _ value: inout T
    ) throws(MessageError) {
        // Most messages have few of the fields that they may have.
        guard object.left > 0, find(name) else {
            guard let absent = T.absent else { throw MessageError(missing: name) }
            value = absent
            return
        }
        do throws(MessageError) { value = try T.read(from: &self) } catch {
            throw error.inside(name)
        }
    }

    /// Reads a field of whole numbers, and refuses those outside of a range.
    @inlinable
    package mutating func field<T: WholeNumbers>(
        _ name: StaticString,
        _ value: inout T,
        in range: ClosedRange<Int>
    ) throws(MessageError) {
        try field(name, &value)
        guard !strict || value.areAll(in: range) else {
            throw value.error(outside: range).inside(name)
        }
    }

    /// Reads a field of several values; too many are not even read.
    @inlinable
    package mutating func field<T: FieldValue>(
        _ name: StaticString,
        _ value: inout T,
        atMost limit: CountLimit
    ) throws(MessageError) {
        if strict { try checkCount(of: name, atMost: limit) }
        try field(name, &value)
    }

    /// Looks how many elements a field has, without reading them. Not generic, so that it is compiled here once.
    @usableFromInline
    mutating func checkCount(
        of name: StaticString, atMost limit: CountLimit
    ) throws(MessageError) {
        guard object.left > 0 else { return }
        let scope = object
        if find(name), hasMore(than: limit.max) {
            throw MessageError(.tooMany(limit)).inside(name)
        }
        object = scope
    }

    /// Tells whether the present value is a container of more elements.
    private func hasMore(than max: Int) -> Bool {
        let value = view[token]
        guard value.has(.array) || value.has(.object) else { return false }
        let tokensEach = value.has(.array) ? 1 : 2
        // Nothing has more elements than tokens.
        guard value.extent &- token > max &* tokensEach else { return false }
        var elements = 0
        var next = token &+ 1
        while next < value.extent {
            elements &+= 1
            let element = next &+ tokensEach &- 1
            next = view[element].next(after: element)
        }
        return elements > max
    }

    /// Moves to the value of a member of the object, looking first where it most likely is.
    @usableFromInline
    mutating func find(_ name: StaticString) -> Bool {
        var key = object.cursor
        while key < object.end {
            if view.matches(view[key], name) { return take(key) }
            key = view[key &+ 1].next(after: key &+ 1)
        }
        key = object.first
        while key < object.cursor {
            if view.matches(view[key], name) { return take(key) }
            key = view[key &+ 1].next(after: key &+ 1)
        }
        return false
    }

    @inline(__always)
    private mutating func take(_ key: Int) -> Bool {
        token = key &+ 1
        object.cursor = view[token].next(after: token)
        object.left &-= 1
        return true
    }

    /// Starts reading the members of the present value.
    ///
    /// - Returns: where the reader was, for `leaveObject`.
    @usableFromInline
    mutating func enterObject() throws(MessageError) -> ObjectScope {
        guard view[token].has(.object) else {
            throw MessageError(.wrongType(expected: "object"))
        }
        let outer = object
        let end = view[token].extent
        var members = 0
        var key = token &+ 1
        while key < end {
            members &+= 1
            key = view[key &+ 1].next(after: key &+ 1)
        }
        object = ObjectScope(first: token &+ 1, end: end, members: members)
        return outer
    }

    /// Goes on with the object around the one that a message has been read from; strictly: not if that has members
    /// that the message does not name.
    @inlinable
    mutating func leaveObject<M: Message>(
        _ outer: ObjectScope, of type: M.Type
    ) throws(MessageError) {
        if strict, object.left > 0 { try refuseUnknown(of: type) }
        object = outer
    }

    /// Throws the first member of the object that the message does not name.
    @usableFromInline
    func refuseUnknown<M: Message>(of type: M.Type) throws(MessageError) {
        var names = FieldNames()
        var message = M()
        try message.visit(&names)
        var key = object.first
        while key < object.end {
            let name = view[key]
            if !names.names.contains(where: { view.matches(name, $0) }) {
                throw MessageError(MessageError.shortened(view.string(of: name)), .unknown)
            }
            key = view[key &+ 1].next(after: key &+ 1)
        }
    }

    // MARK: Values

    /// The kind of the present value.
    @inlinable
    var kind: JSONToken.Kind { view[token].kind }

    /// Reads `true` or `false`.
    @usableFromInline
    func readBool() throws(MessageError) -> Bool {
        let value = view[token]
        guard value.kind == .bool else { throw MessageError(.wrongType(expected: "bool")) }
        return value.isTrue
    }

    /// Reads a whole number, however it is written.
    @usableFromInline
    func readInt() throws(MessageError) -> Int {
        let value = view[token]
        switch value.kind {
        case .integer:
            guard let number = JSONNumber.integer(view.bytes(of: value)) else {
                throw MessageError(.outOfRange())
            }
            return number
        case .number:
            let literal = view.bytes(of: value)
            if let number = JSONNumber.wholeNumber(literal) { return number }
            guard let number = JSONNumber.double(literal), number.magnitude < 0x1p63 else {
                throw MessageError(.outOfRange())
            }
            throw MessageError(.wrongType(expected: "int"))
        default: throw MessageError(.wrongType(expected: "int"))
        }
    }

    /// Reads a number; one without a fraction too.
    @usableFromInline
    func readDouble() throws(MessageError) -> Double {
        let value = view[token]
        guard value.kind == .integer || value.kind == .number else {
            throw MessageError(.wrongType(expected: "float"))
        }
        guard let number = JSONNumber.double(view.bytes(of: value)) else {
            throw MessageError(.outOfRange())
        }
        return number
    }

    /// Reads a string.
    @usableFromInline
    func readString() throws(MessageError) -> String {
        let value = view[token]
        guard value.isString else { throw MessageError(.wrongType(expected: "string")) }
        return view.string(of: value)
    }

    /// Reads an array of values of one type.
    @inlinable
    mutating func readArray<Element: FieldValue>() throws(MessageError) -> [Element] {
        guard kind == .array else { throw MessageError(.wrongType(expected: "array")) }
        let end = view[token].extent
        var values: [Element] = []
        var element = token &+ 1
        while element < end {
            let next = view[element].next(after: element)
            token = element
            do throws(MessageError) { values.append(try Element.read(from: &self)) } catch {
                throw error.inside(index: values.count)
            }
            element = next
        }
        return values
    }

    /// Reads a map of values of one type.
    ///
    /// Two keys that differ as bytes and are equal as strings are refused, since one would hide the
    /// other.
    @inlinable
    mutating func readMap<Value: FieldValue>() throws(MessageError) -> [String: Value] {
        guard kind == .object else { throw MessageError(.wrongType(expected: "map")) }
        let end = view[token].extent
        var values: [String: Value] = [:]
        var member = token &+ 1
        while member < end {
            let key = keyString(member)
            member = member &+ 1
            let next = view[member].next(after: member)
            token = member
            do throws(MessageError) {
                let value = try Value.read(from: &self)
                guard values.updateValue(value, forKey: key) == nil else {
                    throw MessageError(.duplicate)
                }
            } catch { throw error.inside(key) }
            member = next
        }
        return values
    }

    /// The key at a token.
    @usableFromInline
    func keyString(_ key: Int) -> String { view.string(of: view[key]) }

    /// Reads an object whose members no interface names; a client takes any value, as other implementations send.
    @usableFromInline
    func readObject() throws(MessageError) -> JSONValue {
        guard kind == .object || !strict else {
            throw MessageError(.wrongType(expected: "object"))
        }
        do throws(JSONRangeError) { return try JSONValue(view, at: token) } catch {
            throw MessageError(error)
        }
    }
}

/// Collects the names of a message's fields.
private struct FieldNames: FieldVisitor {
    var names: [StaticString] = []

    mutating func field<T: FieldValue>(
        _ name: StaticString,
        _ value: inout T
    ) throws(MessageError) {
        names.append(name)
    }
}
