internal import BudgetCore

/// What can be asked about the spans of applications; each runs while its caller holds the connection.
struct SpanQueries {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    private static let columns = ColumnNames.ofSpan.joined(separator: ", ")

    /// A page of the spans that have ended, newest end first.
    ///
    /// - Parameter last: the highest number that is asked for.
    func page(
        _ filter: SpanFilter, through last: UInt64, after cursor: SpanCursor?, countMax: Int
    ) throws(StoreError) -> SpanPage {
        guard countMax > 0 else { return SpanPage(spans: [], next: cursor) }
        var conditions = ["ended_at_us IS NOT NULL", "id <= ?"]
        var parameters = [SQLValue.number(Int64(clamping: last))]
        func add(_ condition: String, _ value: SQLValue) {
            conditions.append(condition)
            parameters.append(value)
        }
        if let application = filter.application { add("application = ?", .text(application)) }
        if let owner = filter.owner { add("owner = ?", .number(Int64(owner.rawValue))) }
        if let since = filter.since { add("ended_at_us >= ?", .number(since.microseconds)) }
        if let cursor {
            add("(ended_at_us, id) < (?, ?)", .number(cursor.endedAt.microseconds))
            parameters.append(.number(Int64(clamping: cursor.number)))
        }
        parameters.append(.number(Int64(countMax) + 1))
        let found = try spans(
            "SELECT \(Self.columns) FROM application_spans INDEXED BY \(Self.index(filter)) WHERE "
                + conditions.joined(separator: " AND ")
                + " ORDER BY ended_at_us DESC, id DESC LIMIT ?", parameters)
        let page = Array(found.prefix(countMax))
        guard found.count > countMax, let last = page.last, let endedAt = last.endedAt else {
            return SpanPage(spans: page, next: nil)
        }
        return SpanPage(
            spans: page, next: SpanCursor(endedAt: endedAt, number: last.number))
    }

    /// The index whose first column says most; each has the ends in the order of their time.
    private static func index(_ filter: SpanFilter) -> String {
        if filter.application != nil { return "application_spans_application" }
        return filter.owner != nil ? "application_spans_owner" : "application_spans_ended"
    }

    /// What an earlier daemon wrote of spans that went on.
    func open() throws(StoreError) -> OpenSpans {
        let open = try spans(
            "SELECT \(Self.columns) FROM application_spans INDEXED BY application_spans_open "
                + "WHERE ended_at_us IS NULL ORDER BY id")
        let last = try connection.number(
            "SELECT coalesce(max(id), 0) FROM application_spans", "read")
        return OpenSpans(
            spans: open, numberLast: UInt64(clamping: last), seenAt: try latestTime())
    }

    /// The latest time that is written anywhere, of those that an index finds at once.
    private func latestTime() throws(StoreError) -> WallTime? {
        let times = [
            "SELECT max(ended_at_us) AS time FROM application_spans "
                + "INDEXED BY application_spans_ended WHERE ended_at_us IS NOT NULL",
            "SELECT max(began_at_us) FROM application_spans INDEXED BY application_spans_open "
                + "WHERE ended_at_us IS NULL",
            "SELECT max(ended_at_us) FROM tasks INDEXED BY tasks_ended "
                + "WHERE ended_at_us IS NOT NULL",
            "SELECT max(max(submitted_at_us, queued_at_us, coalesce(started_at_us, queued_at_us))) "
                + "FROM tasks INDEXED BY tasks_live WHERE ended_at_us IS NULL",
        ]
        let statement = try connection.statement(
            "SELECT max(time) FROM (\(times.joined(separator: " UNION ALL ")))", "read")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return statement.integer(0).map(WallTime.init(microseconds:))
    }

    /// What each owner has of spans that have ended.
    func shares() throws(StoreError) -> [OwnerID: OwnerShares.Share] {
        let statement = try connection.statement(
            "SELECT owner, count(*), sum(\(KeptSpan.bytes)) FROM application_spans "
                + "WHERE ended_at_us IS NOT NULL GROUP BY owner", "read")
        defer { statement.reset() }
        var shares: [OwnerID: OwnerShares.Share] = [:]
        while try statement.step() {
            let owner = OwnerID(rawValue: UInt32(clamping: statement.integer(0) ?? 0))
            shares[owner] = OwnerShares.Share(
                count: Int(clamping: statement.integer(1) ?? 0),
                bytes: Int(clamping: statement.integer(2) ?? 0))
        }
        return shares
    }

    /// The oldest spans, of an owner or of all, that ended at a time or later, and before another.
    func oldest(
        of owner: OwnerID?, from first: WallTime?, before end: WallTime?, rowsMax: Int
    ) throws(StoreError) -> [KeptSpan] {
        let index = owner == nil ? "application_spans_ended" : "application_spans_owner"
        let statement = try connection.statement(
            "SELECT \(KeptSpan.columns) FROM application_spans INDEXED BY \(index) "
                + "WHERE ended_at_us IS NOT NULL AND ended_at_us >= ? AND ended_at_us < ? "
                + (owner == nil ? "" : "AND owner = ? ") + "ORDER BY ended_at_us, id LIMIT ?",
            "prune")
        defer { statement.reset() }
        try statement.bind(first?.microseconds ?? .min)
        try statement.bind(end?.microseconds ?? .max)
        if let owner { try statement.bind(Int64(owner.rawValue)) }
        try statement.bind(Int64(rowsMax))
        var found: [KeptSpan] = []
        while try statement.step() { found.append(KeptSpan(statement)) }
        return found
    }

    private func spans(
        _ sql: String, _ parameters: [SQLValue] = []
    ) throws(StoreError) -> [StoredSpan] {
        try connection.rows(sql, parameters) { reader throws(StoreError) in
            var row = SpanRow()
            try row.visit(&reader)
            return try row.span(connection.path)
        }
    }
}
