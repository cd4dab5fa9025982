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

extension JSONValue {
    /// Reads the value at a token.
    package init(_ view: JSONView, at token: Int) throws(JSONRangeError) {
        let value = view[token]
        switch value.kind {
        case .null: self = .null
        case .bool: self = .bool(value.isTrue)
        case .integer:
            guard let number = JSONNumber.integer(view.bytes(of: value)) else {
                throw JSONRangeError()
            }
            self = .integer(number)
        case .number:
            guard let number = JSONNumber.double(view.bytes(of: value)) else {
                throw JSONRangeError()
            }
            self = .number(number)
        case .plainString, .unescapedString: self = .string(view.string(of: value))
        case .array: self = .array(try JSONValue.elements(view, of: token))
        case .object: self = .object(try JSONValue.members(view, of: token))
        }
    }

    private static func elements(
        _ view: JSONView, of array: Int
    ) throws(JSONRangeError) -> [JSONValue] {
        var values: [JSONValue] = []
        var token = array &+ 1
        while token < view[array].extent {
            do throws(JSONRangeError) { values.append(try JSONValue(view, at: token)) } catch {
                throw error.inside(.index(values.count))
            }
            token = view[token].next(after: token)
        }
        return values
    }

    private static func members(
        _ view: JSONView, of object: Int
    ) throws(JSONRangeError) -> [(key: String, value: JSONValue)] {
        var members: [(key: String, value: JSONValue)] = []
        var token = object &+ 1
        while token < view[object].extent {
            let key = view.string(of: view[token])
            token &+= 1
            do throws(JSONRangeError) {
                members.append((key, try JSONValue(view, at: token)))
            } catch {
                throw error.inside(.key(key))
            }
            token = view[token].next(after: token)
        }
        return members
    }
}
