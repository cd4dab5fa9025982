internal import Containers
internal import TaskStore

/// How the disk does.
package struct StoreStatistics: Sendable {
    /// How long commits took, those that failed included.
    private(set) var commits = Histogram(firstBound: 125_000, boundCount: 18)
    private(set) var failedCommits = 0
    /// Spans of applications that found no room while they waited.
    package var droppedSpans = 0
    /// What the last look found, no earlier than the one before the last request for it.
    var use: StoreUse?
    /// What the output of ended tasks takes on disk.
    var outputBytes = 0

    mutating func committed(inNanoseconds time: Int64, isWritten: Bool) {
        commits.record(nanoseconds: time)
        if !isWritten { failedCommits += 1 }
    }
}
