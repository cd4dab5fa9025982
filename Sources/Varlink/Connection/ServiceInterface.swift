/// Answers what every Varlink service is asked: who it is, and what its interfaces are.
package struct ServiceInterface: Sendable {
    private let info: GetInfo.Output
    private let descriptions: [String: String]

    /// The name of this interface.
    package static let name = "org.varlink.service"

    /// Who the service is.
    package struct Identity: Sendable {
        /// Who makes it.
        package var vendor: String
        /// What it is called.
        package var product: String
        /// Its version.
        package var version: String
        /// Where more is to be read.
        package var url: String

        /// Makes an identity.
        package init(vendor: String, product: String, version: String, url: String) {
            self.vendor = vendor
            self.product = product
            self.version = version
            self.url = url
        }
    }

    /// Makes the answers for a service with these interfaces: the text of each by its name, as it
    /// is to be answered byte for byte. This interface itself comes with them.
    package init(_ identity: Identity, interfaces: [String: String]) {
        var info = GetInfo.Output()
        info.vendor = identity.vendor
        info.product = identity.product
        info.version = identity.version
        info.url = identity.url
        info.interfaces = [ServiceInterface.name] + interfaces.keys.sorted()
        self.info = info
        descriptions = interfaces.merging([ServiceInterface.name: ServiceInterface.text]) {
            given,
            _ in given
        }
    }

    /// Answers the call in progress, if it is one of this interface.
    ///
    /// - Returns: `nil` where it is not, and nothing has been sent.
    package func answer(
        _ call: Call,
        on connection: inout ServerConnection
    ) -> ServerConnection.ReplyResult? {
        do throws(MessageError) {
            switch call.method {
            case GetInfo.name:
                _ = try call.decode(GetInfo.Input.self)
                return connection.reply(info)
            case GetInterfaceDescription.name:
                let interface = try call.decode(GetInterfaceDescription.Input.self).interface
                guard let text = descriptions[interface] else {
                    return connection.reply(.interfaceNotFound(interface: interface))
                }
                return connection.reply(GetInterfaceDescription.Output(description: text))
            default:
                guard call.interface == ServiceInterface.name else { return nil }
                return connection.reply(.methodNotFound(method: call.method))
            }
        } catch {
            return connection.reply(ServiceError(error))
        }
    }

    /// The answer to a call that nobody takes: whether its interface or only its method is unknown.
    package func refusal(of call: Call) -> ServiceError {
        descriptions[String(call.interface)] == nil
            ? .interfaceNotFound(interface: String(call.interface))
            : .methodNotFound(method: call.method)
    }

    /// Asks who the service is.
    package enum GetInfo: Method {
        /// The method with its interface.
        package static let name = "org.varlink.service.GetInfo"
        /// It takes nothing.
        package typealias Input = Empty

        /// Who the service is, and what it offers.
        package struct Output: Message {
            /// Who makes it.
            package var vendor = ""
            /// What it is called.
            package var product = ""
            /// Its version.
            package var version = ""
            /// Where more is to be read.
            package var url = ""
            /// The names of its interfaces.
            package var interfaces: [String] = []

            /// Makes a message to be read into.
            package init() {}

            /// Shows every field to the visitor.
            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("vendor", &vendor)
                try fields.field("product", &product)
                try fields.field("version", &version)
                try fields.field("url", &url)
                try fields.field("interfaces", &interfaces)
            }
        }
    }

    /// Asks for the text of an interface.
    package enum GetInterfaceDescription: Method {
        /// The method with its interface.
        package static let name = "org.varlink.service.GetInterfaceDescription"

        /// Which interface.
        package struct Input: Message {
            /// The name of the interface.
            package var interface = ""

            /// Makes a message to be read into.
            package init() {}

            /// Asks for this interface.
            package init(interface: String) { self.interface = interface }

            /// Shows every field to the visitor.
            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("interface", &interface)
            }
        }

        /// The text of the interface.
        package struct Output: Message {
            /// The text.
            package var description = ""

            /// Makes a message to be read into.
            package init() {}

            /// Answers with this text.
            package init(description: String) { self.description = description }

            /// Shows every field to the visitor.
            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("description", &description)
            }
        }
    }
}
