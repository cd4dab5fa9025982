internal import JSON

/// Speaks the Varlink protocol with one service (varlink.org, Protocol).
///
/// Pure: performs no I/O and reads no clock. Calls may be queued without waiting for replies, which
/// come in the order of the calls.
package struct ClientConnection: Sendable {
    private let limits: ConnectionLimits
    private var input = FrameBuffer()
    private var output = OutputBuffer()
    private var spareTape: JSONTape?
    private var waiting = WaitingCalls()
    private var violation: ProtocolViolation?

    /// Makes a connection on which nothing has come yet.
    package init(limits: ConnectionLimits = ConnectionLimits()) {
        self.limits = limits
    }

    /// What kind of reply a call asks for.
    package enum CallKind: Sendable {
        case single
        /// Any number of replies.
        case more
        /// None.
        case oneway
    }

    /// Calls whose final reply has not been taken.
    package var callsWaiting: Int { waiting.count }

    /// Queues a call of a method, named with its interface, such as `org.bgtaskd.Tasks.Begin`.
    package mutating func call<M: Message>(
        _ method: String,
        _ parameters: M,
        _ kind: CallKind = .single
    ) {
        output.writer.raw("{\"method\":")
        output.writer.string(method)
        output.writer.raw(",\"parameters\":")
        parameters.write(to: &output.writer)
        switch kind {
        case .single: output.writer.raw("}\0")
        case .more: output.writer.raw(",\"more\":true}\0")
        case .oneway: output.writer.raw(",\"oneway\":true}\0")
        }
        if kind != .oneway { waiting.append(more: kind == .more) }
    }

    // MARK: Replies

    /// Takes bytes that came, cut anywhere.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProtocolViolation) {
        if let violation { throw violation }
        do throws(ProtocolViolation) {
            try input.receive(bytes, frameBytesMax: limits.frameBytesMax)
        } catch {
            violation = error
            throw error
        }
    }

    /// Hands out the next reply; `nil` where none has come completely.
    package mutating func nextReply() throws(ProtocolViolation) -> Reply? {
        if let violation { throw violation }
        guard let frame = input.next() else { return nil }
        do throws(ProtocolViolation) {
            let reply = try take(frame)
            input.trim()
            return reply
        } catch {
            violation = error
            throw error
        }
    }

    private mutating func take(_ frame: Range<Int>) throws(ProtocolViolation) -> Reply {
        guard let more = waiting.first else { throw .unexpectedReply }
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(
                input.bytes, frame, depthMax: limits.depthMax, reusing: &spareTape)
        } catch {
            throw .notJSON(error)
        }
        let reply = try Reply(document)
        if reply.continues {
            guard more else { throw .unexpectedContinues }
        } else {
            waiting.removeFirst()
        }
        return reply
    }

    // MARK: Output

    /// The number of bytes to write.
    package var pendingOutputCount: Int { output.count }

    /// Gives `body` the bytes to write, in one piece.
    package func withPendingOutput<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try output.withPending(body)
    }

    /// Forgets bytes that the socket has taken.
    package mutating func sent(_ count: Int) { output.sent(count) }
}

/// Remembers, in order, whether each call that waits for a reply takes more than one.
private struct WaitingCalls: Sendable {
    private var calls: [Bool] = []
    private var head = 0

    var count: Int { calls.count - head }
    var first: Bool? { head < calls.count ? calls[head] : nil }

    mutating func append(more: Bool) { calls.append(more) }

    mutating func removeFirst() {
        head += 1
        guard head >= 1024 || head == calls.count, head * 2 >= calls.count else { return }
        calls.removeSubrange(..<head)
        head = 0
    }
}
