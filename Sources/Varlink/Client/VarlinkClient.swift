internal import Glibc

/// Calls the methods of a service over a Unix socket, and waits for the replies.
///
/// Calls may be sent without waiting (`send`), and their replies taken in the same order
/// (`receive`). Belongs to one thread at a time.
package final class VarlinkClient {
    private let socket: UnixSocket
    private let timeout: Duration?
    private var connection: ClientConnection
    private var buffer = [UInt8](repeating: 0, count: 16384)

    /// Connects.
    ///
    /// - Parameters:
    ///   - address: `unix:/path`, a plain path, or an abstract name after `@`; what follows `;` after
    ///     `unix:` is ignored.
    ///   - timeout: how long a reply, or the end of a write, is waited for; without end where `nil`.
    ///   - connectTimeout: how long a service is waited for that takes no connection; without end where `nil`.
    ///   - limits: what the client keeps of the replies.
    /// - Throws: where there is no service at the address.
    package init(
        address: String,
        timeout: Duration? = nil,
        connectTimeout: Duration? = nil,
        limits: ConnectionLimits = ConnectionLimits()
    ) throws(ClientError) {
        socket = try UnixSocket.connected(
            to: VarlinkClient.path(of: address), timeout: connectTimeout)
        self.timeout = timeout
        connection = ClientConnection(limits: limits)
    }

    /// Takes over a connected socket, and closes it at the end.
    package init(
        adopting descriptor: Int32,
        timeout: Duration? = nil,
        limits: ConnectionLimits = ConnectionLimits()
    ) {
        socket = UnixSocket(adopting: descriptor)
        self.timeout = timeout
        connection = ClientConnection(limits: limits)
    }

    /// The socket, to be polled beside others; when it is readable, `receiveIfReady` has something
    /// to read.
    package var descriptor: Int32 { socket.descriptor }

    /// Calls whose final reply has not been taken.
    package var callsWaiting: Int { connection.callsWaiting }

    /// The path in an address.
    package static func path(of address: String) throws(ClientError) -> String {
        guard let colon = address.firstIndex(of: ":"), !address.hasPrefix("/") else {
            return address
        }
        guard address[..<colon] == "unix" else { throw .badAddress(address) }
        let path = address[address.index(after: colon)...].prefix { $0 != ";" }
        guard !path.isEmpty else { throw .badAddress(address) }
        return String(path)
    }

    // MARK: One call

    /// Calls a method, and waits for its reply.
    ///
    /// Replies to calls sent before are not skipped, so these have to be taken first.
    package func call<M: Method>(_ method: M.Type, _ input: M.Input) throws(ClientError) -> M.Output
    {
        try send(method, input)
        return try receive(method).output
    }

    /// Calls a method without reply.
    package func callOneway<M: Method>(_ method: M.Type, _ input: M.Input) throws(ClientError) {
        connection.call(M.name, input, .oneway)
        try flush()
    }

    /// Calls a method that replies any number of times.
    ///
    /// `each` takes a reply, and says whether it wants the next. Where it does not, the connection
    /// has replies on the way that nobody takes, and is of no further use.
    package func callMore<M: Method>(
        _ method: M.Type,
        _ input: M.Input,
        _ each: (M.Output) throws(ClientError) -> Bool
    ) throws(ClientError) {
        try send(method, input, more: true)
        while true {
            let reply = try receive(method)
            guard try each(reply.output), reply.continues else { return }
        }
    }

    // MARK: Many calls

    /// Sends a call and does not wait for its reply.
    ///
    /// While the socket is full, replies are read and kept, so that neither side waits for the
    /// other.
    package func send<M: Method>(
        _ method: M.Type,
        _ input: M.Input,
        more: Bool = false
    ) throws(ClientError) {
        connection.call(M.name, input, more ? .more : .single)
        try flush()
    }

    /// Takes the next reply, which has to be one of this method, and waits for it.
    ///
    /// - Throws: `ClientError.remote` where the service replied with an error; the connection stays
    ///   good.
    package func receive<M: Method>(
        _ method: M.Type
    ) throws(ClientError) -> (output: M.Output, continues: Bool) {
        let deadline = deadline()
        while true {
            if let reply = try receiveIfReady(method) { return reply }
            guard connection.callsWaiting > 0 else { throw .noCallWaiting }
            _ = try wait(for: Int16(POLLIN), until: deadline)
        }
    }

    /// Takes the next reply, if it has come.
    package func receiveIfReady<M: Method>(
        _ method: M.Type
    ) throws(ClientError) -> (output: M.Output, continues: Bool)? {
        var reply = try nextReply()
        while reply == nil {
            guard try readOnce() else { return nil }
            reply = try nextReply()
        }
        guard let reply else { return nil }
        if let error = reply.error { throw .remote(error) }
        do throws(MessageError) {
            return (try reply.decode(M.Output.self), reply.continues)
        } catch {
            throw .badReply(error)
        }
    }

    // MARK: Bytes

    private func nextReply() throws(ClientError) -> Reply? {
        do throws(ProtocolViolation) {
            return try connection.nextReply()
        } catch {
            throw .violation(error)
        }
    }

    /// Writes all that is pending.
    private func flush() throws(ClientError) {
        let deadline = deadline()
        while connection.pendingOutputCount > 0 {
            let count = try connection.withPendingOutput { bytes throws(ClientError) in
                try socket.write(bytes)
            }
            if let count {
                connection.sent(count)
                continue
            }
            let ready = try wait(for: Int16(POLLIN) | Int16(POLLOUT), until: deadline)
            if ready & Int16(POLLIN) != 0 { _ = try readOnce() }
        }
    }

    /// Reads once; `false` where nothing has come.
    private func readOnce() throws(ClientError) -> Bool {
        let count = try buffer.withUnsafeMutableBufferPointer { bytes throws(ClientError) in
            try socket.read(into: UnsafeMutableRawBufferPointer(bytes))
        }
        guard let count else { return false }
        guard count > 0 else { throw .disconnected }
        do throws(ProtocolViolation) {
            try buffer.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
                try connection.receive(
                    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<count])
                )
            }
        } catch {
            throw .violation(error)
        }
        return true
    }

    private func wait(
        for events: Int16,
        until deadline: ContinuousClock.Instant?
    ) throws(ClientError) -> Int16 {
        guard let deadline else { return try socket.wait(for: events, milliseconds: -1) }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { throw .timedOut }
        // Rounded up, so that a short wait does not spin; a long one is cut, and the caller asks
        // again.
        let (seconds, attoseconds) = left.components
        let milliseconds =
            min(seconds, 1_000_000) * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        return try socket.wait(for: events, milliseconds: Int32(milliseconds))
    }

    private func deadline() -> ContinuousClock.Instant? {
        timeout.map { ContinuousClock.now.advanced(by: $0) }
    }
}
