package import BudgetCore
internal import TaskStore

/// What is kept of the output of a task that has ended, or is left to the next daemon, on its way to the disk.
package struct EndedOutput: Sendable {
    package let task: TaskID
    package let owner: OwnerID
    package let log: OutputLog

    package init(task: TaskID, owner: OwnerID, log: OutputLog) {
        self.task = task
        self.owner = owner
        self.log = log
    }
}

/// Keeps the output of ended tasks on disk, within its bounds. For the store's thread alone.
///
/// Nothing else depends on what comes of it: what cannot be written is left out, and the fault is told once.
final class OutputWriter {
    /// Tasks whose output is looked for in the store at once.
    private static let sweptAtOnce = 500

    /// `nil`: none is kept.
    private let path: String?
    private let first: TaskID
    private var database: OutputDatabase?
    private var isAtFault = false
    private var newFault: StoreError?
    /// Up to which task it is known that the store has it; `nil`: all are known.
    private var sweptThrough: TaskID? = .invalid

    /// - Parameter first: the first id of this run.
    init(path: String?, first: TaskID) {
        self.path = path
        self.first = first
        attempt { _ in }
    }

    /// What has gone wrong since the last call, where all was well before.
    func takeFault() -> StoreError? {
        defer { newFault = nil }
        return newFault
    }

    /// What all outputs take that are kept.
    var keptBytes: Int { database?.keptBytes ?? 0 }

    /// Writes outputs, the oldest end first.
    ///
    /// - Parameter isHandedOver: whether their tasks have not ended, and the next daemon is to go on with them.
    func write(_ outputs: [EndedOutput], isHandedOver: Bool = false) {
        guard !outputs.isEmpty else { return }
        let isWritten = attempt { database throws(StoreError) in
            try database.keep(
                outputs.map { $0.log.stored(of: $0.task, $0.owner) }, isHandedOver: isHandedOver)
        }
        if isWritten { isAtFault = false }
    }

    /// Forgets what tasks printed that the history has forgotten.
    func forget(_ tasks: [TaskID]) {
        guard !tasks.isEmpty, database != nil else { return }
        attempt { database throws(StoreError) in try database.forget(tasks) }
    }

    /// Forgets what tasks printed, of those among some that the store does not have.
    func forget(of tasks: [TaskID], notIn store: TaskStore) {
        guard !tasks.isEmpty, database != nil else { return }
        attempt { database throws(StoreError) in
            try database.forget(try store.unknown(of: tasks))
        }
    }

    /// Does some of what the bounds and the file need.
    ///
    /// - Returns: whether nothing is left to do.
    func keepHouse(_ bounds: HistoryBounds, _ store: TaskStore) -> Bool {
        // One that cannot be opened is tried again when there is something to write.
        guard database != nil else { return true }
        var isComplete = true
        attempt { database throws(StoreError) in
            try sweep(database, store)
            let isWithinBounds = try database.prune(to: bounds)
            try database.checkpointIfDue()
            isComplete = isWithinBounds && sweptThrough == nil
        }
        return isComplete
    }

    /// Forgets what is left of tasks that an earlier daemon forgot, and ended before it had come to their output.
    private func sweep(_ database: OutputDatabase, _ store: TaskStore) throws(StoreError) {
        guard let last = sweptThrough else { return }
        let tasks = try database.tasks(after: last, countMax: Self.sweptAtOnce)
        try database.forget(try store.unknown(of: tasks))
        sweptThrough = tasks.count < Self.sweptAtOnce ? nil : tasks.last
    }

    /// Makes room on a full disk.
    ///
    /// - Returns: of how many tasks something is gone.
    func makeRoom(_ bytes: Int, _ bounds: HistoryBounds) -> Int {
        database?.makeRoom(bytes, bounds.accounts) ?? 0
    }

    /// Ends it; what is not in the database then is in its log.
    func close() { try? database?.close() }

    /// Does something with the database, which is opened where it is not.
    ///
    /// - Returns: whether that was done.
    @discardableResult
    private func attempt(_ body: (OutputDatabase) throws(StoreError) -> Void) -> Bool {
        guard let path else { return false }
        do throws(StoreError) {
            try body(try opened(at: path))
            return true
        } catch {
            if !isAtFault { newFault = error }
            isAtFault = true
            return false
        }
    }

    private func opened(at path: String) throws(StoreError) -> OutputDatabase {
        if let database { return database }
        let opened = try OutputDatabase(path: path, first: first)
        database = opened
        return opened
    }
}
