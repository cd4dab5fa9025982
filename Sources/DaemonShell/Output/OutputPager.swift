internal import BudgetCore
internal import TaskAPI
internal import Varlink

/// Writes the output of a task, piece by piece, as its reader takes it.
final class OutputPager: Pager {
    /// Output that one reader is made before others have their turn.
    private static let pieceMax = 32_768

    private let parts: Parts
    private let id: TaskID
    /// Whether it goes on until the task has ended.
    private let follows: Bool
    private var position: Int
    /// How far the output went when it was last seen: the task may be forgotten before all is read.
    private var end = 0

    /// What the readers of outputs share.
    final class Parts {
        let core: Core
        let pool: ConnectionPool
        let streams: ReplyStreams
        let output: OutputPump
        let lookups: HistoryLookups
        fileprivate let subscriptions: Subscriptions
        private let startedAt: Instant
        fileprivate var pieces = OutputPieces()

        init(
            _ core: Core, _ pool: ConnectionPool, _ streams: ReplyStreams,
            _ subscriptions: Subscriptions, _ output: OutputPump, _ lookups: HistoryLookups
        ) {
            self.core = core
            self.pool = pool
            self.streams = streams
            self.subscriptions = subscriptions
            self.output = output
            self.lookups = lookups
            startedAt = core.now
        }

        /// Whether all that a task has printed went with an earlier daemon: it has not ended, and waits for another
        /// attempt or is in it.
        func isLost(_ id: TaskID) -> Bool {
            guard output[id] == nil, let run = core.registry.record(id)?.run else { return false }
            return run.attempts.contains {
                $0.outcome == .interrupted || $0.endedAt <= startedAt
            }
        }

        /// Forgets what was written for several, once nobody waits for it.
        func endTurn() { if streams.isEmpty { pieces.removeAll() } }
    }

    /// - Parameter position: where it begins.
    init(
        _ parts: Parts, of id: TaskID, from position: Int, follows: Bool, for client: Client
    ) {
        self.parts = parts
        self.position = position
        self.id = id
        self.follows = follows
        parts.subscriptions.addReader(client, of: id)
    }

    var heldBytes: Int { 0 }

    func readerHasRoom(_ client: Client) { parts.streams.enqueue(client) }

    func release() {}

    func ended(for client: Client) { parts.subscriptions.removeReader(client, of: id) }

    func makePiece(for client: Client) {
        let before = client.connection.pendingOutputCount
        var made = 0
        defer { parts.streams.charge(made) }
        end = parts.output[id]?.end ?? end
        while made < Self.pieceMax, parts.pool.mayMakeMore(for: client),
            let piece = parts.pieces.piece(of: id, at: position, in: parts.output[id])
        {
            position = piece.next
            client.reply(piece.message, continues: true)
            made = client.connection.pendingOutputCount - before + ReplyRounds.replyCost
            parts.pool.markDirty(client)
        }
        guard !client.isClosed else { return }
        let isAtEnd = parts.output[id]?.piece(at: position) == nil
        guard isAtEnd else {
            // One that has left too much unread goes on when it has taken some.
            if made >= Self.pieceMax { parts.streams.enqueue(client) }
            return
        }
        let hasEnded = parts.core.registry.record(id)?.task.state ?? .ended == .ended
        guard !follows || hasEnded else { return }
        finish(client)
    }

    private func finish(_ client: Client) {
        ended(for: client)
        client.closeCall()
        client.reply(Tasks.Output.Output(end: max(end, position), from: position))
        parts.pool.resume(client)
    }
}
