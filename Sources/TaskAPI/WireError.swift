package import Varlink

/// An error of one of our interfaces: its name on the wire, and its parameters.
package protocol WireError: Message {
    /// The name with its interface, such as `org.bgtaskd.Tasks.NoSuchTask`.
    static var name: String { get }
}
