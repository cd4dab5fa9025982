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

    /// How many more there are than at the last look for those that are too many.
    private var added = 0

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
            self.count(span, count)
            added = max(added + count, 0)
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

    /// Some spans that are too old, or too many. As many as there are more than at the last look, and some besides, so
    /// that there are never more than the bounds let and what was written since.
    func excess(
        over bounds: HistoryBounds, at now: WallTime, rowsMax: Int
    ) throws(StoreError) -> [KeptSpan] {
        let rowsMax = max(rowsMax, added + SpanHistory.gain)
        let first = bounds.ageMax.map(now.earlier(by:))
        var found: [KeptSpan] = []
        if let first {
            found = try queries.oldest(of: nil, from: nil, before: first, rowsMax: rowsMax)
        }
        guard found.count < rowsMax else { return found }
        let old = found
        for span in old { count(span, -1) }
        defer { for span in old { count(span, 1) } }
        for (owner, count) in shares.excess(over: bounds, rowsMax: rowsMax - found.count) {
            found += try queries.oldest(of: owner, from: first, before: nil, rowsMax: count)
        }
        if found.isEmpty { added = 0 }
        return found
    }

    private func count(_ span: KeptSpan, _ count: Int) {
        shares.add(.init(count: count, bytes: count * span.bytes), of: span.owner)
    }

    /// How many fewer there are at least after each look, while they are too many.
    private static let gain = 64

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
