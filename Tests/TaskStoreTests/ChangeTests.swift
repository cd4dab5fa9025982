import BudgetCore
import TaskStore
import Testing

@Suite("Changes fit what is stored, or nothing is changed")
struct ChangeTests {
    private let store: TaskStore

    init() throws {
        store = try TaskStore.open(path: "", durability: .memory)
    }

    /// Why changes are refused.
    private func refusal(_ changes: [StoreChange]) -> StoreError? {
        do throws(StoreError) {
            try store.apply(changes)
            return nil
        } catch {
            return error
        }
    }

    @Test("a task ends once")
    func endsOnce() throws {
        let task = Samples.task(1)
        try store.apply([.submitted(task), .ended(task.id, Samples.end(1))])
        #expect(refusal([.ended(task.id, Samples.end(2))])?.cause == .contradiction)
        #expect(try store.historyReader().task(task.id)?.end == Samples.end(1))
    }

    @Test("a task that is not queued does not start")
    func startsOnce() throws {
        let task = Samples.task(1)
        let start = StoreChange.started(task.id, at: Samples.time(1))
        #expect(refusal([start])?.cause == .contradiction)
        try store.apply([.submitted(task), start])
        let error = refusal([start])
        #expect(error?.cause == .contradiction)
        #expect(error?.description == "start :memory:: task 1 is not queued in the store")
        try store.apply([.ended(task.id, Samples.end(1))])
        #expect(refusal([start])?.cause == .contradiction)
    }

    @Test("a change finds the new tasks before it in its commit")
    func findsNew() throws {
        let tasks = (1...9).map { Samples.task($0) }
        var changes: [StoreChange] = []
        for task in tasks {
            changes.append(.submitted(task))
            if task.id.rawValue.isMultiple(of: 3) {
                changes.append(.ended(task.id, Samples.end(1)))
            }
        }
        try store.apply(changes)
        #expect(try store.live().map(\.id.rawValue) == [1, 2, 4, 5, 7, 8])
        #expect(try store.endedCount() == 3)
    }

    @Test("new tasks of a commit that was refused do not come with the next")
    func refusedWithNew() throws {
        let twice = [1, 2, 3, 2].map { StoreChange.submitted(Samples.task($0)) }
        #expect(refusal(twice)?.cause == .contradiction)
        try store.apply([.submitted(Samples.task(4))])
        #expect(try store.live().map(\.id.rawValue) == [4])
    }

    @Test("a task that is not started is not queued again")
    func requeuesStarted() throws {
        let again = StoreChange.requeued(
            TaskID(rawValue: 1), StoredRequeue(end: Samples.end(1, .failed), attempt: 2))
        try store.apply([.submitted(Samples.task(1))])
        #expect(refusal([again])?.cause == .contradiction)
        try store.apply([.started(TaskID(rawValue: 1), at: Samples.time(1)), again])
        #expect(refusal([again])?.cause == .contradiction)
    }

    @Test("a start that is undone leaves the task as it was queued")
    func undoesStart() throws {
        let task = Samples.task(1)
        #expect(refusal([.startUndone(task.id)])?.cause == .contradiction)
        try store.apply([.submitted(task)])
        #expect(refusal([.startUndone(task.id)])?.cause == .contradiction)
        try store.apply([.started(task.id, at: Samples.time(1)), .startUndone(task.id)])
        #expect(try store.live() == [task])
        #expect(try store.historyReader().attempts(of: task.id).isEmpty)
    }

    @Test(
        "a cancelled task stays so through whatever follows, and one that does not run has no mark")
    func cancels() throws {
        var task = Samples.task(1)
        let cancel = StoreChange.cancelling(task.id)
        #expect(refusal([cancel])?.cause == .contradiction)
        try store.apply([.submitted(task)])
        let error = refusal([cancel])
        #expect(error?.description == "cancel :memory:: task 1 is not started in the store")
        #expect(try store.live() == [task])
        try store.apply([.started(task.id, at: Samples.time(1)), cancel, cancel])
        task.startedAt = Samples.time(1)
        task.isCancelled = true
        #expect(try store.live() == [task])
        let end = Samples.end(2, .cancelled)
        try store.apply([.ended(task.id, end)])
        #expect(try store.historyReader().task(task.id) == task.ended(end))
        #expect(refusal([cancel])?.cause == .contradiction)
    }

    @Test("groups are paused and resumed, more than once too, and listed by their names")
    func pauses() throws {
        #expect(try store.pausedGroups() == [])
        try store.apply([
            .groupPaused("night", true), .groupPaused("backup", true), .groupPaused("night", true),
            .groupPaused("day", false),
        ])
        #expect(try store.pausedGroups() == ["backup", "night"])
        try store.apply([.groupPaused("backup", false), .groupPaused("backup", false)])
        #expect(try store.pausedGroups() == ["night"])
    }

