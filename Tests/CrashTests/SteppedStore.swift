import BudgetCore
import DaemonShell
import TaskStore

/// The thread of a store, of which each step is taken when the history says so: `StoreThread` without the thread.
final class SteppedStore: StoreBackend {
    private var orders = StoreOrders()
    private(set) var spans = WaitingSpans()
    /// Whether something has come of orders that nobody has asked for yet.
    private(set) var hasNews = false

    /// Whether there is something to carry out.
    var isDue: Bool { orders.isDue }

    func write(_ changes: [StoreChange]) { orders.write(changes) }

    func probe() { orders.probe() }

    func takeProgress() -> StoreProgress {
        hasNews = false
        var progress = orders.takeProgress()
        progress.droppedSpans = spans.takeDropped()
        return progress
    }

    func keep(_ bounds: HistoryBounds) {}

    /// Takes the spans with the next commit.
    func keep(_ spans: [StoredSpan]) { self.spans.add(spans) }

    /// The spans that go with a commit.
    func takeSpans() -> [StoredSpan] { spans.take(atMost: 128) }

    func spansAnswered(isWritten: Bool) {
        if isWritten { spans.written() } else { spans.notWritten() }
    }

    func waitingSpans(_ filter: SpanFilter) -> [StoredSpan] { spans.ended(filter) }

    func close(used last: TaskID) -> Bool { true }

    // MARK: - Steps

    func next() -> StoreOrders.Order? { orders.next() }

    func written(_ count: Int, _ applied: Applied) {
        orders.written(count, applied)
        hasNews = true
    }

    func probed() {
        orders.probed()
        hasNews = true
    }

    func failed(_ error: StoreError) {
        orders.failed(error)
        hasNews = true
    }
}
