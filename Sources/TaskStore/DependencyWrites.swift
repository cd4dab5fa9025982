internal import BudgetCore

/// Which tasks wait for the end of others, on disk.
///
/// A row stays until the task that waits has ended, with how its predecessor did: so that it is known after a restart,
/// however short the history is.
struct DependencyWrites {
    private let connection: Connection
    /// Whether there may be rows: most tasks come after no other, and their ends cost nothing here then.
    private var mayHaveRows: Bool

    init(_ connection: Connection) throws(StoreError) {
        self.connection = connection
        mayHaveRows =
            try connection.number("SELECT EXISTS (SELECT 1 FROM dependencies)", "open") != 0
    }

    /// A task was submitted that comes after others; an end that came to the disk before it counts.
    mutating func add(_ dependencies: [Dependency], of id: TaskID) throws(StoreError) {
        guard !dependencies.isEmpty else { return }
        mayHaveRows = true
        let statement = try connection.statement(SQL.addDependency, "submit")
        for dependency in dependencies {
            try statement.bind(Int64(clamping: dependency.predecessor.id.rawValue))
            try statement.bind(Int64(clamping: id.rawValue))
            try statement.bind(dependency.predecessor.anyOutcome ? 1 : Int64(0))
            try statement.bind(dependency.outcome?.code)
            try statement.run()
        }
    }

    /// A task has ended: those that come after it learn of it, and it comes after no other any more.
    func ended(_ id: TaskID, _ outcome: Outcome) throws(StoreError) {
        guard mayHaveRows else { return }
        let end = try connection.statement(SQL.endDependency, "end")
        try end.bind(Int64(clamping: id.rawValue))
        try end.bind(outcome.code)
        try end.run()
        let forget = try connection.statement(SQL.forgetDependencies, "end")
        try forget.bind(Int64(clamping: id.rawValue))
        try forget.run()
    }
}
