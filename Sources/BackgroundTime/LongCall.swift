internal import Glibc
internal import Varlink

/// A call that takes as long as what it asks about, on a connection and a thread of its own.
struct LongCall<M: Method & SendableMetatype, Element: Sendable>: Sendable {
    /// What is done where the connection breaks.
    enum Loss: Sendable {
        /// It is asked once more if nothing has come yet; else that is an error.
        case once
        /// It is asked again when the daemon is back, after `notice`; and not after `until`.
        case acrossRestarts(notice: Element?, until: ContinuousClock.Instant?)
    }

    /// How long a daemon may be away that has closed the connection.
    private static var patience: Duration { .seconds(30) }
    /// How long it is until another try to reach it.
    private static var pauseMilliseconds: Int32 { 200 }
    /// Connections that may end as soon as they are made, one after the other.
    private static var vainMax: Int { 3 }
    private static var soon: Duration { .seconds(1) }

    private let daemon: DaemonEndpoint
    private let loss: Loss
    private let hasMore: Bool
    private let ask: @Sendable () -> M.Input
    private let elements: @Sendable (M.Output) -> [Element]

    /// - Parameters:
    ///   - hasMore: whether there may be several replies.
    ///   - ask: what is asked, of each connection anew.
    ///   - elements: what is made of a reply.
    init(
        _ path: String, _ loss: Loss, hasMore: Bool = true, ask: @escaping @Sendable () -> M.Input,
        elements: @escaping @Sendable (M.Output) -> [Element]
    ) {
        (self.daemon, self.loss, self.hasMore) = (.patient(path), loss, hasMore)
        (self.ask, self.elements) = (ask, elements)
    }

    /// Makes the call.
    ///
    /// - Returns: what comes of it.
    func start() -> ReplyStream<Element> {
        let stream = ReplyStream<Element>()
        let hasThread = startThread {
            do throws(ClientError) {
                try serve(stream)
                stream.finish(nil)
            } catch {
                stream.finish(BackgroundTimeError(error, at: daemon.path))
            }
        }
        if !hasThread {
            stream.finish(.disconnected(reason: "there is no room for a thread"))
        }
        return stream
    }

    private func serve(_ stream: ReplyStream<Element>) throws(ClientError) {
        var connection = try daemon.listening()
        var vain = 0
        while true {
            let begin = ContinuousClock.now
            var hasAnswered = false
            do throws(ClientError) {
                return try serve(stream, over: connection, &hasAnswered)
            } catch {
                guard error.isBrokenConnection, !stream.isStopped else { throw error }
                switch loss {
                case .once:
                    guard !hasAnswered, vain == 0 else { throw error }
                    vain = 1
                    connection = try daemon.listening()
                case .acrossRestarts(let notice, let deadline):
                    vain = begin.duration(to: .now) < Self.soon ? vain + 1 : 0
                    guard vain < Self.vainMax else { throw error }
                    guard let other = try reconnected(stream, until: deadline) else { return }
                    connection = other
                    if let notice { stream.yield(notice) }
                }
            }
        }
    }

    private func serve(
        _ stream: ReplyStream<Element>, over connection: VarlinkClient, _ hasAnswered: inout Bool
    ) throws(ClientError) {
        guard stream.reads(connection.descriptor) else { return }
        defer { stream.readsNothing() }
        try connection.send(M.self, ask(), more: hasMore)
        while true {
            let reply = try connection.receive(M.self)
            hasAnswered = true
            for element in elements(reply.output) { stream.yield(element) }
            guard reply.continues, !stream.isStopped else { return }
        }
    }

    /// - Returns: `nil` where the time is over before that, or nobody waits any more.
    private func reconnected(
        _ stream: ReplyStream<Element>, until deadline: ContinuousClock.Instant?
    ) throws(ClientError) -> VarlinkClient? {
        let end = ContinuousClock.now.advanced(by: Self.patience)
        while true {
            do throws(ClientError) {
                return try daemon.listening()
            } catch {
                if stream.isStopped { return nil }
                if let deadline, ContinuousClock.now >= deadline { return nil }
                guard ContinuousClock.now < end else { throw error }
                poll(nil, 0, Self.pauseMilliseconds)
            }
        }
    }
}
