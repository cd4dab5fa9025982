internal import Glibc
internal import Synchronization

/// Writes entries on a thread of its own, so that a slow journal never holds the caller up.
///
/// Between caller and thread is a bounded queue. What finds no room is counted, and the count
/// becomes an entry of its own once there is room. Idle, the thread sleeps without a wake-up.
package final class JournalWriter: Sendable {
    /// How much may wait. Output of tasks may use half of each, the audit trail all.
    package struct Limits: Sendable, Equatable {
        /// Entries.
        package var entriesMax: Int
        /// Bytes of memory, about.
        package var bytesMax: Int

        package init(entriesMax: Int = 16_384, bytesMax: Int = 8 << 20) {
            precondition(entriesMax > 1 && bytesMax > 1, "a queue has room for an entry")
            self.entriesMax = entriesMax
            self.bytesMax = bytesMax
        }
    }

    private let queue: Monitor<JournalQueue>
    private let levelMax: Atomic<UInt8>

    /// Starts the thread, with all signals blocked in it but SIGPROF.
    ///
    /// - Parameters:
    ///   - destination: where entries go.
    ///   - identifier: SYSLOG_IDENTIFIER of entries that do not bring their own.
    ///   - level: the least urgent level that is written.
    ///   - limits: how much may wait.
    /// - Throws: ``SystemdError`` as of pthread_create(3).
    package init(
        to destination: JournalDestination,
        identifier: String,
        level: JournalLevel = .info,
        limits: Limits = Limits()
    ) throws(SystemdError) {
        queue = Monitor(JournalQueue(limits: limits))
        levelMax = Atomic(level.rawValue)
        let sink = JournalSink(destination: destination, identifier: identifier)
        try JournalThread(queue: queue, sink: sink).start()
    }

    deinit {
        queue.withState { $0.close() }
    }

    /// The least urgent level that is written; may change at any time, from any thread.
    package var level: JournalLevel {
        get { JournalLevel(rawValue: levelMax.load(ordering: .relaxed)) ?? .debug }
        set { levelMax.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Whether entries of `level` are written; ask before building one that is expensive.
    package func writes(_ level: JournalLevel) -> Bool {
        level.rawValue <= levelMax.load(ordering: .relaxed)
    }

    /// Hands `entry` to the thread; never waits for the journal.
    ///
    /// - Parameter level: the level that decides whether it is written, where that is not its own.
    /// - Returns: `false` where the entry is lost, for want of room or after ``close(within:)``. An
    ///   entry below ``level`` is left out, and not lost.
    @discardableResult
    package func write(_ entry: JournalEntry, as level: JournalLevel? = nil) -> Bool {
        guard writes(level ?? entry.level) else { return true }
        return queue.withState { $0.append(entry) }
    }

    /// Waits until all that was accepted is written, at most `limit`.
    ///
    /// - Returns: whether it is.
    package func flush(within limit: Duration) -> Bool {
        queue.wait(untilNanoseconds: Self.deadline(after: limit)) { $0.isFlushed }
    }

    /// Takes no more entries, writes the rest within `limit`, and ends the thread.
    ///
    /// A thread that is stuck in the journal is left behind; it ends with the process.
    ///
    /// - Returns: what is lost and cannot be read in the journal: entries still unwritten, and
    ///   losses that could not be told there.
    package func close(within limit: Duration) -> JournalLoss {
        queue.withState { $0.close() }
        _ = queue.wait(untilNanoseconds: Self.deadline(after: limit)) { $0.isEnded }
        return queue.withState { $0.untold }
    }

    private static func deadline(after limit: Duration) -> UInt64 {
        let (seconds, attoseconds) = limit.components
        let nanoseconds = max(0, seconds) * 1_000_000_000 + max(0, attoseconds) / 1_000_000_000
        return EventLoop.monotonicNanoseconds() + UInt64(nanoseconds)
    }
}
