extension MessageReader {
    /// The kind of the present value.
    @inlinable
    var kind: JSONToken.Kind { view[token].kind }

    /// Reads `true` or `false`.
    @usableFromInline
    func readBool() throws(MessageError) -> Bool {
        let value = view[token]
        guard value.kind == .bool else { throw MessageError(.wrongType(expected: "bool")) }
        return value.extent == 4
    }

    /// Reads a whole number, however it is written.
    @usableFromInline
    func readInt() throws(MessageError) -> Int {
        let value = view[token]
        switch value.kind {
        case .integer:
            guard let number = JSONNumber.integer(view.bytes(of: value)) else {
                throw MessageError(.outOfRange)
            }
            return number
        case .number:
            let literal = view.bytes(of: value)
            if let number = JSONNumber.wholeNumber(literal) { return number }
            guard let number = JSONNumber.double(literal), number.magnitude < 0x1p63 else {
                throw MessageError(.outOfRange)
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
            throw MessageError(.outOfRange)
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

    /// The index after the last element of the array that is the present value.
    @usableFromInline
    func endOfArray() throws(MessageError) -> Int {
        guard kind == .array else { throw MessageError(.wrongType(expected: "array")) }
        return view[token].extent
    }

    /// The index after the last member of the map that is the present value.
    @usableFromInline
    func endOfMap() throws(MessageError) -> Int {
        guard kind == .object else { throw MessageError(.wrongType(expected: "map")) }
        return view[token].extent
    }

    /// The index of the token after the value at `index`.
    @inlinable
    func next(after index: Int) -> Int { view[index].next(after: index) }

    /// The key at the present token.
    @usableFromInline
    func keyString() -> String { view.string(of: view[token]) }
}
