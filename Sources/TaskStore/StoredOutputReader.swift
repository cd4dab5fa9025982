package import BudgetCore
internal import CSQLite
internal import Glibc

/// Reads the output of ended tasks, on another thread than the one that writes it.
package final class StoredOutputReader: Sendable {
    private let connection: Connection

    /// Opens the database; `nil` where there is none yet.
    package init?(path: String) throws(StoreError) {
        guard access(path, F_OK) == 0 else { return nil }
        connection = try Connection(path: path, flags: SQLITE_OPEN_READONLY)
    }

    /// What is kept of the output of a task that has ended, with the first chunks that are not over at a position; `nil` where nothing is
    /// kept, not even that there was none.
    ///
    /// - Parameter time: where it is given, what is not printed later than that is passed over too.
    package func output(
        of task: TaskID, owner: OwnerID, from position: Int, since time: WallTime? = nil
    ) throws(StoreError) -> StoredOutput? {
        try connection.exclusively { () throws(StoreError) in
            let queries = OutputQueries(connection)
            guard let bounds = try queries.bounds(of: task, owner), !bounds.isHandedOver else {
                return nil
            }
            let (start, end, times) = (bounds.start, bounds.end, bounds.times)
            let position = max(position, time.map { times.position(since: $0) ?? end } ?? 0)
            let chunks = try queries.chunks(of: task, from: position)
            // It may have been forgotten meanwhile.
            guard !chunks.isEmpty || max(position, start) >= end else { return nil }
            return StoredOutput(
                task: task, owner: owner, start: start, end: end, chunks: chunks, times: times)
        }
    }

    /// Ends the connection.
    package func close() throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in connection.close() }
    }
}
