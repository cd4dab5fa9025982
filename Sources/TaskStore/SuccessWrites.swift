internal import BudgetCore

/// The statements that keep and forget last successes; each runs inside a transaction.
struct SuccessWrites {
    private let account: HistoryAccount
    private let queries: SuccessQueries
    private let success: Statement
    private let keepSuccess: Statement
    private let forgetSuccess: Statement

    init(_ connection: Connection, _ account: HistoryAccount) throws(StoreError) {
        self.account = account
        queries = SuccessQueries(connection)
        success = try connection.statement(SQL.success, "end")
        keepSuccess = try connection.statement(SQL.keepSuccess, "keep a success")
        forgetSuccess = try connection.statement(SQL.forgetSuccess, "prune")
    }

    /// An interval runs from the last success, of whatever task of that owner and name.
    func note(_ id: TaskID, _ end: StoredEnd) throws(StoreError) {
        guard end.outcome == .completed else { return }
        defer { success.reset() }
        try success.bind(Int64(clamping: id.rawValue))
        guard try success.step(), let interval = success.integer(3), interval >= 0 else { return }
        try keep(
            KeptSuccess(success), at: WallTime(microseconds: success.integer(2) ?? 0),
            for: interval, isNew: success.integer(4) == 1)
    }

    /// Keeps the time of a success for so many milliseconds, or longer where it is kept longer already.
    private func keep(
        _ success: KeptSuccess, at time: WallTime, for interval: Int64, isNew: Bool
    ) throws(StoreError) {
        try keepSuccess.bind(Int64(success.owner.rawValue))
        try keepSuccess.bind(success.name)
        try keepSuccess.bind(time.microseconds)
        try keepSuccess.bind(interval)
        try keepSuccess.run()
        if isNew { account.add(.success(success)) }
    }

    /// From now on that success is kept as long as this task may have to wait for it.
    func find(
        before task: StoredTask, _ applied: inout Applied
    ) throws(StoreError) {
        guard let interval = task.queueing.minimumInterval,
            let (time, isKept) = try queries.found(owner: task.owner, name: task.name)
        else { return }
        applied.lastSuccesses[task.id] = time
        try keep(
            KeptSuccess(owner: task.owner, name: task.name), at: time,
            for: millisecondsUp(interval), isNew: !isKept)
    }

    /// Removes a success, where it is still there.
    func forget(_ success: KeptSuccess) throws(StoreError) {
        try forgetSuccess.bind(Int64(success.owner.rawValue))
        try forgetSuccess.bind(success.name)
        try forgetSuccess.run()
    }
}
