/// Goes through the columns of a row: to name, to bind or to read them.
protocol ColumnVisitor {
    associatedtype Failure: Error

    mutating func column(_ name: StaticString, _ value: inout Int64) throws(Failure)
    mutating func column(_ name: StaticString, _ value: inout Int64?) throws(Failure)
    mutating func column(_ name: StaticString, _ value: inout String) throws(Failure)
    mutating func column(_ name: StaticString, _ value: inout String?) throws(Failure)
}

/// The columns of the table `tasks`, which are listed here alone.
struct TaskRow {
    var id: Int64 = 0
    var owner: Int64 = 0
    var name = ""
    var application: String?
    var profile = ""
    var durationMs: Int64?
    var graceMs: Int64 = 0
    var lifetimeMaxMs: Int64?
    var isCutByLifetime: Int64 = 0
    var command = ""
    var directory: String?
    var environment: String?
    var handlerSignal: Int64?
    var handlerCommand: String?
    var primaryGroup: Int64?
    var supplementaryGroups: String?
    var userName: String?
    var noNewPrivileges: Int64 = 0
    var group: String?
    var priority: Int64 = 0
    var earliestBeginMs: Int64?
    var conditions: String?
    var minimumIntervalMs: Int64?
    var unique: String?
    var retryAttempts: Int64?
    var retryDelayMs: Int64?
    var retryOnInterruption: Int64?
    var submittedAtUs: Int64 = 0
    var queuedAtUs: Int64 = 0
    var startedAtUs: Int64?
    var attempt: Int64 = 0
    var isCancelled: Int64 = 0
    var end = EndRow()

    mutating func visit<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try visitLive(&row)
        try end.visit(&row)
    }

    /// All but the end.
    mutating func visitLive<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try row.column("id", &id)
        try row.column("owner", &owner)
        try row.column("name", &name)
        try row.column("application", &application)
        try row.column("profile", &profile)
        try row.column("duration_ms", &durationMs)
        try row.column("grace_ms", &graceMs)
        try row.column("lifetime_max_ms", &lifetimeMaxMs)
        try row.column("is_cut_by_lifetime", &isCutByLifetime)
        try visitWork(&row)
        try visitQueueing(&row)
        try row.column("submitted_at_us", &submittedAtUs)
        try row.column("queued_at_us", &queuedAtUs)
        try row.column("started_at_us", &startedAtUs)
        try row.column("attempt", &attempt)
        try row.column("is_cancelled", &isCancelled)
    }

    private mutating func visitWork<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try row.column("command", &command)
        try row.column("directory", &directory)
        try row.column("environment", &environment)
        try row.column("handler_signal", &handlerSignal)
        try row.column("handler_command", &handlerCommand)
        try row.column("primary_gid", &primaryGroup)
        try row.column("supplementary_gids", &supplementaryGroups)
        try row.column("user_name", &userName)
        try row.column("no_new_privs", &noNewPrivileges)
    }

    private mutating func visitQueueing<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try row.column("group_name", &group)
        try row.column("priority", &priority)
        try row.column("earliest_begin_ms", &earliestBeginMs)
        try row.column("conditions", &conditions)
        try row.column("minimum_interval_ms", &minimumIntervalMs)
        try row.column("unique_name", &unique)
        try row.column("retry_attempts", &retryAttempts)
        try row.column("retry_delay_ms", &retryDelayMs)
        try row.column("retry_on_interruption", &retryOnInterruption)
    }
}

/// The columns of an end, in `tasks` and in `attempts`.
struct EndRow {
    var endedAtUs: Int64?
    var outcome: Int64?
    var exitStatus: Int64?
    var exitSignal: Int64?
    var reason: String?
    var reasonOwner: Int64?
    var reasonText: String?
    var usedMs: Int64?
    var cpuMs: Int64?
    var memoryPeakBytes: Int64?

    mutating func visit<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try row.column("ended_at_us", &endedAtUs)
        try row.column("outcome", &outcome)
        try row.column("exit_status", &exitStatus)
        try row.column("exit_signal", &exitSignal)
        try row.column("reason", &reason)
        try row.column("reason_uid", &reasonOwner)
        try row.column("reason_text", &reasonText)
        try row.column("used_ms", &usedMs)
        try row.column("cpu_ms", &cpuMs)
        try row.column("memory_peak_bytes", &memoryPeakBytes)
    }
}

/// Gathers the names of columns.
struct ColumnNames: ColumnVisitor {
    private(set) var names: [String] = []

    static let ofTask: [String] = {
        var row = TaskRow()
        var visitor = ColumnNames()
        row.visit(&visitor)
        return visitor.names
    }()

    static let ofLiveTask: [String] = {
        var row = TaskRow()
        var visitor = ColumnNames()
        row.visitLive(&visitor)
        return visitor.names
    }()

    static let ofEnd: [String] = {
        var row = EndRow()
        var visitor = ColumnNames()
        row.visit(&visitor)
        return visitor.names
    }()

    mutating func column(_ name: StaticString, _ value: inout Int64) throws(Never) { add(name) }
    mutating func column(_ name: StaticString, _ value: inout Int64?) throws(Never) { add(name) }
    mutating func column(_ name: StaticString, _ value: inout String) throws(Never) { add(name) }
    mutating func column(_ name: StaticString, _ value: inout String?) throws(Never) { add(name) }

    private mutating func add(_ name: StaticString) {
        names.append("\(name)")
    }
}

/// Gives a row's values to a statement, one parameter a column.
struct ColumnBinder: ColumnVisitor {
    let statement: Statement

    mutating func column(_ name: StaticString, _ value: inout Int64) throws(StoreError) {
        try statement.bind(value)
    }

    mutating func column(_ name: StaticString, _ value: inout Int64?) throws(StoreError) {
        try statement.bind(value)
    }

    mutating func column(_ name: StaticString, _ value: inout String) throws(StoreError) {
        try statement.bind(value)
    }

    mutating func column(_ name: StaticString, _ value: inout String?) throws(StoreError) {
        try statement.bind(value)
    }
}

/// Takes a row's values from a statement, from the column `next` on.
struct ColumnReader: ColumnVisitor {
    let statement: Statement
    let path: String
    var next: Int32 = 0

    mutating func column(_ name: StaticString, _ value: inout Int64) throws(StoreError) {
        value = try required(name, statement.integer(next))
    }

    mutating func column(_ name: StaticString, _ value: inout Int64?) throws(StoreError) {
        value = statement.integer(next)
        next += 1
    }

    mutating func column(_ name: StaticString, _ value: inout String) throws(StoreError) {
        value = try required(name, statement.text(next))
    }

    mutating func column(_ name: StaticString, _ value: inout String?) throws(StoreError) {
        value = statement.text(next)
        next += 1
    }

    private mutating func required<Value>(
        _ name: StaticString, _ value: Value?
    ) throws(StoreError) -> Value {
        guard let value else {
            throw .damaged("read", path, "a row has no \(name); \(StoreError.remedy)")
        }
        next += 1
        return value
    }
}
