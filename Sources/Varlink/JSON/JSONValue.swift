/// A JSON value of any type, for what an interface calls `object`.
@usableFromInline
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// Members in the order in which they came.
    case object([(key: String, value: JSONValue)])

    /// The member of an object with this name; `nil` where there is none.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == name }?.value
    }

    /// Compares values; members of objects in their order.
    @usableFromInline
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): one == other
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)):
            one.elementsEqual(other) { $0.key == $1.key && $0.value == $1.value }
        default: false
        }
    }

    /// The value as JSON text.
    package var text: String {
        var writer = JSONWriter()
        writer.value(self)
        return writer.text
    }
}

extension JSONValue: FieldValue {
    /// Reads an object; a client takes any value, as other implementations send.
    @usableFromInline
    package static func read(from reader: inout MessageReader) throws(MessageError) -> JSONValue {
        guard reader.kind == .object || !reader.strict else {
            throw MessageError(.wrongType(expected: "object"))
        }
        return try reader.readAnyValue()
    }

    /// Appends the value.
    @usableFromInline
    package func write(to writer: inout JSONWriter) { writer.value(self) }

    /// `object`.
    @usableFromInline
    package static var varlinkType: VarlinkType { .object }
}

extension MessageReader {
    /// Reads the present value, whatever its type.
    mutating func readAnyValue() throws(MessageError) -> JSONValue {
        switch kind {
        case .null: return .null
        case .bool: return .bool(try readBool())
        case .integer: return .integer(try readInt())
        case .number: return .number(try readDouble())
        case .plainString, .unescapedString: return .string(try readString())
        case .array: return .array(try readAnyArray())
        case .object: return .object(try readAnyObject())
        }
    }

    private mutating func readAnyArray() throws(MessageError) -> [JSONValue] {
        let end = view[token].extent
        var values: [JSONValue] = []
        token += 1
        while token < end {
            let next = view[token].next(after: token)
            do throws(MessageError) { values.append(try readAnyValue()) } catch {
                throw error.inside(index: values.count)
            }
            token = next
        }
        return values
    }

    private mutating func readAnyObject() throws(MessageError) -> [(key: String, value: JSONValue)]
    {
        let end = view[token].extent
        var members: [(key: String, value: JSONValue)] = []
        token += 1
        while token < end {
            let key = view.string(of: view[token])
            token += 1
            let next = view[token].next(after: token)
            do throws(MessageError) { members.append((key, try readAnyValue())) } catch {
                throw error.inside(key)
            }
            token = next
        }
        return members
    }
}
