package import BudgetCore

/// What is kept of the output of a task that has ended: the newest bytes that it printed, or some of those.
///
/// Positions count the bytes since the task's start.
package struct StoredOutput: Equatable, Sendable {
    /// Bytes that follow each other.
    package struct Chunk: Equatable, Sendable {
        package static let byteCountMax = 16_384

        /// The position of its first byte.
        package let start: Int
        package let text: [UInt8]
        /// Bytes of one stream, each by where they end in the text, below 32,768, with 0x8000 for standard error.
        package let runs: [UInt16]

        package init(start: Int, text: [UInt8], runs: [UInt16]) {
            self.start = start
            self.text = text
            self.runs = runs
        }

        package var end: Int { start + text.count }

        /// Whether the runs are those of the text: each ends behind the one before it, and the last with the text.
        var isWhole: Bool {
            guard start >= 0, (1...Chunk.byteCountMax).contains(text.count) else { return false }
            let ends = runs.map { Int($0 & 0x7FFF) }
            return ends.last == text.count && zip([0] + ends, ends).allSatisfy { $0 < $1 }
        }

        /// What it takes on the disk, about.
        fileprivate var size: Int { text.count + 2 * runs.count + Chunk.rowBytes }

        private static let rowBytes = 48
    }

    package let task: TaskID
    package let owner: OwnerID
    /// Where the first kept byte is.
    package let start: Int
    package let end: Int
    /// In their order.
    package let chunks: [Chunk]
    /// When it was printed.
    package let times: OutputTimes

    package init(
        task: TaskID, owner: OwnerID, start: Int, end: Int, chunks: [Chunk],
        times: OutputTimes = OutputTimes()
    ) {
        self.task = task
        self.owner = owner
        self.start = start
        self.end = end
        self.chunks = chunks
        self.times = times
    }

    /// What it takes on the disk, about; of a task that printed nothing, too.
    package var size: Int {
        chunks.reduce(StoredOutput.rowBytes + times.bytes.count) { $0 + $1.size }
    }

    private static let rowBytes = 64
}

/// What one daemon handed to the next of the output of a task that had not ended.
package struct HandedOverOutput: Equatable, Sendable {
    package let output: StoredOutput
    /// Whether it is all that was printed until then; else another daemon has gone on from there, and handed over
    /// nothing.
    package let isLatest: Bool

    package init(output: StoredOutput, isLatest: Bool) {
        self.output = output
        self.isLatest = isLatest
    }
}
