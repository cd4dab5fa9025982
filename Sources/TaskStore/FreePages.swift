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
}

private enum FreePages {
    static let countMax: Int64 = 256
    static let givenBack = 256
}
