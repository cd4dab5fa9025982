internal import BudgetCore

/// What can be read in the database of outputs; each runs while its caller holds the connection.
struct OutputQueries {
    /// What is known of an output besides its text.
    struct Bounds {
        let start: Int
        let end: Int
        let times: OutputTimes
        /// Whether its task had not ended when it was written.
        let isHandedOver: Bool
    }

    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// All of a task's output that is kept; `nil` where nothing is.
    func whole(of task: TaskID, _ owner: OwnerID) throws(StoreError) -> StoredOutput? {
        guard let bounds = try bounds(of: task, owner) else { return nil }
        var chunks: [StoredOutput.Chunk] = []
        var position = bounds.start
        while position < bounds.end {
            let page = try self.chunks(of: task, from: position)
            guard let last = page.last, chunks.last?.end ?? page[0].start == page[0].start else {
                throw damage(task)
            }
            chunks += page
            position = last.end
        }
        guard position == bounds.end else { throw damage(task) }
        return StoredOutput(
            task: task, owner: owner, start: bounds.start, end: bounds.end, chunks: chunks,
            times: bounds.times)
    }

    /// Those that an earlier daemon handed over, with their owners, in the order of the tasks.
    ///
    /// - Returns: whether another daemon has taken it since, too.
    func handedOver() throws(StoreError) -> [(task: TaskID, owner: OwnerID, isTaken: Bool)] {
        let statement = try connection.statement(
            "SELECT task, owner, handed_over FROM outputs INDEXED BY outputs_handed_over "
                + "WHERE handed_over > 0 ORDER BY task", "read output")
        defer { statement.reset() }
        var found: [(task: TaskID, owner: OwnerID, isTaken: Bool)] = []
        while try statement.step() {
            found.append(
                (
                    TaskID(rawValue: UInt64(clamping: statement.integer(0) ?? 0)),
                    OwnerID(rawValue: UInt32(clamping: statement.integer(1) ?? 0)),
                    statement.integer(2) != 1
                ))
        }
        return found
    }

    func bounds(
        of task: TaskID, _ owner: OwnerID
    ) throws(StoreError) -> Bounds? {
        let statement = try connection.statement(
            "SELECT start_byte, end_byte, times, handed_over FROM outputs WHERE task = ? AND owner = ?",
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
        return Bounds(
            start: Int(clamping: start), end: Int(clamping: end), times: times,
            isHandedOver: statement.integer(3) != 0)
    }

    private func damage(_ task: TaskID) -> StoreError {
        .damaged(
            "read output", connection.path,
            "the output of task \(task) makes no sense; \(StoreError.remedy)")
    }

    /// The first chunks of a task that are not over at a position.
    func chunks(
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

    /// One that is over at the position may come first where chunks are small, and a page must not be empty.
    private static let chunksAtOnce = 5
}
