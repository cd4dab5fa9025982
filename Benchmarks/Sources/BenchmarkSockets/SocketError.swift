internal import Glibc

/// A system call that failed, or a server that did not do as it should.
public struct SocketError: Error, CustomStringConvertible {
    /// A sentence for whoever started the program.
    public let description: String

    /// Something other than a system call.
    public init(_ description: String) {
        self.description = description
    }

    /// What `errno` says of a call that has just failed.
    public init(failed operation: String) {
        description = "\(operation): \(String(cString: strerror(errno)))"
    }
}
