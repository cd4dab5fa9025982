internal import JSON

/// Speaks the Varlink protocol with one client (varlink.org, Protocol).
///
/// Pure: performs no I/O and reads no clock. Bytes that came go in with `receive`; `nextCall` hands
/// out one call after the other, each after the one before has had its final reply; bytes to write
/// come out of `withPendingOutput` and are forgotten with `sent`.
@usableFromInline
package struct ServerConnection: Sendable {
    // What is asked of a connection again and again is inlinable: it reads a number or two, where a caller
    // in another module would otherwise copy the whole connection for it.
    @usableFromInline
    let limits: ConnectionLimits
    @usableFromInline
    var input = FrameBuffer()
    @usableFromInline
    var output = OutputBuffer()
    private var spareTape: JSONTape?
    private let frequentMethods: FrequentMethods
    private var methodNames = MethodNames()
    @usableFromInline
    var current: CallInProgress?
    private var violation: ProtocolViolation? {
        didSet { isIntact = violation == nil }
    }
    /// Whether the peer has kept to the protocol so far.
    @usableFromInline
    private(set) var isIntact = true

    /// What is to be known of the call that waits for its final reply.
    @usableFromInline
    struct CallInProgress: Sendable {
        let oneway: Bool
        let more: Bool
        @usableFromInline
        let frameBytes: Int
    }

    /// Makes a connection on which nothing has come yet.
    ///
    /// - Parameter methods: those that are called often, whose calls cost less.
    package init(
        limits: ConnectionLimits = ConnectionLimits(),
        frequent methods: FrequentMethods = FrequentMethods([])
    ) {
        self.limits = limits
        frequentMethods = methods
    }

    /// Tells whether to read on; `false` means: not before calls have been answered or replies been
    /// sent.
    @inlinable
    package var wantsInput: Bool {
        isIntact && output.count < limits.outputBytesMax
            && input.waiting < limits.callsWaitingMax
            && (input.waiting == 0 || input.count < limits.inputBytesMax)
    }

    /// Calls that have come completely and have not been handed out.
    @inlinable
    package var callsWaiting: Int { input.waiting }

    /// Tells whether a call waits for its final reply.
    @inlinable
    package var isCallInProgress: Bool { current != nil }

    /// The bytes held of this connection's input (the call in progress included) and output.
    @inlinable
    package var bufferedBytes: Int { input.count + (current?.frameBytes ?? 0) + output.count }

    // MARK: Input

    /// Takes bytes that came, cut anywhere.
    ///
    /// - Throws: where a message is longer than the limit. Calls that came before it and were not
    ///   handed out are lost with the connection.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProtocolViolation) {
        if let violation { throw violation }
        do throws(ProtocolViolation) {
            try input.receive(bytes, frameBytesMax: limits.frameBytesMax)
        } catch {
            violation = error
            throw error
        }
    }

    /// Hands out the next call.
    ///
    /// A call that asks for an upgrade of the connection is answered here, with
    /// `MethodNotImplemented`.
    ///
    /// - Returns: `nil` where none has come completely, or where one is in progress.
    /// - Throws: where a message is not a call. The connection is to be closed, once what is
    ///   pending is sent.
    package mutating func nextCall() throws(ProtocolViolation) -> Call? {
        if let violation { throw violation }
        guard current == nil else { return nil }
        while let frame = input.next() {
            do throws(ProtocolViolation) {
                if let call = try take(frame) { return call }
            } catch {
                violation = error
                throw error
            }
        }
        return nil
    }

    private mutating func take(_ frame: Range<Int>) throws(ProtocolViolation) -> Call? {
        var frequent = frequentMethods.method(of: input.bytes, frame)
        if let depth = frequent?.start.depth, depth > limits.depthMax { frequent = nil }
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(
                input.bytes, frame, depthMax: limits.depthMax, tokensMax: limits.tokensMax,
                reusing: &spareTape, after: frequent?.start)
        } catch {
            throw .notJSON(error)
        }
        let (envelope, method) = try read(document, frequent)
        current = CallInProgress(
            oneway: envelope.oneway,
            more: envelope.more,
            frameBytes: frame.count
        )
        let call = Call(
            method: method,
            oneway: envelope.oneway,
            more: envelope.more,
            byteCount: frame.count,
            document: document,
            parameters: envelope.parameters
        )
        guard envelope.upgrade else { return call }
        _ = reply(.methodNotImplemented(method: method))
        return nil
    }

    @inline(__always)
    private mutating func read(
        _ document: JSONDocument, _ frequent: FrequentMethod?
    ) throws(ProtocolViolation) -> (CallEnvelope, String) {
        try document.withView { view throws(ProtocolViolation) in
            let envelope = try CallEnvelope(view, isFrequent: frequent != nil)
            guard let method = envelope.method else { throw ProtocolViolation.missing("method") }
            if let frequent { return (envelope, frequent.name) }
            return (envelope, try methodNames.string(view.bytes(of: view[method])))
        }
    }

    // MARK: Replies

    /// What became of a reply.
    @usableFromInline
    package enum ReplyResult: Sendable, Equatable {
        case queued
        /// The call is oneway, so nothing is sent.
        case suppressed
        /// Our own mistake: there is nothing to reply to. Nothing is sent.
        case noCallInProgress
        /// Our own mistake: the caller did not ask for more than one reply. Nothing is sent.
        case moreNotAsked
    }

    /// Replies to the call in progress; for the last time, unless the reply continues.
    @inlinable
    package mutating func reply<M: Message>(_ message: M, continues: Bool = false) -> ReplyResult {
        let result = begunReply(continues: continues)
        if result == .queued { message.write(to: &output.writer) }
        endReply(result, continues: continues)
        return result
    }

    /// Replies to the call in progress with parameters that others get too; for the last time, unless the reply
    /// continues.
    ///
    /// - Parameter number: the reader's own, where the message has one.
    package mutating func reply(
        _ message: SharedMessage, number: Int = 0, continues: Bool
    ) -> ReplyResult {
        let result = begunReply(continues: continues)
        if result == .queued { output.writer.shared(message, number) }
        endReply(result, continues: continues)
        return result
    }

    /// Writes what comes before the parameters of a reply, if it is sent.
    @usableFromInline
    mutating func begunReply(continues: Bool) -> ReplyResult {
        guard let current else { return .noCallInProgress }
        guard current.more || !continues else { return .moreNotAsked }
        guard !current.oneway else { return .suppressed }
        output.writer.raw("{\"parameters\":")
        return .queued
    }

    /// Writes what comes behind them.
    @usableFromInline
    mutating func endReply(_ result: ReplyResult, continues: Bool) {
        if result == .queued {
            output.writer.raw(continues ? ",\"continues\":true}\0" : "}\0")
        }
        if result == .queued || result == .suppressed, !continues { finishCall() }
    }

    /// Replies to the call in progress with an error, named with its interface, such as
    /// `org.bgtaskd.Tasks.NoSuchTask`.
    package mutating func replyError<M: Message>(_ name: String, _ parameters: M) -> ReplyResult {
        guard let current else { return .noCallInProgress }
        if !current.oneway {
            output.writer.raw("{\"error\":")
            output.writer.string(name)
            output.writer.raw(",\"parameters\":")
            parameters.write(to: &output.writer)
            output.writer.raw("}\0")
        }
        finishCall()
        return current.oneway ? .suppressed : .queued
    }

    private mutating func finishCall() {
        current = nil
        input.trim()
    }

    // MARK: Output

    /// The number of bytes to write.
    @inlinable
    package var pendingOutputCount: Int { output.count }

    /// Gives `body` the bytes to write, in one piece.
    @inlinable
    package func withPendingOutput<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try output.withPending(body)
    }

    /// Forgets bytes that the socket has taken.
    package mutating func sent(_ count: Int) { output.sent(count) }
}
