internal import Glibc
internal import Varlink

/// A connection to the daemon, whose failures are lines for a person.
final class DaemonConnection {
    let socket: SocketChoice
    private let client: VarlinkClient
    private let console: Console
    private let privilege: Privilege?

    /// How long an answer is waited for that the daemon gives at once.
    static let replyTimeout = Duration.seconds(10)

    /// - Parameter privilege: what will be asked for that not everybody may have.
    init(
        _ socket: SocketChoice, _ console: Console, _ privilege: Privilege? = nil
    ) throws(Failure) {
        self.socket = socket
        self.console = console
        self.privilege = privilege
        do throws(ClientError) {
            client = try VarlinkClient(address: socket.path, timeout: DaemonConnection.replyTimeout)
        } catch {
            throw Failure(error, socket: socket, privilege)
        }
    }

    /// The socket's descriptor, to be waited for.
    var descriptor: Int32 { client.descriptor }

    // MARK: Calls that are answered at once

    /// Calls a method.
    func call<M: Method>(_ method: M.Type, _ input: M.Input) throws(Failure) -> M.Output {
        try send(method, input)
        return try answer(method)
    }

    /// Waits for the answer to a call that has been sent; replies may follow it.
    func answer<M: Method>(_ method: M.Type) throws(Failure) -> M.Output {
        let deadline = ContinuousClock.now.advanced(by: DaemonConnection.replyTimeout)
        guard case .reply(let output, _) = try next(method, nil, until: deadline) else {
            throw Failure(.timedOut, socket: socket, privilege)
        }
        return output
    }

    /// Makes sure that a Varlink service is there, before something is waited for that may take for ever.
    func checkService() throws(Failure) {
        _ = try call(ServiceInterface.GetInfo.self, Empty())
    }

    /// Calls a method whose answer comes when what it orders is done, however long that takes.
    ///
    /// - Parameter id: the application that it is about.
    func order<M: Method>(
        _ method: M.Type, _ input: M.Input, about id: String
    ) throws(Failure) -> M.Output {
        try checkService()
        try send(method, input)
        let begin = ContinuousClock.now
        return try console.saying {
            let time = begin.duration(to: ContinuousClock.now)
            return ActivityText.order(M.name, about: id, milliseconds: Int(time / .milliseconds(1)))
        } while: { () throws(Failure) in
            guard case .reply(let output, _) = try next(method, nil) else {
                throw Failure(.timedOut, socket: socket, privilege)
            }
            return output
        }
    }

    // MARK: Calls that may take long

    /// What ended a wait.
    enum Arrival<Output> {
        /// A reply; `continues`: others follow.
        case reply(Output, continues: Bool)
        case signal(Int32)
        case timeUp
    }

    /// Sends a call and does not wait.
    func send<M: Method>(_ method: M.Type, _ input: M.Input, more: Bool = false) throws(Failure) {
        do throws(ClientError) {
            try client.send(method, input, more: more)
        } catch {
            throw Failure(error, socket: socket, privilege)
        }
    }

    /// Waits for a reply or a signal, whichever comes first.
    func next<M: Method>(
        _ method: M.Type, _ signals: SignalInbox?, until deadline: ContinuousClock.Instant? = nil
    ) throws(Failure) -> Arrival<M.Output> {
        while true {
            if let reply = try replyIfReady(method) {
                console.goOn()
                return .reply(reply.output, continues: reply.continues)
            }
            if let number = signals?.next() { return .signal(number) }
            let watched = [descriptor] + (signals.map { [$0.descriptor] } ?? [])
            guard console.wait(for: watched, until: deadline) else { return .timeUp }
        }
    }

    /// Takes a reply, if one has come.
    func replyIfReady<M: Method>(
        _ method: M.Type
    ) throws(Failure) -> (output: M.Output, continues: Bool)? {
        do throws(ClientError) {
            return try client.receiveIfReady(method)
        } catch {
            throw Failure(error, socket: socket, privilege, method: M.name)
        }
    }

    /// Hands each reply of a streaming call to `each`, until the last.
    func stream<M: Method>(
        _ method: M.Type, _ input: M.Input, _ each: (M.Output) throws(Failure) -> Void
    ) throws(Failure) {
        try streamWhile(method, input) { output throws(Failure) in
            try each(output)
            return true
        }
    }

    /// The same, for as long as `each` wants to go on. The connection is of no more use where it does not.
    func streamWhile<M: Method>(
        _ method: M.Type, _ input: M.Input, _ each: (M.Output) throws(Failure) -> Bool
    ) throws(Failure) {
        try send(method, input, more: true)
        while true {
            guard case .reply(let output, let continues) = try next(method, nil) else { return }
            guard try each(output), continues else { return }
        }
    }
}

/// Waits for descriptors.
enum Waiting {
    /// Waits until one of the descriptors can be read, a signal has come, or the time is over.
    ///
    /// - Returns: `false` where the time is over.
    static func wait(for descriptors: [Int32], until deadline: ContinuousClock.Instant?) -> Bool {
        var requests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard let deadline else {
            poll(&requests, nfds_t(requests.count), -1)
            return true
        }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return false }
        // Rounded up, so that a short wait does not spin; a long one is cut, and the caller asks again.
        let (seconds, attoseconds) = left.components
        let milliseconds = min(seconds, 1_000_000) * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        poll(&requests, nfds_t(requests.count), Int32(milliseconds))
        return true
    }
}
