internal import BudgetCore
internal import TaskAPI
internal import Varlink

/// Lists tasks, piece by piece, as their reader takes them.
final class TaskListPager: Pager {
    /// Tasks that one listing looks at before others have their turn.
    private static let scanMax = 512

    private let core: Core
    private let pool: ConnectionPool
    private let streams: ReplyStreams
    /// `nil` once the client is being closed.
    private var cursor: ListCursor?

    init(
        _ core: Core, _ pool: ConnectionPool, _ streams: ReplyStreams, _ cursor: ListCursor
    ) {
        self.core = core
        self.pool = pool
        self.streams = streams
        self.cursor = cursor
    }

    var heldBytes: Int { cursor?.heldBytes ?? 0 }

    func readerHasRoom(_ client: Client) { streams.enqueue(client) }

    func release() { cursor = nil }

    func ended(for client: Client) {}

    func makePiece(for client: Client) {
        let before = client.heldBytes
        var rows = 0
        defer {
            let made = max(client.heldBytes - before, 0)
            streams.charge(rows * ReplyRounds.rowCost + made)
            // What waits for its reader to take something goes on when that is so.
            if made > 0 { pool.markDirty(client) }
        }
        while rows < Self.scanMax {
            rows += 1
            guard pool.mayMakeMore(for: client) else { return pool.account(client) }
            guard let id = cursor?.next(in: core.registry) else { return finish(client) }
            guard let record = core.registry.record(id),
                cursor?.includes(record, at: core.now) == true
            else { continue }
            var task = Tasks.Task(record, in: core.registry, at: core.now)
            if cursor?.withAttempts == true { task.tellAttempts(of: record, at: core.now) }
            guard cursor?.collected != nil else {
                var output = Tasks.List.Output()
                output.task = task
                client.reply(output, continues: true)
                continue
            }
            guard cursor?.collected?.take(task) == true else { return finish(client) }
        }
        pool.account(client)
        if !client.isClosed { streams.enqueue(client) }
    }

    private func finish(_ client: Client) {
        client.closeCall()
        var output = Tasks.List.Output()
        output.tasks = cursor?.collected?.tasks
        output.truncated = cursor?.collected?.isTruncated == true ? true : nil
        client.reply(output)
        pool.resume(client)
    }
}
