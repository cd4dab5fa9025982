internal import Glibc
internal import Synchronization
package import Varlink

/// A connection on which a method replies again and again, read on a thread of its own.
///
/// `@unchecked Sendable`: its client is used by who made it before the start, and then by its thread alone, but for the
/// descriptor, which is behind the lock.
package final class ReplyReader<M: Varlink.Method & SendableMetatype>: @unchecked Sendable {
    private var client: VarlinkClient?
    /// The socket, for as long as it is open.
    private let descriptor: Mutex<Int32?>

    /// Connects and calls the method, whose replies wait until the start.
    init(_ method: M.Type, _ input: M.Input, at daemon: DaemonEndpoint) throws(ClientError) {
        let client = try daemon.listening()
        try client.send(method, input, more: true)
        self.client = client
        descriptor = Mutex(client.descriptor)
    }

    /// Whether there are no more replies.
    package var isOver: Bool { descriptor.withLock { $0 == nil } }

    /// Tells each reply, and `nil` at the end. Once.
    ///
    /// - Returns: whether there was room for a thread.
    package func start(_ tell: @escaping @Sendable (M.Output?) -> Void) -> Bool {
        startThread { [self] in
            while let output = next() { tell(output) }
            descriptor.withLock { $0 = nil }
            client = nil
            tell(nil)
        }
    }

    /// Has it end.
    package func stop() {
        descriptor.withLock { descriptor in
            if let descriptor { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    private func next() -> M.Output? {
        while let client {
            do throws(ClientError) {
                return try client.receive(M.self).output
            } catch .badReply {
                // A later daemon has something to tell that is not known here.
                continue
            } catch {
                return nil
            }
        }
        return nil
    }
}
