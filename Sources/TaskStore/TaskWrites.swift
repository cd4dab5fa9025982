internal import BudgetCore

/// The statements that change the store; each runs inside a transaction.
///
/// `@unchecked Sendable`: used only by who holds the connection.
final class TaskWrites: @unchecked Sendable {
    /// Ended tasks in the database, as of the last commit.
    private(set) var shares: HistoryShares
    private var sharesSince: [(owner: OwnerID, change: HistoryShares.Share)] = []
    let connection: Connection
    private let queries: TaskQueries
    private var inserts: TaskInserts
    private let start: Statement
    private let undoStart: Statement
    private let cancel: Statement
    private let end: Statement
    private let success: Statement
    private let keepSuccess: Statement
    private let forgetSuccess: Statement
    private let keepAttempt: Statement
    private let requeue: Statement
    private let pause: Statement
    private let resume: Statement
    private let reserve: Statement
    private let remove: Statement
    private let removeAttempts: Statement

    init(_ connection: Connection) throws(StoreError) {
        self.connection = connection
        queries = TaskQueries(connection: connection)
        shares = HistoryShares(counts: try queries.endedCounts())
        inserts = try TaskInserts(connection)
        start = try connection.statement(SQL.start, "start")
        undoStart = try connection.statement(SQL.undoStart, "undo the start")
        cancel = try connection.statement(SQL.cancel, "cancel")
        end = try connection.statement(SQL.end, "end")
        success = try connection.statement(SQL.success, "end")
        keepSuccess = try connection.statement(SQL.keepSuccess, "keep a success")
        forgetSuccess = try connection.statement(SQL.forgetSuccess, "prune")
        keepAttempt = try connection.statement(SQL.keepAttempt, "queue again")
        requeue = try connection.statement(SQL.requeue, "queue again")
        pause = try connection.statement(SQL.pause, "pause")
        resume = try connection.statement(SQL.resume, "resume")
        reserve = try connection.statement(SQL.reserve, "reserve ids")
        remove = try connection.statement("DELETE FROM tasks WHERE id = ?", "prune")
        removeAttempts = try connection.statement("DELETE FROM attempts WHERE task = ?", "prune")
    }

    /// Does all of `body` in one transaction, or nothing.
    func transaction(
        _ operation: String, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        sharesSince.removeAll(keepingCapacity: true)
        try connection.transaction(operation, body)
        for (owner, change) in sharesSince { shares.add(change, of: owner) }
    }

    /// Counts what some rows take that were not counted yet.
    func countBytes(rowsMax: Int) throws(StoreError) {
        switch shares.counted {
        case .tasks(let id):
            let (bytes, last) = try queries.keptBytes(after: id, rowsMax: rowsMax)
            shares.count(
                bytes, through: last.map { .tasks(through: $0) } ?? .successes(through: nil))
        case .successes(let success):
            let (bytes, last) = try queries.successBytes(after: success, rowsMax: rowsMax)
            shares.count(bytes, through: last.map { .successes(through: $0) } ?? .all)
        case .all: break
        }
    }

    private func count(_ kept: Kept, _ count: Int) {
        sharesSince.append((kept.owner, shares.share(of: kept, count: count)))
    }

    /// What of the history is to go first.
    func excess(over bounds: HistoryBounds) -> HistoryShares.Excess? {
        shares.excess(over: bounds)
    }

    /// Takes something for gone while more is chosen that is to go with it.
    func setAside(_ kept: Kept) {
        shares.add(shares.share(of: kept, count: -1), of: kept.owner)
    }

    /// Takes something for there again that was set aside.
    func putBack(_ kept: Kept) {
        shares.add(shares.share(of: kept, count: 1), of: kept.owner)
    }

    /// Writes changes in their order.
    func write(_ changes: [StoreChange], _ applied: inout Applied) throws(StoreError) {
        inserts.discard()
        for change in changes { try write(change, &applied) }
        try inserts.finish()
    }

    private func write(_ change: StoreChange, _ applied: inout Applied) throws(StoreError) {
        if case .submitted(let task) = change { return try write(task, &applied) }
        // It may be about a task that is new.
        try inserts.finish()
        switch change {
        case .submitted: break
        case .started(let id, let time):
            try start.bind(Int64(clamping: id.rawValue))
            try start.bind(time.microseconds)
            try start.run()
            try checkChanged(id, "queued", "start")
        case .startUndone(let id):
            try undoStart.bind(Int64(clamping: id.rawValue))
            try undoStart.run()
            try checkChanged(id, "started", "undo the start")
        case .cancelling(let id):
            try cancel.bind(Int64(clamping: id.rawValue))
            try cancel.run()
            try checkChanged(id, "started", "cancel")
        case .ended(let id, let end): try write(end, of: id)
        case .requeued(let id, let requeue): try write(requeue, of: id)
        case .groupPaused(let name, let isPaused):
            let statement = isPaused ? pause : resume
            try statement.bind(name)
            try statement.run()
        case .applicationSaved(let application): try save(application)
        case .applicationForgotten(let owner, let id): try forget(id, of: owner)
        case .identifiersReserved(let id):
            try reserve.bind(Int64(clamping: id.rawValue))
            try reserve.run()
        }
    }

