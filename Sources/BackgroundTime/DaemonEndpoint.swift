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
