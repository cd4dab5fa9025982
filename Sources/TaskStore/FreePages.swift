/// The pages of a database that hold nothing.
extension Connection {
    func freePages() throws(StoreError) -> Int64 {
        try number("PRAGMA freelist_count", "prune")
    }

    /// Gives some of them back to the file system, where they are many.
    ///
    /// - Returns: whether there was enough to give back, and some was given.
    func giveRoomBack() throws(StoreError) -> Bool {
        let free = try freePages()
        guard free > FreePages.countMax, free > (try number("PRAGMA page_count", "prune")) / 4
        else { return false }
        let statement = try statement(
            "PRAGMA incremental_vacuum(\(FreePages.givenBack))", "prune")
        defer { statement.reset() }
        // One row for each page that was given back.
        while try statement.step() {}
        return try freePages() < free
    }

    /// What the write-ahead log may keep once it has been brought into the database: little on a small disk.
    func logBytes(atMost bytesMax: Int) -> Int {
        min(bytesMax, (DiskSpace(of: path)?.total ?? .max) / FreePages.logShare)
    }

    /// Gives all of them back, however few, in steps that the log has room for.
    func giveAllRoomBack() throws(StoreError) {
        var count: Int64 = FreePages.givenBackFirst
        var free = try freePages()
        while free > 0 {
            try execute("PRAGMA incremental_vacuum(\(count))", "prune")
            try checkpoint(isLast: false)
            let left = try freePages()
            guard left < free else { return }
            (free, count) = (left, min(2 * count, FreePages.givenBackMax))
        }
    }
}

/// How many rows a full disk has room to remove at once: their removal goes to the log first.
struct RowsAtOnce {
    private(set) var count = 16

    mutating func fitted() { count = min(2 * count, 512) }

    /// - Returns: whether fewer may.
    mutating func didNotFit() -> Bool {
        guard count > 1 else { return false }
        count /= 4
        return true
    }
}

private enum FreePages {
    static let logShare = 16
    static let (givenBackFirst, givenBackMax): (Int64, Int64) = (64, 4096)
    static let countMax: Int64 = 256
    static let givenBack = 256
}