    /// Writes what nobody reads; SQLite leaves out what would stay the same.
    func probe() throws(StoreError) {
        try connection.statement("UPDATE probes SET count = count + 1", "probe").run()
    }

    /// Removes an ended task, or forgets a success.
    func remove(_ kept: Kept) throws(StoreError) {
        switch kept {
        case .task(let row):
            try remove.bind(row.id)
            try remove.run()
            if connection.changedRows > 0 { count(kept, -1) }
            try removeAttempts.bind(row.id)
            try removeAttempts.run()
        case .success(let success):
            try forgetSuccess.bind(Int64(success.owner.rawValue))
            try forgetSuccess.bind(success.name)
            try forgetSuccess.run()
            if connection.changedRows > 0 { count(kept, -1) }
        }
    }

    private func write(_ task: StoredTask, _ applied: inout Applied) throws(StoreError) {
        guard let end = task.end else {
            try inserts.add(live: TaskRow(task))
            return try findSuccess(before: task, &applied)
        }
        try inserts.finish()
        let row = TaskRow(task)
        try inserts.insert(ended: row)
        if let kept = try queries.keptRow(row.id) { count(.task(kept), 1) }
        try noteSuccess(task.id, end)
    }

    private func write(_ value: StoredEnd, of id: TaskID) throws(StoreError) {
        var row = EndRow(value)
        var binder = ColumnBinder(statement: end)
        try row.visit(&binder)
        try end.bind(Int64(clamping: id.rawValue))
        let kept = try KeptRow.only(of: end)
        try checkChanged(id, "queued or started", "end")
        if let kept { count(.task(kept), 1) }
        try noteSuccess(id, value)
    }

    /// An interval runs from the last success, of whatever task of that owner and name.
    private func noteSuccess(_ id: TaskID, _ end: StoredEnd) throws(StoreError) {
        guard end.outcome == .completed else { return }
        defer { success.reset() }
        try success.bind(Int64(clamping: id.rawValue))
        guard try success.step(), let interval = success.integer(3), interval >= 0 else { return }
        try keep(
            KeptSuccess(success), at: WallTime(microseconds: success.integer(2) ?? 0),
            for: interval, isNew: success.integer(4) == 1)
    }

    /// Keeps the time of a success as long as so many milliseconds, or as it is kept already.
    private func keep(
        _ success: KeptSuccess, at time: WallTime, for interval: Int64, isNew: Bool
    ) throws(StoreError) {
        try keepSuccess.bind(Int64(success.owner.rawValue))
        try keepSuccess.bind(success.name)
        try keepSuccess.bind(time.microseconds)
        try keepSuccess.bind(interval)
        try keepSuccess.run()
        if isNew { count(.success(success), 1) }
    }

    /// From now on that success is kept as long as this task may have to wait for it.
    private func findSuccess(
        before task: StoredTask, _ applied: inout Applied
    ) throws(StoreError) {
        guard let interval = task.queueing.minimumInterval,
            let (time, isKept) = try queries.successFound(owner: task.owner, name: task.name)
        else { return }
        applied.lastSuccesses[task.id] = time
        try keep(
            KeptSuccess(owner: task.owner, name: task.name), at: time,
            for: millisecondsUp(interval), isNew: !isKept)
    }

    private func write(_ value: StoredRequeue, of id: TaskID) throws(StoreError) {
        var row = EndRow(value.end)
        var binder = ColumnBinder(statement: keepAttempt)
        try keepAttempt.bind(Int64(clamping: id.rawValue))
        try row.visit(&binder)
        try keepAttempt.run()
        try checkChanged(id, "started", "queue again")
        try requeue.bind(Int64(clamping: id.rawValue))
        try requeue.bind(Int64(value.attempt))
        try requeue.bind(value.end.at.microseconds)
        try requeue.bind(value.earliestBegin.map(millisecondsUp))
        try requeue.run()
    }

    private func checkChanged(
        _ id: TaskID, _ state: String, _ operation: String
    ) throws(StoreError) {
        guard connection.changedRows == 0 else { return }
        throw StoreError(
            cause: .contradiction, operation: operation, path: connection.path,
            text: "task \(id) is not \(state) in the store")
    }
}
