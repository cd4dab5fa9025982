import JSON
import TaskAPI
import Testing
import Varlink

@Suite("Values of wrong types")
struct FieldTypeTests {
    /// A call that is wrong in one place, and the parameter that is to be named.
    private struct Case {
        let method: String
        let parameters: JSONValue
        let wrong: String
    }

    @Test(
        "the field is named, for each field of each method and each other type",
        arguments: [Applications.name, Tasks.name, Manager.name, SystemdService.name])
    func everyField(interface: String) throws {
        let text = try #require(Interfaces.texts[interface])
        let description = try InterfaceDescription(parsing: text)
        let daemon = try DaemonProcess(.supervisor)
        let connection = try RawConnection(daemon)
        var count = 0
        for method in description.methods where !method.name.hasSuffix("Group") {
            for wrong in Self.cases("\(interface).\(method.name)", method, in: description) {
                try connection.send(frame: callText(wrong.method, wrong.parameters))
                let reply = try #require(try connection.nextReply())
                let named = RemoteError(reply)
                #expect(
                    named.refuses(wrong.wrong), "\(wrong.method) \(wrong.parameters.text)")
                count += 1
            }
        }
        if interface == Tasks.name { #expect(count > 300) }
        if interface == Applications.name { #expect(count > 150) }
        try daemon.connect().ask(SystemdService.Ping.self)
    }

    private static func cases(
        _ name: String, _ method: InterfaceDescription.MethodDefinition,
        in description: InterfaceDescription
    ) -> [Case] {
        let input = description.resolved(method.input)
        return wrongValues(of: input, path: "").map { value, path in
            Case(method: name, parameters: value, wrong: path)
        } + [Case(method: name, parameters: unknownAdded(to: valid(input)), wrong: "unknown")]
    }

    private static func unknownAdded(to value: JSONValue) -> JSONValue {
        guard case .object(let members) = value else { return value }
        return .object(members + [("unknown", .bool(true))])
    }

    /// A value of a type, as small as can be.
    private static func valid(_ type: VarlinkType) -> JSONValue {
        switch type {
        case .bool: .bool(true)
        case .int: .integer(1)
        case .float: .number(0.5)
        case .string: .string("text")
        case .object, .any, .map: .object([])
        case .named, .optional: .null
        case .array: .array([])
        case .enumeration(let members): .string(members.first ?? "")
        case .structure(let fields):
            .object(
                fields.compactMap { field in
                    if case .optional = field.type { nil } else { (field.name, valid(field.type)) }
                })
        }
    }

    /// Values that are wrong in one place each, with the path of that place.
    private static func wrongValues(
        of type: VarlinkType, path: String
    ) -> [(value: JSONValue, path: String)] {
        let samples: [JSONValue] = [
            .null, .bool(true), .integer(3), .number(1.5), .string("text"), .array([]),
            .object([]),
        ]
        func wrong(_ isRight: (JSONValue) -> Bool) -> [(JSONValue, String)] {
            path.isEmpty ? [] : samples.filter { !isRight($0) }.map { ($0, path) }
        }
        switch type {
        case .bool: return wrong { if case .bool = $0 { true } else { false } }
        case .int: return wrong { if case .integer = $0 { true } else { false } }
        case .float:
            return wrong {
                switch $0 {
                case .integer, .number: true
                default: false
                }
            }
        case .string: return wrong { if case .string = $0 { true } else { false } }
        case .enumeration: return wrong { _ in false }
        case .object: return wrong { if case .object = $0 { true } else { false } }
        case .any, .named: return []
        case .optional(let inner):
            return wrongValues(of: inner, path: path).filter { $0.0 != .null }
        case .array(let element):
            let inside = wrongValues(of: element, path: path + "[0]").map {
                (JSONValue.array([$0.0]), $0.1)
            }
            return wrong { if case .array = $0 { true } else { false } } + inside
        case .map(let element):
            let inside = wrongValues(of: element, path: path + ".key").map { value, path in
                (JSONValue.object([("key", value)]), path)
            }
            return wrong { if case .object = $0 { true } else { false } } + inside
        case .structure(let fields):
            // An empty object lacks a field, or is right.
            let inside = fields.flatMap { wrongValues(of: $0, of: type, path: path) }
            return wrong { if case .object = $0 { true } else { false } } + inside
        }
    }

    /// The structure with one field wrong, and without it where it is required.
    private static func wrongValues(
        of field: VarlinkType.Field, of structure: VarlinkType, path: String
    ) -> [(value: JSONValue, path: String)] {
        guard case .object(let members) = valid(structure) else { return [] }
        let others = members.filter { $0.key != field.name }
        let inner = path.isEmpty ? field.name : path + "." + field.name
        let wrong = wrongValues(of: field.type, path: inner).map { value, path in
            (JSONValue.object(others + [(field.name, value)]), path)
        }
        if case .optional = field.type { return wrong }
        return wrong + [(.object(others), inner)]
    }
}
