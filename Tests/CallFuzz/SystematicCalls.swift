package import Varlink

/// Each method with each of its fields at each of the extremes of its type, all others as usual.
package enum SystematicCalls {
    /// Calls the body with each call; ends early where it throws.
    ///
    /// - Parameter extra: numbers besides the extremes, such as ids that there are.
    package static func all<E: Error>(
        extra: [Int] = [], _ body: (Generated) throws(E) -> Void
    ) throws(E) {
        for extreme in ExtremeField.all {
            var values = extreme.values
            if case .int = extreme.field.type { values += extra.map(String.init) }
            for value in values { try body(extreme.call(value)) }
        }
    }
}

/// A field of a method, and what is put there.
struct ExtremeField: Sendable {
    let method: DescribedMethod
    let field: InputField
    let values: [String]

    /// Every field of every method.
    static let all = DescribedMethod.all.flatMap { method in
        method.fields.map {
            ExtremeField(method: method, field: $0, values: Extremes.values(of: $0.type))
        }
    }

    /// A call with a value there, and all others as usual.
    func call(_ value: String) -> Generated {
        let parameters = Usual.value(
            of: method.input, named: "", path: field.path[...], replacement: value)
        return Generated(method.name, parameters)
    }
}

extension SystematicCalls {
    /// A call with this value for a field, and all others as usual, as a server takes it.
    package static func call(of field: BoundedField, _ value: String) -> Call? {
        text(of: field, value).flatMap(CallText.taken)
    }

    /// Its text.
    package static func text(of field: BoundedField, _ value: String) -> String? {
        guard let method = DescribedMethod.all.first(where: { $0.name == field.method }) else {
            return nil
        }
        let parameters = Usual.value(
            of: method.input, named: "", path: field.path[...], replacement: value)
        return CallText.call(method.name, parameters)
    }
}

/// A call as it is sent.
package struct Generated: Sendable {
    package let method: String
    package let text: String
    /// Whether it is so wrong that the connection ends.
    package let breaksProtocol: Bool
    package let isOneway: Bool

    init(_ method: String, _ parameters: String, flags: String = "") {
        self.method = method
        text = CallText.call(method, parameters, flags: flags)
        breaksProtocol = !parameters.hasPrefix("{") && parameters != "null"
        isOneway = flags.contains("oneway")
    }

    init(broken text: String, method: String) {
        self.method = method
        self.text = text
        breaksProtocol = true
        isOneway = false
    }
}

/// How a call is written.
package enum CallText {
    /// The text of a call.
    package static func call(_ method: String, _ parameters: String, flags: String = "") -> String {
        "{\"method\":\"\(method)\",\"parameters\":\(parameters)\(flags)}"
    }

    /// The call that a server takes of a text; `nil` where it takes none.
    package static func taken(_ text: String) -> Call? {
        var connection = ServerConnection()
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: text.utf8.count + 1, alignment: 1)
        defer { bytes.deallocate() }
        bytes.copyBytes(from: Array(text.utf8) + [0])
        do throws(ProtocolViolation) {
            try connection.receive(UnsafeRawBufferPointer(bytes))
            return try connection.nextCall()
        } catch {
            return nil
        }
    }
}
