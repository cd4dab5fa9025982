internal import Synchronization
package import Varlink

/// A daemon, and how long it is waited for.
package struct DaemonEndpoint: Sendable {
    /// Its socket.
    package let path: String
    /// How long it has to take a connection, and to answer a call.
    package let timeout: Duration

    /// Describes one; nobody is called yet.
    package init(path: String, timeout: Duration) {
        (self.path, self.timeout) = (path, timeout)
    }

    /// One that has 10 s, where nobody's thread waits for it.
    static func patient(_ path: String) -> DaemonEndpoint {
        DaemonEndpoint(path: path, timeout: .seconds(10))
    }

    /// Connects, for replies that may take any time.
    func listening() throws(ClientError) -> VarlinkClient {
        try VarlinkClient(address: path, connectTimeout: timeout)
    }

    /// Connects, for calls.
    func connected() throws(ClientError) -> VarlinkClient {
        try VarlinkClient(address: path, timeout: timeout, connectTimeout: timeout)
    }

    /// Calls a method over a connection of its own.
    package func call<M: Varlink.Method>(
        _ method: M.Type, _ input: M.Input
    ) throws(BackgroundTimeError) -> M.Output {
        do throws(ClientError) {
            return try connected().call(method, input)
        } catch {
            throw BackgroundTimeError(error, at: path)
        }
    }

    /// Calls a method that replies again and again, over a connection of its own.
    package func reader<M: Varlink.Method>(
        of method: M.Type, _ input: M.Input
    ) throws(BackgroundTimeError) -> ReplyReader<M> {
        do throws(ClientError) {
            return try ReplyReader(method, input, at: self)
        } catch {
            throw BackgroundTimeError(error, at: path)
        }
    }
}

/// What this process has one of for each daemon, which it finds by the daemon's socket.
final class PerDaemon<Value: Sendable>: Sendable {
    private let values = Mutex<[String: Value]>([:])
    private let make: @Sendable (DaemonEndpoint) -> Value

    init(_ make: @escaping @Sendable (DaemonEndpoint) -> Value) { self.make = make }

    func at(_ path: String) -> Value {
        values.withLock { values in
            if let value = values[path] { return value }
            let value = make(.patient(path))
            values[path] = value
            return value
        }
    }
}
