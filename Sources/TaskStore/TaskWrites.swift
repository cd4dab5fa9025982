internal import BudgetCore

/// The statements that change the store; each runs inside a transaction.
///
/// `@unchecked Sendable`: used only by who holds the connection.
final class TaskWrites: @unchecked Sendable {
    private let connection: Connection
    private let account: HistoryAccount
    private let queries: TaskQueries
    private let successes: SuccessWrites
    private var dependencies: DependencyWrites
    private var inserts: TaskInserts
    private let start: Statement
    private let undoStart: Statement
    private let cancel: Statement
    private let end: Statement
    private let keepSubmission: Statement
    private let keepAttempt: Statement
    private let requeue: Statement
    private let removal: TaskRemoval

    /// - Parameter account: what counts the ended tasks and the successes that are written.
    init(_ connection: Connection, _ account: HistoryAccount) throws(StoreError) {
        self.connection = connection
        self.account = account
        queries = TaskQueries(connection)
        inserts = try TaskInserts(connection)
        start = try connection.statement(SQL.start, "start")
        undoStart = try connection.statement(SQL.undoStart, "undo the start")
        cancel = try connection.statement(SQL.cancel, "cancel")
        end = try connection.statement(SQL.end, "end")
        keepSubmission = try connection.statement(SQL.keepSubmission, "end")
        successes = try SuccessWrites(connection, account)
        dependencies = try DependencyWrites(connection)
        keepAttempt = try connection.statement(SQL.keepAttempt, "queue again")
        requeue = try connection.statement(SQL.requeue, "queue again")
        removal = try TaskRemoval(connection, account)
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
        case .started(let id, let time, let executor):
            try start.bind(Int64(clamping: id.rawValue))
            try start.bind(time.microseconds)
            try start.bind(executor?.stored)
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
        case .changed(let id, let terms): try write(terms, of: id)
        case .groupPaused(let name, let isPaused): try write(isPaused, ofGroup: name)
        case .slotsOrdered(let order): try write(order)
        case .cleaned(let ids, let owner):
            for id in ids {
                guard let kept = try queries.keptRow(Int64(clamping: id.rawValue)),
                    owner == nil || kept.owner == owner
                else { continue }
                try removal.remove(kept)
            }
        case .ownerPaused(let owner, let isPaused):
            let statement = try connection.statement(
                isPaused ? SQL.pauseOwner : SQL.resumeOwner, isPaused ? "pause" : "resume")
            try statement.bind(Int64(owner.rawValue))
            try statement.run()
        case .applicationSaved(let application): try save(application)
        case .applicationForgotten(let owner, let id): try forget(id, of: owner)
        case .identifiersReserved(let id):
            let statement = try connection.statement(SQL.reserve, "reserve ids")
            try statement.bind(Int64(clamping: id.rawValue))
            try statement.run()
        }
    }

    /// Writes what nobody reads; SQLite leaves out what would stay the same.
    func probe() throws(StoreError) {
        try connection.statement("UPDATE probes SET count = count + 1", "probe").run()
    }

    private func write(_ task: StoredTask, _ applied: inout Applied) throws(StoreError) {
        guard let end = task.end else {
            try inserts.add(live: TaskRow(task))
            try dependencies.add(task.dependencies, of: task.id)
            return try successes.find(before: task, &applied)
        }
        try inserts.finish()
        let row = TaskRow(task)
        try inserts.insert(ended: row)
        if let kept = try queries.keptRow(row.id) { account.add(.task(kept)) }
        try successes.note(task.id, end)
    }

    private func write(_ value: StoredEnd, of id: TaskID) throws(StoreError) {
        try keepSubmission.bind(Int64(clamping: id.rawValue))
        try keepSubmission.run()
        var row = EndRow(value)
        var binder = ColumnBinder(statement: end)
        try row.visit(&binder)
        try end.bind(Int64(clamping: id.rawValue))
        let kept = try KeptRow.only(of: end)
        try checkChanged(id, "queued or started", "end")
        if let kept { account.add(.task(kept)) }
        try successes.note(id, value)
        try dependencies.ended(id, value.outcome)
    }

    private func write(_ terms: StoredTerms, of id: TaskID) throws(StoreError) {
        let statement = try connection.statement(SQL.change, "change")
        let row = TaskRow(terms.queueing)
        try statement.bind(Int64(clamping: id.rawValue))
        try statement.bind(row.group)
        try statement.bind(row.priority)
        try statement.bind(row.earliestBeginMs)
        try statement.bind(row.conditions)
        try statement.bind(row.slots)
        try statement.bind(row.isPaused)
        try statement.bind(terms.at.microseconds)
        try statement.run()
        try checkChanged(id, "queued", "change")
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

    private func write(_ order: SlotOrder) throws(StoreError) {
        let statement = try connection.statement(
            order.slots == nil ? SQL.forgetSlots : SQL.orderSlots, "order slots")
        try statement.bind(order.group ?? "")
        if let slots = order.slots { try statement.bind(Int64(slots)) }
        try statement.run()
    }

    private func write(_ isPaused: Bool, ofGroup name: String) throws(StoreError) {
        let statement = try connection.statement(
            isPaused ? SQL.pause : SQL.resume, isPaused ? "pause" : "resume")
        try statement.bind(name)
        try statement.run()
    }

    /// Puts an application in the place of what was known of it.
    private func save(_ application: StoredApplication) throws(StoreError) {
        let statement = try connection.statement(SQL.saveApplication, "save an application")
        var row = ApplicationRow(application)
        var binder = ColumnBinder(statement: statement)
        try row.visit(&binder)
        try statement.run()
    }

    /// Removes an application; one that is not there stays away.
    private func forget(_ id: String, of owner: OwnerID) throws(StoreError) {
        let statement = try connection.statement(SQL.forgetApplication, "forget an application")
        try statement.bind(Int64(owner.rawValue))
        try statement.bind(id)
        try statement.run()
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
