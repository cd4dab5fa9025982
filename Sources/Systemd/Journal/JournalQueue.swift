/// How many entries were lost, by kind.
package struct JournalLoss: Equatable, Sendable {
    package var audit = 0
    package var output = 0

    package init(audit: Int = 0, output: Int = 0) {
        self.audit = audit
        self.output = output
    }

    package var total: Int { audit + output }

    mutating func count(_ kind: JournalEntry.Kind) {
        switch kind {
        case .audit: audit += 1
        case .output: output += 1
        }
    }

    mutating func add(_ other: JournalLoss) {
        audit += other.audit
        output += other.output
    }
}

/// What waits for the writer, and what found no room. A value; the writer holds it in a monitor.
package struct JournalQueue {
    /// An order for the writer's thread.
    package enum Work: Equatable {
        case write([JournalEntry])
        /// Say how many entries were lost.
        case report(JournalLoss)
        /// Nothing is left, and nothing will come.
        case end
    }

    let limits: JournalWriter.Limits

    private var waiting: [JournalEntry] = []
    /// Taken by the writer and not yet written, or waiting.
    private(set) var unwritten = JournalLoss()
    private(set) var byteCount = 0
    /// Lost, and not in a report yet.
    private var unreported = JournalLoss()
    private(set) var isClosed = false
    /// Whether the writer's thread has ended.
    package private(set) var isEnded = false
    private var isReportHeld = false
    /// Whether the sink took the last entry. While it does not, no report is due: its own failure would cause the next.
    private var sinkWorks = true
    /// The losses in the report that is being written.
    private var reporting = JournalLoss()

    package init(limits: JournalWriter.Limits) {
        self.limits = limits
    }

    /// - Returns: whether there was room.
    package mutating func append(_ entry: JournalEntry) -> Bool {
        let share = entry.kind == .audit ? 1 : 2
        let bytes = entry.byteCount
        guard !isClosed, unwritten.total < limits.entriesMax / share,
            byteCount + bytes <= limits.bytesMax / share
        else {
            countLoss(entry.kind)
            return false
        }
        waiting.append(entry)
        unwritten.count(entry.kind)
        byteCount += bytes
        return true
    }

    package mutating func close() {
        isClosed = true
    }

    /// Whether ``takeWork()`` has something; else the writer waits.
    package var hasWork: Bool {
        !waiting.isEmpty || isReportDue || isClosed
    }

    /// What the journal does not have yet: entries that are not written, and losses that are not reported.
    package var untold: JournalLoss {
        var loss = unwritten
        loss.add(unreported)
        loss.add(reporting)
        return loss
    }

    /// Whether everything that was accepted is written, and losses are reported where that is possible.
    package var isFlushed: Bool {
        isEnded || (unwritten.total == 0 && !isReportDue && reporting.total == 0)
    }

    /// Asked between two batches. What waited when the loss began is written first, which also
    /// makes reports rare: that batch is as long as the queue.
    private var isReportDue: Bool {
        unreported.total > 0 && sinkWorks && (!isReportHeld || waiting.isEmpty)
    }

    private mutating func countLoss(_ kind: JournalEntry.Kind) {
        if unreported.total == 0 { isReportHeld = true }
        unreported.count(kind)
    }

    package mutating func takeWork() -> Work {
        if isReportDue {
            reporting = unreported
            unreported = JournalLoss()
            return .report(reporting)
        }
        if waiting.isEmpty {
            isEnded = true
            return .end
        }
        isReportHeld = false
        defer { waiting = [] }
        return .write(waiting)
    }

    /// An entry has left, or was refused by the sink.
    package mutating func finish(_ entry: JournalEntry, isWritten: Bool) {
        byteCount -= entry.byteCount
        switch entry.kind {
        case .audit: unwritten.audit -= 1
        case .output: unwritten.output -= 1
        }
        sinkWorks = isWritten
        if !isWritten {
            countLoss(entry.kind)
        }
    }

    /// A report has left, or was refused by the sink.
    package mutating func finishReport(isWritten: Bool) {
        sinkWorks = isWritten
        if !isWritten {
            unreported.add(reporting)
        }
        reporting = JournalLoss()
    }
}
