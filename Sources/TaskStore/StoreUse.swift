/// What a store takes, and what it could take.
package struct StoreUse: Equatable, Sendable {
    /// Ended tasks in it.
    package var endedCount: Int
    /// Its file with the write-ahead log; 0 where it is in memory.
    package var fileBytes = 0
    /// What the file system has left; `nil` where it is in memory, or the file system does not say.
    package var freeBytes: Int?

    package init(endedCount: Int, fileBytes: Int = 0, freeBytes: Int? = nil) {
        self.endedCount = endedCount
        self.fileBytes = fileBytes
        self.freeBytes = freeBytes
    }
}
