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

    /// What is kept of a task's output, with the first chunks that are not over at a position; `nil` where nothing is
    /// kept, not even that there was none.
    ///
    /// - Parameter time: where it is given, what is not printed later than that is passed over too.
    package func output(
        of task: TaskID, owner: OwnerID, from position: Int, since time: WallTime? = nil
    ) throws(StoreError) -> StoredOutput? {
        try connection.exclusively { () throws(StoreError) in
            guard let (start, end, times) = try bounds(of: task, owner) else { return nil }
            let position = max(position, time.map { times.position(since: $0) ?? end } ?? 0)
            let chunks = try chunks(of: task, from: position)
            // It may have been forgotten meanwhile.
            guard !chunks.isEmpty || max(position, start) >= end else { return nil }
            return StoredOutput(
                task: task, owner: owner, start: start, end: end, chunks: chunks, times: times)
        }
    }

    private func bounds(
        of task: TaskID, _ owner: OwnerID
    ) throws(StoreError) -> (start: Int, end: Int, times: OutputTimes)? {
        let statement = try connection.statement(
            "SELECT start_byte, end_byte, times FROM outputs WHERE task = ? AND owner = ?",
            "read output")
        defer { statement.reset() }
        try statement.bind(Int64(clamping: task.rawValue))
        try statement.bind(Int64(owner.rawValue))
        guard try statement.step(), let start = statement.integer(0), let end = statement.integer(1)
        else { return nil }
        let bytes = statement.bytes(2)
        guard let times = bytes.isEmpty ? OutputTimes() : OutputTimes(bytes: bytes) else {
            throw damage(task)
        }
        return (Int(clamping: start), Int(clamping: end), times)
    }

    private func damage(_ task: TaskID) -> StoreError {
        .damaged(
            "read output", connection.path,
            "the output of task \(task) makes no sense; \(StoreError.remedy)")
    }

    private func chunks(
        of task: TaskID, from position: Int
    ) throws(StoreError) -> [StoredOutput.Chunk] {
        let statement = try connection.statement(
            "SELECT start_byte, text, runs FROM chunks WHERE task = ? AND start_byte > ? "
                + "ORDER BY start_byte LIMIT \(Self.chunksAtOnce)", "read output")
        defer { statement.reset() }
        try statement.bind(Int64(clamping: task.rawValue))
        try statement.bind(Int64(position - StoredOutput.Chunk.byteCountMax))
        var chunks: [StoredOutput.Chunk] = []
        while try statement.step() {
            let chunk = StoredOutput.Chunk(
                start: Int(clamping: statement.integer(0) ?? -1), text: statement.bytes(1),
                runs: runs(statement.bytes(2)))
            guard chunk.isWhole, chunks.last.map({ $0.end == chunk.start }) ?? true else {
                throw damage(task)
            }
            chunks.append(chunk)
        }
        return chunks.filter { $0.end > position }
    }

    private func runs(_ bytes: [UInt8]) -> [UInt16] {
        stride(from: 0, to: bytes.count - 1, by: 2).map {
            UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
        }
    }

    /// Ends the connection.
    package func close() throws(StoreError) {
        try connection.exclusively { () throws(StoreError) in connection.close() }
    }

    /// One that is over at the position may come first where chunks are small, and a page must not be empty.
    private static let chunksAtOnce = 5
}
