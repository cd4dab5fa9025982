import TaskAPI
package import Varlink

/// A method that the daemon serves, as its interface describes it.
package struct DescribedMethod: Sendable {
    /// The name with its interface.
    package let name: String
    /// What it takes, without names of types.
    package let input: VarlinkType

    /// Every method of every interface, by name.
    package static let all: [DescribedMethod] = {
        let texts = Interfaces.texts.merging([ServiceInterface.name: ServiceInterface.text]) {
            text, _ in text
        }
        return texts.values.compactMap { try? InterfaceDescription(parsing: $0) }
            .flatMap { description in
                description.methods.map {
                    DescribedMethod(
                        name: "\(description.name).\($0.name)",
                        input: description.resolved($0.input))
                }
            }
            .sorted { $0.name < $1.name }
    }()
}

/// One value somewhere in the parameters of a method.
package struct InputField: Sendable {
    /// The names from the outermost field on; `[]` for an element of an array, `{}` for a value of a map.
    package let path: [String]
    /// Its type, without the `?`.
    package let type: VarlinkType

    /// The name of the innermost field that has one.
    package var name: String { path.last { $0 != "[]" && $0 != "{}" } ?? "" }
}

extension DescribedMethod {
    /// Every field, and what is inside it.
    package var fields: [InputField] { DescribedMethod.fields(of: input, at: []) }

    private static func fields(of type: VarlinkType, at path: [String]) -> [InputField] {
        switch type {
        case .optional(let inner): fields(of: inner, at: path)
        case .array(let element):
            [InputField(path: path, type: type)] + fields(of: element, at: path + ["[]"])
        case .map(let element):
            [InputField(path: path, type: type)] + fields(of: element, at: path + ["{}"])
        case .structure(let members):
            (path.isEmpty ? [] : [InputField(path: path, type: type)])
                + members.flatMap { fields(of: $0.type, at: path + [$0.name]) }
        default: [InputField(path: path, type: type)]
        }
    }
}
