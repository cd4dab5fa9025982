internal import Synchronization
internal import Varlink

/// The calls of this process to one daemon that are answered at once: one after the other, on one thread, over one
/// connection, which is closed when none is left.
final class CallQueue: Sendable {
    /// What it does to make a call again that the daemon may have carried out.
    enum Repetition {
        /// The call only asks, or twice is as good as once.
        case harmless
        /// The call is not to be carried out twice.
        case harmful
    }

    private static let all = PerDaemon { CallQueue($0) }

    static func at(_ path: String) -> CallQueue { all.at(path) }

    private let daemon: DaemonEndpoint
    private let thread = WorkThread()
    /// Calls that are under way.
    private let count = Mutex(0)
    /// The connection, while there is one.
    private let connection = Mutex<VarlinkClient?>(nil)

    private init(_ daemon: DaemonEndpoint) { self.daemon = daemon }

    /// Calls a method.
    func call<M: Method & SendableMetatype>(
        _ method: M.Type, _ input: M.Input, _ repetition: Repetition
    ) async throws(BackgroundTimeError) -> M.Output {
        count.withLock { $0 += 1 }
        return try await thread.run { [self] in
            Result { () throws(BackgroundTimeError) in
                defer { if isLast() { connection.withLock { $0 = nil } } }
                return try connection.withLock { client throws(BackgroundTimeError) in
                    try answer(method, input, repetition, &client)
                }
            }
        }
    }

    private func isLast() -> Bool {
        count.withLock { count in
            count -= 1
            return count == 0
        }
    }

    private func answer<M: Method>(
        _ method: M.Type, _ input: M.Input, _ repetition: Repetition, _ client: inout VarlinkClient?
    ) throws(BackgroundTimeError) -> M.Output {
        do throws(ClientError) {
            var wasSent = false
            do throws(ClientError) {
                return try exchange(method, input, &client, &wasSent)
            } catch {
                // One that was not sent as a whole is not carried out.
                guard error.isBrokenConnection, repetition == .harmless || !wasSent else {
                    throw error
                }
                client = nil
                return try exchange(method, input, &client, &wasSent)
            }
        } catch {
            // What is answered next would be taken for the answer to another call.
            if case .remote = error {} else { client = nil }
            throw BackgroundTimeError(error, at: daemon.path)
        }
    }

    private func exchange<M: Method>(
        _ method: M.Type, _ input: M.Input, _ client: inout VarlinkClient?, _ wasSent: inout Bool
    ) throws(ClientError) -> M.Output {
        let open: VarlinkClient
        if let client {
            open = client
        } else {
            open = try daemon.connected()
            client = open
        }
        try open.send(method, input)
        wasSent = true
        return try open.receive(method).output
    }
}

extension ClientError {
    /// Whether there was a connection, and the daemon or the kernel has ended it.
    var isBrokenConnection: Bool {
        switch self {
        case .disconnected, .failed: true
        default: false
        }
    }
}
