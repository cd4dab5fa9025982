package import BudgetCore
internal import Glibc
package import LinuxSystem
package import TaskStore

/// Writes what must be on disk on a thread of its own, since a disk takes its time.
///
/// One commit after the other, with no pause between: what comes up meanwhile shares the next. What came of
/// it is told as an event on `descriptor`.
package final class StoreThread: StoreBackend, Sendable {
    /// Ended tasks after which the history is looked through again.
    private static let endsPerPrune = 100
    /// After so long the next order, or new bounds, have that done too, since the history has an age as well.
    private static let pruneInterval: Int64 = 600_000_000_000
    /// How long the end may wait for the disk.
    static let closeMilliseconds: Int32 = 10_000

    /// What the output that waits to be written may take, and what is written of it between two orders.
    private static let outputWaitingMax = 64 << 20
    private static let outputAtOnce = 4 << 20
    /// Tasks whose output is forgotten between two orders.
    private static let cleanedAtOnce = 500
    /// How long spans wait for a commit that they can go with, in nanoseconds, and how many are not let wait.
    private static let spanDelay: Int64 = 1_000_000_000
    private static let spansWaitingMax = 1024
    /// How many go with a commit of others, which they are not to hold up, and how many in one of their own.
    private static let (spansBeside, spansAtOnce) = (128, 1024)
    /// Spans after which the history is looked through again.
    private static let spansPerPrune = 1000

    private struct Shared {
        var orders = StoreOrders()
        /// The output of tasks whose ends are on disk, the oldest end first.
        var outputs: [EndedOutput] = []
        var outputBytes = 0
        /// That of tasks which are left to the next daemon; written at the end.
        var handedOver: [EndedOutput] = []
        /// Tasks whose output is to go, where the disk has forgotten them.
        var cleaned: [TaskID] = []
        /// What is known of the states of applications, which goes with the next commit.
        var spans = WaitingSpans()
        /// When it does not wait for one any longer; `nil` where nothing waits.
        var spansDueAt: Int64?
        /// Not before then, since the disk has not taken them.
        var spansRetryAt: Int64 = 0
        var spansSincePrune = 0
        /// What the submissions take that came since the history was looked through.
        var bytesSincePrune = 0
        private(set) var bounds: HistoryBounds
        var isPruneDue = true
        var statistics = StoreStatistics()
        /// Whether it is to be looked how much there is on the disk.
        var isUseDue = true
        /// Set at the end: the id that was handed out last.
        var lastUsed: TaskID?
        /// Whether the thread waits to be woken.
        var isResting = false

        init(bounds: HistoryBounds) {
            self.bounds = bounds
            keep(bounds)
        }

        mutating func keep(_ bounds: HistoryBounds) {
            self.bounds = bounds
            spans.rank(by: bounds.accounts)
            isPruneDue = true
        }
    }

    private let store: TaskStore
    /// Where ids are reserved, which is on disk also where the tasks are not.
    private let identifiers: TaskStore
    /// Where output is kept; `nil`: nowhere.
    private let outputPath: String?
    /// The first id of this run.
    private let first: TaskID
    private let shared: LockedState<Shared>
    private let request: OwnedDescriptor
    private let answer: OwnedDescriptor
    /// Readable when the thread has ended.
    private let ended: OwnedDescriptor

    /// Readable when something has come of an order.
    var descriptor: Int32 { answer.rawValue }

    /// Starts the thread.
    ///
    package init(_ opened: OpenedStore, bounds: HistoryBounds) throws(SystemError) {
        store = opened.store
        identifiers = opened.identifierStore
        outputPath = opened.outputPath
        first = TaskID(rawValue: opened.identifiers.lowerBound)
        shared = LockedState(Shared(bounds: bounds))
        request = try .event()
        answer = try .event()
        ended = try .event()
        try request.setBlocking()
        try startThread { [self] in serve() }
    }

    package func write(_ changes: [StoreChange]) {
        tell { $0.orders.write(changes) }
    }

    package func probe() {
        tell { $0.orders.probe() }
    }

    /// Has `descriptor` not readable any more, where what has come of the orders is being taken already.
    func takeEvents() { answer.takeEvents() }

    package func takeProgress() -> StoreProgress {
        answer.takeEvents()
        return shared.withLock { state in
            var progress = state.orders.takeProgress()
            progress.droppedSpans = state.spans.takeDropped()
            return progress
        }
    }

    /// Sets how much of the history is kept from now on.
    package func keep(_ bounds: HistoryBounds) {
        tell { $0.keep(bounds) }
    }

    /// Has the output of tasks written whose ends are on disk, after the orders that wait. What finds no room is let go.
    package func keep(_ outputs: [EndedOutput]) {
        guard outputPath != nil else { return }
        tell { state in
            for output in outputs where state.outputBytes < StoreThread.outputWaitingMax {
                state.outputs.append(output)
                state.outputBytes += output.log.byteCount
            }
        }
    }

    /// Has the output of tasks that are left to the next daemon written at the end, however much it is.
    package func handOver(_ outputs: [EndedOutput]) {
        guard outputPath != nil else { return }
        shared.withLock { $0.handedOver = outputs }
    }

    /// Has the output of tasks forgotten which the history has forgotten, of those among some.
    package func forgetOutputs(ofGone tasks: [TaskID]) {
        guard outputPath != nil else { return }
        tell { $0.cleaned += tasks }
    }

    /// How the disk does. How much there is on it is as of the last call, and looked at again now.
    package func statistics() -> StoreStatistics {
        tell { $0.isUseDue = true }
        return shared.withLock { state in
            state.statistics.droppedSpans = state.spans.droppedCount
            return state.statistics
        }
    }

    package func keep(_ spans: [StoredSpan]) {
        tell { state in
            state.spans.add(spans)
            let isFull = state.spans.count >= StoreThread.spansWaitingMax
            let now = MonotonicClock.now()
            let dueAt = isFull ? now : state.spansDueAt ?? now + StoreThread.spanDelay
            state.spansDueAt = max(dueAt, state.spansRetryAt)
        }
        tellOfDropped()
    }

    /// Has it told that spans were dropped.
    private func tellOfDropped() {
        if shared.withLock({ $0.spans.hasDropped }) { answer.countEvent() }
    }

    package func waitingSpans(_ filter: SpanFilter) -> [StoredSpan] {
        shared.withLock { $0.spans.ended(filter) }
    }

    /// Ends the thread and the store, and gives ids back that this run has reserved and not used, so that
    /// ids stay short for people over orderly restarts.
    ///
    /// - Returns: whether it ended in time.
    package func close(used last: TaskID) -> Bool {
        tell { $0.lastUsed = last }
        return ended.waitReadable(milliseconds: StoreThread.closeMilliseconds)
    }

    /// Changes what is shared, and wakes the thread where it waits for that.
    private func tell(_ change: (inout Shared) -> Void) {
        let isResting = shared.withLock { state in
            change(&state)
            defer { state.isResting = false }
            return state.isResting
        }
        if isResting { request.countEvent() }
    }

    /// Waits until there is something to do.
    private func rest() {
        let (isResting, dueAt) = shared.withLock { state in
            state.isResting =
                !state.orders.isDue && !state.isPruneDue && state.lastUsed == nil
                && state.outputs.isEmpty && state.cleaned.isEmpty && !state.isUseDue
            return (state.isResting, state.spansDueAt)
        }
        guard isResting else { return }
        guard let dueAt else { return request.takeEvents() }
        // Rounded up, so that it is over then.
        let wait = max(dueAt - MonotonicClock.now(), 0) / 1_000_000 + 1
        if request.waitReadable(milliseconds: Int32(clamping: wait)) { request.takeEvents() }
        shared.withLock { $0.isResting = false }
    }

    private func serve() {
        var endsSincePrune = 0
        var prunedAt = MonotonicClock.now()
        let outputs = OutputWriter(path: outputPath, first: first)
        while true {
            let (order, lastUsed) = shared.withLock { state in
                (state.orders.next(), state.lastUsed)
            }
            if let order { endsSincePrune += carryOut(order, outputs) }
            writeSpansIfDue()
            if let lastUsed { return end(lastUsed, outputs) }
            outputs.write(takeOutputs(bytesMax: Self.outputAtOnce))
            outputs.forget(of: takeCleaned(), notIn: store)
            let now = MonotonicClock.now()
            let isPruneDue =
                endsSincePrune >= StoreThread.endsPerPrune
                || now - prunedAt >= StoreThread.pruneInterval
                || shared.withLock { $0.spansSincePrune >= StoreThread.spansPerPrune }
            if isPruneDue {
                (endsSincePrune, prunedAt) = (0, now)
                shared.withLock { state in
                    state.isPruneDue = true
                    state.spansSincePrune = 0
                }
            }
            keepHouse(prunesFirst: takeGrowth() || isPruneDue, outputs)
            keepHouse(of: outputs)
            lookAtUse(outputs)
            rest()
        }
    }

    /// - Returns: how many tasks have ended by it.
    private func carryOut(_ order: StoreOrders.Order, _ outputs: OutputWriter) -> Int {
        defer { answer.countEvent() }
        do throws(StoreError) {
            switch order {
            case .write(let changes):
                let bytes = changes.reduce(0) { $0 + $1.byteCount }
                let applied = try withRoom(bytes, outputs) { () throws(StoreError) in
                    try withSpans(atMost: Self.spansBeside) { spans throws(StoreError) in
                        try commit(changes, with: spans)
                    }
                }
                shared.withLock { state in
                    state.bytesSincePrune += bytes
                    state.orders.written(changes.count, applied)
                }
                return changes.count { if case .ended = $0 { true } else { false } }
            case .probe:
                try withRoom(0, outputs) { () throws(StoreError) in try store.probe() }
                shared.withLock { $0.orders.probed() }
            }
        } catch {
            shared.withLock { $0.orders.failed(error) }
        }
        return 0
    }

    // MARK: - A full disk

    /// Writes something; where the disk has no room for it, makes some, as long as there is something of the past to let
    /// go.
    ///
    /// - Parameter bytes: what is written, about.
    private func withRoom<Result>(
        _ bytes: Int, _ outputs: OutputWriter, _ write: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var (wanted, hasCheckpointed) = (max(Self.roomAtOnce, 4 * bytes), false)
        while true {
            do throws(StoreError) {
                return try write()
            } catch {
                guard error.cause == .diskFull else { throw error }
                if !hasCheckpointed {
                    // It may be the log alone that has no room.
                    hasCheckpointed = true
                    try? store.checkpoint()
                } else {
                    guard makeRoom(wanted, outputs) else { throw error }
                    wanted *= 2
                }
            }
        }
    }

    /// What is made room for at once, at first.
    private static let roomAtOnce = 1 << 20

    /// Lets some of the past go: of the history or of the output, of whichever there is more.
    ///
    /// - Returns: whether something is gone.
    private func makeRoom(_ bytes: Int, _ outputs: OutputWriter) -> Bool {
        let bounds = shared.withLock { state in
            state.isPruneDue = true
            return state.bounds
        }
        // What lets something go has to be written.
        store.giveUpReserve()
        var count = 0
        let isOutputFirst = outputs.keptBytes > (try? store.historyBytes()) ?? 0
        if isOutputFirst { count = outputs.makeRoom(bytes, bounds) }
        if count == 0, let gone = store.makeRoom(bytes, bounds) {
            outputs.forget(gone)
            // A success that went counts too.
            count = max(gone.count, 1)
        }
        if count == 0, !isOutputFirst { count = outputs.makeRoom(bytes, bounds) }
        guard count > 0 else {
            store.takeReserve(back: true)
            return false
        }
        shared.withLock { $0.orders.forgot(count) }
        return true
    }

    /// Whether what has come since the history was looked through may be much for its bounds; it is looked through then.
    private func takeGrowth() -> Bool {
        let (bytes, bounds) = shared.withLock { ($0.bytesSincePrune, $0.bounds) }
        guard bytes > Self.bytesPerPruneMin,
            bytes > store.limited(bounds).bytesMax / Self.pruneParts
        else { return false }
        shared.withLock { ($0.bytesSincePrune, $0.isPruneDue) = (0, true) }
        return true
    }

    private static let (bytesPerPruneMin, pruneParts) = (65_536, 8)

    /// Writes changes, and takes down how long that took.
    private func commit(
        _ changes: [StoreChange], with spans: [StoredSpan]
    ) throws(StoreError) -> Applied {
        let start = MonotonicClock.now()
        var isWritten = false
        defer {
            let time = MonotonicClock.now() - start
            shared.withLock {
                $0.statistics.committed(inNanoseconds: time, isWritten: isWritten)
            }
        }
        let applied = try StoreThread.write(changes, with: spans, to: store, identifiers)
        isWritten = true
        return applied
    }

    /// Looks at how much there is on the disk, where somebody has asked.
    private func lookAtUse(_ outputs: OutputWriter) {
        let isDue = shared.withLock { state in
            defer { state.isUseDue = false }
            return state.isUseDue
        }
        guard isDue else { return }
        // Where it cannot be told, what was told before is gone too.
        let use = try? store.use()
        shared.withLock { state in
            state.statistics.use = use
            state.statistics.outputBytes = outputs.keptBytes
        }
    }

    /// Writes changes, those about ids where ids are kept.
    @discardableResult
    package static func write(
        _ changes: [StoreChange], with spans: [StoredSpan] = [], to store: TaskStore,
        _ identifiers: TaskStore
    ) throws(StoreError) -> Applied {
        guard store !== identifiers else { return try store.apply(changes, with: spans) }
        try identifiers.apply(changes.filter(\.isAboutIdentifiers))
        return try store.apply(changes.filter { !$0.isAboutIdentifiers }, with: spans)
    }

    // MARK: - The spans of applications

    /// Writes spans that wait, by what is given them.
    private func withSpans<Result>(
        atMost countMax: Int, _ write: ([StoredSpan]) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let spans = shared.withLock { state in
            state.spansDueAt = nil
            return state.spans.take(atMost: countMax)
        }
        do throws(StoreError) {
            let result = try write(spans)
            shared.withLock { state in
                state.spans.written()
                state.spansSincePrune += spans.count
                state.spansRetryAt = 0
                guard !state.spans.isEmpty else { return }
                let isFull = state.spans.count >= StoreThread.spansWaitingMax
                state.spansDueAt = MonotonicClock.now() + (isFull ? 0 : StoreThread.spanDelay)
            }
            return result
        } catch {
            shared.withLock { state in
                state.spans.notWritten()
                state.spansRetryAt = MonotonicClock.now() + StoreThread.spanDelay
                if !state.spans.isEmpty { state.spansDueAt = state.spansRetryAt }
            }
            tellOfDropped()
            throw error
        }
    }

    /// Writes the spans that wait, where no commit has come for them. A disk that does not take them is the next
    /// commit's business to tell of; they are written later.
    private func writeSpansIfDue() {
        let isDue = shared.withLock { state in
            state.spansDueAt.map { $0 <= MonotonicClock.now() } ?? false
        }
        if isDue { try? writeSpans() }
    }

    private func writeSpans() throws(StoreError) {
        try withSpans(atMost: Self.spansAtOnce) { spans throws(StoreError) in
            try store.keep(spans)
        }
    }

    /// What the file needs and no answer waits for: between two orders, a little at a time.
    ///
    /// - Parameter prunesFirst: prunes also where orders wait, which may be always: a step for the tasks that
    ///   are too many, and one for what else there is.
    private func keepHouse(prunesFirst: Bool, _ outputs: OutputWriter) {
        store.takeReserve()
        do throws(StoreError) {
            if prunesFirst, try pruneSome(evenIfOrdered: true, outputs) {
                _ = try pruneSome(evenIfOrdered: true, outputs)
            }
            repeat {
                // What is pruned is in the log first, and would make it as large as the database.
                try store.checkpointIfDue()
                if identifiers !== store { try identifiers.checkpointIfDue() }
            } while try pruneSome(evenIfOrdered: false, outputs)
        } catch {
            shared.withLock { state in
                state.isPruneDue = false
                state.orders.complain(of: error)
            }
            answer.countEvent()
        }
    }

    /// - Returns: whether there is more to prune.
    private func pruneSome(
        evenIfOrdered: Bool, _ outputs: OutputWriter
    ) throws(StoreError) -> Bool {
        guard let bounds = boundsToPrune(evenIfOrdered: evenIfOrdered) else { return false }
        let step = try store.prune(to: bounds, at: WallClock.now())
        outputs.forget(step.tasks)
        if step.isComplete {
            // Others may have come meanwhile.
            shared.withLock { if $0.bounds == bounds { $0.isPruneDue = false } }
        }
        return true
    }

    /// The output that is to be written next, as much as may be written at once.
    private func takeOutputs(bytesMax: Int) -> [EndedOutput] {
        shared.withLock { state in
            var (count, bytes) = (0, 0)
            while count < state.outputs.count, bytes < bytesMax {
                bytes += state.outputs[count].log.byteCount
                count += 1
            }
            defer { state.outputs.removeFirst(count) }
            state.outputBytes -= bytes
            return Array(state.outputs.prefix(count))
        }
    }

    /// Those whose output may be looked at now, since all of theirs that was handed over is written.
    private func takeCleaned() -> [TaskID] {
        shared.withLock { state in
            guard state.outputs.isEmpty else { return [] }
            let some = Array(state.cleaned.prefix(Self.cleanedAtOnce))
            state.cleaned.removeFirst(some.count)
            return some
        }
    }

    /// What the outputs need: at least a step, and more until there is something else to do.
    private func keepHouse(of outputs: OutputWriter) {
        var isComplete = false
        while !isComplete {
            let (bounds, isAwaited) = shared.withLock { state in
                (
                    state.bounds,
                    state.orders.isDue || !state.outputs.isEmpty || !state.cleaned.isEmpty
                        || state.lastUsed != nil
                )
            }
            isComplete = outputs.keepHouse(bounds, store) || isAwaited
        }
        guard let fault = outputs.takeFault() else { return }
        shared.withLock { $0.orders.complainOfOutput(fault) }
        answer.countEvent()
    }

    /// The bounds where there is something to prune and nothing else to do.
    private func boundsToPrune(evenIfOrdered: Bool) -> HistoryBounds? {
        shared.withLock { state in
            guard state.isPruneDue, evenIfOrdered || !state.orders.isDue, state.lastUsed == nil
            else { return nil }
            return state.bounds
        }
    }

    /// Writes what is left to the next daemon, a bounded amount in each commit.
    private func writeHandedOver(_ outputs: OutputWriter) {
        var rest = shared.withLock { $0.handedOver }[...]
        while !rest.isEmpty {
            var (count, bytes) = (0, 0)
            while count < rest.count, bytes < Self.outputAtOnce {
                bytes += rest[rest.startIndex + count].log.byteCount
                count += 1
            }
            outputs.write(Array(rest.prefix(count)), isHandedOver: true)
            rest = rest.dropFirst(count)
        }
        guard let fault = outputs.takeFault() else { return }
        shared.withLock { $0.orders.complainOfOutput(fault) }
    }

    private func end(_ last: TaskID, _ outputs: OutputWriter) {
        outputs.write(takeOutputs(bytesMax: .max))
        writeHandedOver(outputs)
        do throws(StoreError) {
            while !shared.withLock({ $0.spans.isEmpty }) { try writeSpans() }
        } catch {
            // Nothing waits for them, and nobody is there any more who could try again.
        }
        // Where it cannot be written the block is skipped, as after a crash, and the log of the database
        // is read at the next start.
        _ = try? identifiers.apply([.identifiersReserved(through: last)])
        // Last, since one user can make it much: where the time is over, the next daemon does the rest.
        while case let cleaned = takeCleaned(), !cleaned.isEmpty {
            outputs.forget(of: cleaned, notIn: store)
        }
        outputs.close()
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
