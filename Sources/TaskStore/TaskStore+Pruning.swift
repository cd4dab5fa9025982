/// What a step of `TaskStore.prune` came to.
package struct PruneStep: Equatable, Sendable {
    /// Ended tasks that it removed.
    package let removed: Int
    /// Whether nothing is left to do.
    package let isComplete: Bool
}

extension TaskStore {
    /// Removes some of what is out of the bounds, the oldest ends first; then gives room that has become
    /// free back to the file system, where it is much. One short transaction each: to be called again
    /// until it is complete, with commits between.
    ///
    /// The file stays within what the bounds need: removed rows leave pages that new ones take, and where
    /// more than a quarter is free the file is cut (`auto_vacuum = INCREMENTAL`).
    package func prune(
        to bounds: HistoryBounds, at now: WallTime, rowsMax: Int = 500
    ) throws(StoreError) -> PruneStep {
        try connection.exclusively { () throws(StoreError) in
            let old = try oldest(beyond: bounds, at: now, rowsMax: rowsMax)
            if !old.isEmpty {
                try writes.transaction("prune") { () throws(StoreError) in
                    for id in old { try writes.remove(id) }
                }
                return PruneStep(removed: old.count, isComplete: false)
            }
            try forgetSuccesses(at: now)
            return PruneStep(removed: 0, isComplete: try !giveRoomBack())
        }
    }

    /// Ids of ended tasks that are not to be kept.
    private func oldest(
        beyond bounds: HistoryBounds, at now: WallTime, rowsMax: Int
    ) throws(StoreError) -> [Int64] {
        let excess = writes.endedCount - bounds.countMax
        let cutoff = bounds.ageMax.map { now.earlier(by: $0).microseconds } ?? .min
        let statement = try connection.statement(
            "SELECT id, ended_at_us FROM tasks INDEXED BY tasks_ended "
                + "WHERE ended_at_us IS NOT NULL ORDER BY ended_at_us, id LIMIT ?", "prune")
        defer { statement.reset() }
        try statement.bind(Int64(rowsMax))
        var ids: [Int64] = []
        while try statement.step() {
            guard let id = statement.integer(0), let endedAt = statement.integer(1),
                ids.count < excess || endedAt < cutoff
            else { break }
            ids.append(id)
        }
        return ids
    }

    /// A success whose interval is over holds nothing back any more.
    private func forgetSuccesses(at now: WallTime) throws(StoreError) {
        let statement = try connection.statement(SQL.forgetSuccesses, "prune")
        try statement.bind(now.microseconds)
        try statement.run()
    }

    /// - Returns: whether there was enough to give back, and some was given.
    private func giveRoomBack() throws(StoreError) -> Bool {
        let free = try freePages()
        let pages = try connection.number("PRAGMA page_count", "prune")
        guard free > TaskStore.freePagesMax, free > pages / 4 else { return false }
        let statement = try connection.statement(
            "PRAGMA incremental_vacuum(\(TaskStore.pagesGivenBack))", "prune")
        defer { statement.reset() }
        // A row a page that was given back.
        while try statement.step() {}
        return try freePages() < free
    }

    private func freePages() throws(StoreError) -> Int64 {
        try connection.number("PRAGMA freelist_count", "prune")
    }

    private static let freePagesMax: Int64 = 256
    private static let pagesGivenBack = 256
}