    @Test("what a task comes after is known until it has ended, with how that ended")
    func dependencies() throws {
        let (first, second) = (Samples.task(1), Samples.task(2))
        var third = Samples.task(3)
        let open = [Predecessor(first.id), Predecessor(second.id, anyOutcome: true)]
        third.dependencies =
            open.map { Dependency($0) } + [
                Dependency(Predecessor(TaskID(rawValue: 99)), .completed)
            ]
        // One end came to the disk before the submission, which did not know of it.
        try store.apply([
            .submitted(first), .submitted(second), .ended(first.id, Samples.end(1, .failed)),
            .submitted(third),
        ])
        let known = try store.dependencies()
        #expect(
            known[third.id] == [
                Dependency(open[0], .failed), Dependency(open[1]), third.dependencies[2],
            ])
        try store.apply([.ended(second.id, Samples.end(2, .completed))])
        #expect(try store.dependencies()[third.id]?[1].outcome == .completed)
        try store.apply([.ended(third.id, Samples.end(3, .failed))])
        #expect(try store.dependencies().isEmpty)
    }

    @Test("a queued task waits by other rules, and one that has started does not")
    func changes() throws {
        var task = Samples.task(1)
        var queueing = Queueing()
        queueing.priority = 7
        queueing.earliestBegin = .seconds(9)
        queueing.isPaused = true
        let change = StoreChange.changed(task.id, StoredTerms(queueing, at: Samples.time(4)))
        try store.apply([.submitted(task), change])
        (task.queueing, task.queuedAt) = (queueing, Samples.time(4))
        #expect(try store.live() == [task])
        try store.apply([.started(task.id, at: Samples.time(5))])
        #expect(refusal([change])?.cause == .contradiction)
    }

    @Test("users are paused and resumed, more than once too")
    func pausedOwners() throws {
        let (ann, bob) = (OwnerID(rawValue: 1001), OwnerID(rawValue: .max - 1))
        try store.apply([
            .ownerPaused(bob, true), .ownerPaused(ann, true), .ownerPaused(ann, true),
        ])
        #expect(try store.pausedOwners() == [ann, bob])
        try store.apply([.ownerPaused(ann, false), .ownerPaused(ann, false)])
        #expect(try store.pausedOwners() == [bob])
    }

    @Test("an order of slots is kept until it is taken back")
    func slotOrders() throws {
        try store.apply([
            .slotsOrdered(SlotOrder(group: nil, slots: 8)),
            .slotsOrdered(SlotOrder(group: "net", slots: 3)),
            .slotsOrdered(SlotOrder(group: "net", slots: 2)),
        ])
        #expect(try store.slotOrders() == SlotOrders([nil: 8, "net": 2]))
        try store.apply([
            .slotsOrdered(SlotOrder(group: nil, slots: nil)),
            .slotsOrdered(SlotOrder(group: "other", slots: nil)),
        ])
        #expect(try store.slotOrders() == SlotOrders(["net": 2]))
    }

    @Test("an id is used once")
    func idOnce() throws {
        try store.apply([.submitted(Samples.task(1))])
        #expect(refusal([.submitted(Samples.task(1))])?.cause == .contradiction)
    }

    @Test("one change that does not fit undoes those before it, and the store goes on")
    func allOrNothing() throws {
        try store.apply([.submitted(Samples.task(1))])
        let changes: [StoreChange] = [
            .submitted(Samples.task(2)), .ended(TaskID(rawValue: 1), Samples.end(1)),
            .identifiersReserved(through: TaskID(rawValue: 500)),
            .ended(TaskID(rawValue: 9), Samples.end(1)),
        ]
        #expect(refusal(changes)?.cause == .contradiction)
        #expect(try store.live() == [Samples.task(1)])
        #expect(try store.endedCount() == 0)
        #expect(try store.reservedIdentifiers() == TaskID(rawValue: 1))
        try store.apply(Array(changes.dropLast()))
        #expect(try store.live() == [Samples.task(2)])
        #expect(try store.endedCount() == 1)
    }

    @Test("a closed store says so")
    func closed() throws {
        try store.close()
        #expect(refusal([.submitted(Samples.task(1))])?.cause == .closed)
        #expect(refusal([]) == nil)
    }

    @Test("a clock that was set back starts a wait anew, and none becomes longer")
    func elapsed() {
        #expect(Samples.time(5).elapsed(at: Samples.time(65)) == .seconds(60))
        #expect(Samples.time(65).elapsed(at: Samples.time(5)) == .zero)
        #expect(WallTime(microseconds: .min).elapsed(at: WallTime(microseconds: .max)) == .zero)
        #expect(Samples.time(5).earlier(by: .seconds(5)) == Samples.time(0))
        #expect(WallTime(microseconds: .min).earlier(by: .seconds(1)).microseconds == .min)
    }

    @Test("a time that is earlier by a length of any size is earlier, and no number overflows")
    func saturated() {
        let now = Samples.time(0)
        let edges = [1, 1000, 1_000_000, 1_000_000_000].map { Int.max / $0 }
        let lengths = edges.flatMap { edge in
            (-2000...2000).compactMap { distance in
                let (length, isOut) = edge.addingReportingOverflow(distance)
                return isOut ? nil : length
            }
        }
        #expect(lengths.filter { now.earlier(by: .milliseconds($0)) >= now } == [])
        #expect(lengths.filter { now.earlier(by: .milliseconds(-$0)) <= now } == [])
        #expect(now.earlier(by: .milliseconds(Int.min)).microseconds == .max)
    }
}
