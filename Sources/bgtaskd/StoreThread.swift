internal import BudgetCore
internal import Glibc
internal import LinuxSystem
internal import TaskStore

/// Writes what must be on disk on a thread of its own, since a disk takes its time.
///
/// One order at a time: what comes up meanwhile waits for the next, and so shares its commit. How an
/// order ended comes back as an event on `descriptor`.
final class StoreThread: Sendable {
    enum Order: Sendable {
        case write([StoreChange])
        /// See whether a disk that failed takes writes again.
        case probe
    }

    /// How the last order ended.
    enum Result: Sendable {
        case done(Applied)
        case failed(StoreError)
    }

    /// Ended tasks after which the history is looked through again.
    private static let endsPerPrune = 100
    /// After so long the next order has that done too, since the history has an age as well.
    private static let pruneInterval: Int64 = 600_000_000_000
    /// How long the end may wait for the disk.
    static let closeMilliseconds: Int32 = 10_000

    private struct Shared {
        var order: Order?
        var result: Result?
        var bounds: HistoryBounds
        var isPruneDue = true
        /// What could not be done for the file beside the orders, until it is said.
        var complaint: StoreError?
        /// Set at the end: the id that was handed out last.
        var lastUsed: TaskID?
    }

    private let store: TaskStore
    /// Where ids are reserved, which is on disk also where the tasks are not.
    private let identifiers: TaskStore
    private let shared: LockedState<Shared>
    private let request: OwnedDescriptor
    private let answer: OwnedDescriptor
    /// Readable when the thread has ended.
    private let ended: OwnedDescriptor

    /// Readable when an order has ended.
    var descriptor: Int32 { answer.rawValue }

    /// Starts the thread.
    ///
    /// - Parameter identifiers: the store where ids are reserved; it may be the same.
    init(
        _ store: TaskStore, identifiers: TaskStore, bounds: HistoryBounds
    ) throws(SystemError) {
        self.store = store
        self.identifiers = identifiers
        shared = LockedState(Shared(bounds: bounds))
        request = try .event()
        answer = try .event()
        ended = try .event()
        try request.setBlocking()
        try startThread { [self] in serve() }
        request.countEvent()
    }

    /// Gives the thread its next order; the one before has ended.
    func perform(_ order: Order) {
        shared.withLock { $0.order = order }
        request.countEvent()
    }

    /// How the order ended, once it has; and what else went wrong since the last call.
    func takeResult() -> (result: Result?, complaint: StoreError?) {
        answer.takeEvents()
        return shared.withLock { state in
            defer { (state.result, state.complaint) = (nil, nil) }
            return (state.result, state.complaint)
        }
    }

    /// Sets how much of the history is kept from now on.
    func keep(_ bounds: HistoryBounds) {
        shared.withLock { state in
            state.bounds = bounds
            state.isPruneDue = true
        }
        request.countEvent()
    }

    /// Ends the thread and the store, and gives ids back that this run has reserved and not used, so that
    /// ids stay short for people over orderly restarts.
    ///
    /// - Returns: whether it ended in time.
    func close(used last: TaskID) -> Bool {
        shared.withLock { $0.lastUsed = last }
        request.countEvent()
        return ended.waitReadable(milliseconds: StoreThread.closeMilliseconds)
    }

    private func serve() {
        var endsSincePrune = 0
        var prunedAt = MonotonicClock.now()
        while true {
            request.takeEvents()
            let (order, lastUsed) = shared.withLock { state in
                defer { state.order = nil }
                return (state.order, state.lastUsed)
            }
            if let order {
                let result = carryOut(order)
                shared.withLock { $0.result = result }
                answer.countEvent()
                if case .write(let changes) = order, case .done = result {
                    endsSincePrune += changes.count { if case .ended = $0 { true } else { false } }
                }
            }
            if let lastUsed { return end(lastUsed) }
            let now = MonotonicClock.now()
            if endsSincePrune >= StoreThread.endsPerPrune
                || now - prunedAt >= StoreThread.pruneInterval
            {
                (endsSincePrune, prunedAt) = (0, now)
                shared.withLock { $0.isPruneDue = true }
            }
            keepHouse()
        }
    }

    private func carryOut(_ order: Order) -> Result {
        do throws(StoreError) {
            switch order {
            case .write(let changes):
                return .done(try StoreThread.write(changes, to: store, identifiers))
            case .probe:
                try store.probe()
                return .done(Applied())
            }
        } catch {
            return .failed(error)
        }
    }

    /// Writes changes, those about ids where ids are kept.
    @discardableResult
    static func write(
        _ changes: [StoreChange], to store: TaskStore, _ identifiers: TaskStore
    ) throws(StoreError) -> Applied {
        guard store !== identifiers else { return try store.apply(changes) }
        try identifiers.apply(changes.filter(\.isAboutIdentifiers))
        return try store.apply(changes.filter { !$0.isAboutIdentifiers })
    }

    /// What the file needs and no answer waits for: between two orders, a little at a time.
    private func keepHouse() {
        do throws(StoreError) {
            repeat {
                // What is pruned is in the log first, and would make it as large as the database.
                try store.checkpointIfDue()
                if identifiers !== store { try identifiers.checkpointIfDue() }
            } while try pruneSome()
        } catch {
            shared.withLock { state in
                state.isPruneDue = false
                state.complaint = error
            }
            answer.countEvent()
        }
    }

    /// - Returns: whether there is more to prune.
    private func pruneSome() throws(StoreError) -> Bool {
        guard let bounds = boundsToPrune() else { return false }
        if try store.prune(to: bounds, at: WallClock.now()).isComplete {
            shared.withLock { $0.isPruneDue = false }
        }
        return true
    }

    /// The bounds where there is something to prune and nothing else to do.
    private func boundsToPrune() -> HistoryBounds? {
        shared.withLock { state in
            guard state.isPruneDue, state.order == nil, state.lastUsed == nil else { return nil }
            return state.bounds
        }
    }

    private func end(_ last: TaskID) {
        // Where it cannot be written the block is skipped, as after a crash, and the log of the database
        // is read at the next start.
        _ = try? identifiers.apply([.identifiersReserved(through: last)])
        try? store.close()
        if identifiers !== store { try? identifiers.close() }
        ended.countEvent()
    }
}

extension StoreChange {
    fileprivate var isAboutIdentifiers: Bool {
        if case .identifiersReserved = self { true } else { false }
    }
}
