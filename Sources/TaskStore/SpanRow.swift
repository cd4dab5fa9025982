internal import BudgetCore

/// The columns of the table `application_spans`, which are listed here alone.
struct SpanRow {
    var id: Int64 = 0
    var owner: Int64 = 0
    var application = ""
    var state: Int64 = 0
    var beganAtUs: Int64 = 0
    var endedAtUs: Int64?
    var seenAtUs: Int64?
    var terminationReason: Int64?

    mutating func visit<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try row.column("id", &id)
        try row.column("owner", &owner)
        try row.column("application", &application)
        try row.column("state", &state)
        try row.column("began_at_us", &beganAtUs)
        try row.column("ended_at_us", &endedAtUs)
        try row.column("seen_at_us", &seenAtUs)
        try row.column("termination_reason", &terminationReason)
    }
}

extension SpanRow {
    init(_ span: StoredSpan) {
        id = Int64(clamping: span.number)
        owner = Int64(span.key.owner.rawValue)
        application = span.key.id
        state = span.state.code
        beganAtUs = span.beganAt.microseconds
        endedAtUs = span.endedAt?.microseconds
        seenAtUs = span.seenAt?.microseconds
        terminationReason = span.reason?.code
    }

    /// The span that the row describes.
    func span(_ path: String) throws(StoreError) -> StoredSpan {
        let check = RowCheck(path: path, subject: "span \(id) of an application")
        let user = try check.known(UInt32(exactly: owner), "owner")
        let reason = try terminationReason.map { code throws(StoreError) in
            try check.known(TerminationReason(code: code), "termination_reason")
        }
        return StoredSpan(
            number: try check.known(UInt64(exactly: id), "id"),
            key: ApplicationKey(owner: OwnerID(rawValue: user), id: application),
            state: try check.known(ApplicationState(code: state), "state"),
            beganAt: WallTime(microseconds: beganAtUs),
            endedAt: endedAtUs.map(WallTime.init(microseconds:)),
            seenAt: seenAtUs.map(WallTime.init(microseconds:)), reason: reason)
    }
}

extension ApplicationState {
    /// The number in the database, which must never change its meaning.
    var code: Int64 {
        switch self {
        case .notRunning: 0
        case .inactive: 1
        case .active: 2
        case .background: 3
        case .suspended: 4
        }
    }

    init?(code: Int64) {
        guard let state = ApplicationState.allCases.first(where: { $0.code == code })
        else { return nil }
        self = state
    }
}

extension ColumnNames {
    static let ofSpan: [String] = {
        var row = SpanRow()
        var visitor = ColumnNames()
        row.visit(&visitor)
        return visitor.names
    }()
}
