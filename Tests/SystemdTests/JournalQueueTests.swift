import Systemd
import Testing

/// A queue for four entries, as a reference, since `#expect` cannot call what mutates a value.
@dynamicMemberLookup
private final class HeldQueue {
    private var queue = JournalQueue(limits: .init(entriesMax: 4))

    subscript<Value>(dynamicMember path: KeyPath<JournalQueue, Value>) -> Value {
        queue[keyPath: path]
    }

    func append(_ entry: JournalEntry) -> Bool { queue.append(entry) }
    func takeWork() -> JournalQueue.Work { queue.takeWork() }
    func close() { queue.close() }
    func finishReport(isWritten: Bool) { queue.finishReport(isWritten: isWritten) }

    func finish(_ entry: JournalEntry, isWritten: Bool) {
        queue.finish(entry, isWritten: isWritten)
    }
}

@Suite("The journal writer's queue")
struct JournalQueueTests {
    private let audit = JournalEntry(level: .info, message: "audit")
    private let output = JournalEntry(.output, level: .info, message: "output")

    /// A queue for four entries that is full, with one of each kind lost.
    private func fullQueue() -> HeldQueue {
        let queue = HeldQueue()
        for entry in [output, output, output, audit, audit, audit] {
            _ = queue.append(entry)
        }
        return queue
    }

    @Test("what waited when a loss began is written before the loss is told, and both once")
    func writesBeforeReport() {
        let queue = fullQueue()
        #expect(queue.takeWork() == .write([output, output, audit, audit]))
        for entry in [output, output, audit, audit] {
            queue.finish(entry, isWritten: true)
        }
        #expect(!queue.isFlushed)
        #expect(queue.takeWork() == .report(JournalLoss(audit: 1, output: 1)))
        #expect(!queue.isFlushed)
        queue.finishReport(isWritten: true)
        #expect(queue.isFlushed)
        #expect(!queue.hasWork)
        #expect(queue.untold == JournalLoss())
    }

    @Test("a sink that lags for long is told about at each batch, not at each loss")
    func reportsWhileLagging() {
        let queue = fullQueue()
        #expect(queue.takeWork() == .write([output, output, audit, audit]))
        #expect(!queue.append(audit))
        queue.finish(output, isWritten: true)
        #expect(queue.append(audit))
        #expect(!queue.append(audit))
        #expect(queue.takeWork() == .report(JournalLoss(audit: 3, output: 1)))
    }

    @Test("a report that the sink refuses is kept, and waits until the sink works again")
    func keepsRefusedReport() {
        let queue = fullQueue()
        _ = queue.takeWork()
        for entry in [output, output, audit, audit] {
            queue.finish(entry, isWritten: true)
        }
        _ = queue.takeWork()
        #expect(queue.untold == JournalLoss(audit: 1, output: 1))
        queue.finishReport(isWritten: false)
        #expect(queue.untold == JournalLoss(audit: 1, output: 1))
        #expect(!queue.hasWork)
        #expect(queue.isFlushed)
        #expect(queue.append(audit))
        #expect(queue.takeWork() == .write([audit]))
        queue.finish(audit, isWritten: true)
        #expect(queue.takeWork() == .report(JournalLoss(audit: 1, output: 1)))
    }

    @Test("a closed queue takes nothing, gives out the rest, and ends")
    func ends() {
        let queue = HeldQueue()
        #expect(queue.append(audit))
        queue.close()
        #expect(queue.takeWork() == .write([audit]))
        #expect(!queue.append(audit))
        queue.finish(audit, isWritten: true)
        #expect(queue.takeWork() == .report(JournalLoss(audit: 1)))
        queue.finishReport(isWritten: true)
        #expect(queue.hasWork)
        #expect(queue.takeWork() == .end)
        #expect(queue.isEnded)
    }
}
