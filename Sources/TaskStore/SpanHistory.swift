internal import BudgetCore

/// Writes the spans of applications, and keeps them within their bounds.
///
/// `@unchecked Sendable`: used only by who holds the connection.
final class SpanHistory: @unchecked Sendable {
    private let connection: Connection
    private let queries: SpanQueries
    private var shares: SpanShares
    /// What the transaction under way has changed, which counts when it is committed.
    private var pending: [(span: KeptSpan, count: Int)] = []

    init(_ connection: Connection) throws(StoreError) {
        self.connection = connection
        queries = SpanQueries(connection)
        shares = SpanShares(try queries.shares())
    }

    /// Spans that are kept and have ended.
    var endedCount: Int { shares.total.count }

    /// A transaction begins.
    func begin() { pending.removeAll(keepingCapacity: true) }

    /// The transaction is committed.
    func committed() {
        for (span, count) in pending {
            shares.add(.init(count: count, bytes: count * span.bytes), of: span.owner)
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// Writes spans, inside a transaction. One that is there has ended meanwhile, or is otherwise than it was.
    func write(_ spans: [StoredSpan]) throws(StoreError) {
        guard !spans.isEmpty else { return }
        let ended = try connection.statement(
            "SELECT \(KeptSpan.columns) FROM application_spans "
                + "WHERE id = ? AND ended_at_us IS NOT NULL", "save a span")
        let save = try connection.statement(SQL.saveSpan, "save a span")
        for span in spans {
            let id = Int64(clamping: span.number)
            if let before = try kept(id, by: ended) { pending.append((before, -1)) }
            var row = SpanRow(span)
            var binder = ColumnBinder(statement: save)
            try row.visit(&binder)
            try save.run()
            if let after = try kept(id, by: ended) { pending.append((after, 1)) }
        }
    }

    private func kept(_ id: Int64, by statement: Statement) throws(StoreError) -> KeptSpan? {
        defer { statement.reset() }
        try statement.bind(id)
        return try statement.step() ? KeptSpan(statement) : nil
    }

    // MARK: - The bounds of the history

    /// Some spans that are too old, or too many.
    func excess(
        over bounds: HistoryBounds, at now: WallTime, rowsMax: Int
    ) throws(StoreError) -> [KeptSpan] {
        if let ageMax = bounds.ageMax {
            let old = try queries.oldest(
                of: nil, before: now.earlier(by: ageMax), rowsMax: rowsMax)
            if !old.isEmpty { return old }
        }
        guard let (owner, countMax) = shares.excess(over: bounds, rowsMax: rowsMax)
        else { return [] }
        return try queries.oldest(of: owner, before: nil, rowsMax: countMax)
    }

    /// Removes spans, inside a transaction.
    func remove(_ spans: [KeptSpan]) throws(StoreError) {
        let statement = try connection.statement(
            "DELETE FROM application_spans WHERE id = ?", "prune")
        for span in spans {
            try statement.bind(span.id)
            try statement.run()
            if connection.changedRows > 0 { pending.append((span, -1)) }
        }
    }
}
