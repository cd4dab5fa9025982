internal import BudgetCore
internal import TaskAPI
internal import TaskStore
internal import Varlink

/// Writes the output of a task that has ended from the disk, piece by piece, as its reader takes it.
final class StoredOutputPager: Pager {
    /// Output that one reader is made before others have their turn.
    private static let pieceMax = 32_768

    private let parts: OutputPager.Parts
    private let id: TaskID
    /// Whose task it may be; `nil`: anybody's.
    private let owner: OwnerID?
    private var position: Int
    /// What was printed before it is passed over; `nil` once it is.
    private var since: WallTime?
    /// What was read last.
    private var page = OutputLog()
    /// How many bytes the task printed, as far as that is known.
    private var end = 0
    private var isReading = false

    /// - Parameter since: what was printed before this time is passed over.
    init(
        _ parts: OutputPager.Parts, of id: TaskID, from position: Int, since: WallTime?,
        for caller: Caller
    ) {
        self.parts = parts
        self.id = id
        self.position = position
        self.since = since
        owner = caller.seesAll ? nil : caller.owner
    }

    var heldBytes: Int { page.memoryBytes }

    func release() { page = OutputLog() }

    func ended(for client: Client) { parts.lookups.forget(client) }

    func readerHasRoom(_ client: Client) {
        if !isReading { parts.streams.enqueue(client) }
    }

    // MARK: - Reading

    /// Has the first page read.
    func begin(for client: Client) { read(for: client) }

    private func read(for client: Client) {
        isReading = true
        let question = HistoryThread.Question.output(
            id, of: owner, from: position, since: since)
        parts.lookups.ask(question, for: client) { [unowned self] answer in
            isReading = false
            switch answer {
            case .output(nil, _): refuse(client, .refused(.noSuchTask(id)))
            case .output(let task?, let found): take(found, of: task, for: client)
            case .failed(let error): refuse(client, .unreadable(error))
            case .task, .submission, .ended, .page, .spans: break
            }
        }
    }

    private func take(_ found: StoredOutput?, of task: StoredTask, for client: Client) {
        if let found {
            page = OutputLog(found)
            end = found.end
            if let since {
                position = max(position, min(found.times.position(since: since) ?? end, end))
            }
        } else {
            page = OutputLog()
            // What is on its way to the disk, or was not kept there, is known by its length at least.
            end = max(end, parts.output[id]?.end ?? 0)
            guard end > 0 || task.hasNeverStarted || parts.output[id] != nil else {
                let isLost = task.end?.outcome == .interrupted
                return refuse(client, .outputGone(id, lostWithDaemon: isLost))
            }
        }
        since = nil
        parts.pool.account(client)
        guard !client.isClosed else { return }
        guard found != nil else { return finish(client) }
        parts.streams.enqueue(client)
    }

    // MARK: - Replies

    func makePiece(for client: Client) {
        guard !isReading else { return }
        let before = client.connection.pendingOutputCount
        var made = 0
        defer { parts.streams.charge(made) }
        while made < Self.pieceMax, parts.pool.mayMakeMore(for: client),
            let piece = page.piece(at: position)
        {
            position = piece.next
            client.reply(Tasks.Output.Output(piece), continues: true)
            made = client.connection.pendingOutputCount - before + ReplyRounds.replyCost
            parts.pool.markDirty(client)
        }
        guard !client.isClosed else { return }
        guard page.piece(at: position) == nil else {
            if made >= Self.pieceMax { parts.streams.enqueue(client) }
            return
        }
        if position < end { read(for: client) } else { finish(client) }
    }

    private func finish(_ client: Client) {
        ended(for: client)
        client.closeCall()
        client.reply(Tasks.Output.Output(end: end, from: position))
        parts.pool.resume(client)
    }

    private func refuse(_ client: Client, _ failure: CallFailure) {
        client.closeCall()
        client.reply(failure)
        parts.pool.resume(client)
    }
}

extension StoredTask {
    /// Whether no attempt of it was begun, so that it has printed nothing.
    fileprivate var hasNeverStarted: Bool { startedAt == nil && attempt <= 1 }
}
