import BudgetCore
import DaemonShell
import Settings
import TaskStore
import Testing

/// What the daemon gives to its store, when, and what it makes of what comes back.
@Suite("The writer of the store")
struct StoreWriterTests {
    /// A writer over a store that does what the test says, with a core that has three groups to pause.
    private final class Scene {
        let thread = SteppedStore()
        private var writer: StoreWriter
        private var registry: BackgroundTaskRegistry
        private var actions: [Action] = []
        private(set) var now = Instant(nanoseconds: 1_000_000_000)

        init() {
            var settings = Settings()
            for name in ["a", "b", "c", "d"] {
                settings.queue.groups[name] = Settings.Group(name: name)
            }
            writer = StoreWriter(thread)
            registry = BackgroundTaskRegistry(
                limits: RegistryLimits(settings), profiles: [], identifiers: 1...1024)
        }

        var isIdle: Bool { writer.isIdle }
        var isProbing: Bool { writer.isProbing }
        var isGivenUp: Bool { writer.isGivenUp }
        var nextDeadline: Instant { writer.nextDeadline }
        var isAtFault: Bool { registry.storeFault != nil }

        private var clocks: ClockPair {
            ClockPair(
                instant: now, boot: BootInstant(nanoseconds: now.nanoseconds),
                time: WallTime(microseconds: 1_800_000_000_000_000))
        }

        /// Orders that a group be paused; the order is on its way to the disk at the end of the turn.
        func pause(_ group: String, flushes: Bool = true) throws {
            try order(group, true, flushes)
        }

        func resume(_ group: String, flushes: Bool = true) throws {
            try order(group, false, flushes)
        }

        private func order(_ group: String, _ isPaused: Bool, _ flushes: Bool) throws {
            _ = try registry.setPaused(group, isPaused, &actions)
            while case .store(let step) = actions.last {
                actions.removeLast()
                writer.enqueue(step, clocks, &registry, &actions)
            }
            if flushes { writer.flush(at: now) }
        }

        func takeProgress(atMost countMax: Int = .max) -> StoreWriter.Outcome {
            writer.takeProgress(atMost: countMax, clocks, &registry, &actions)
        }

        func pass(_ duration: Duration) -> String? {
            now = now + duration
            return writer.deadlineReached(at: now, &registry)
        }

        func drain(hasUnstoredEnds: Bool) -> StoreWriter.Drain {
            writer.drain(at: now, hasUnstoredEnds: hasUnstoredEnds)
        }

        /// How many changes the store is to write next.
        func nextCount() -> Int {
            if case .write(let changes) = thread.next() { changes.count } else { 0 }
        }

        /// Whether the store is to look at the disk next.
        func isProbeNext() -> Bool {
            if case .probe = thread.next() { true } else { false }
        }

        /// The groups of which an order was answered, and whether it was refused.
        func takeAnswers() -> [String: Bool] {
            defer { actions = [] }
            return actions.reduce(into: [:]) { answers, action in
                if case .answerGroup(let group, let refusal) = action {
                    answers[group] = refusal != nil
                }
            }
        }
    }

    private static let full = StoreError(
        cause: .diskFull, operation: "commit", path: "/tasks.db", code: 13, text: "the disk is full"
    )

    @Test("what a turn orders is written together, and told when it is")
    func turn() throws {
        let scene = Scene()
        try scene.pause("a", flushes: false)
        #expect(!scene.thread.isDue && !scene.isIdle)
        try scene.pause("b")
        #expect(scene.nextCount() == 2)
        #expect(scene.takeProgress().stored.isEmpty)
        #expect(scene.takeAnswers() == [:])
        scene.thread.written(2, Applied())
        #expect(
            scene.takeProgress().stored == [.groupPaused("a", true), .groupPaused("b", true)])
        #expect(scene.takeAnswers() == ["a": false, "b": false])
        #expect(scene.isIdle && scene.nextDeadline == .never)
    }

    @Test("what the disk has is told a few steps at a time, and a failure behind it with the rest")
    func slices() throws {
        let scene = Scene()
        for name in ["a", "b", "c"] { try scene.pause(name, flushes: name == "c") }
        #expect(scene.nextCount() == 3)
        scene.thread.written(3, Applied())
        #expect(scene.takeProgress(atMost: 2).stored.count == 2)
        #expect(!scene.isIdle && scene.takeAnswers() == ["a": false, "b": false])
        // Ordered and done meanwhile.
        try scene.pause("d")
        #expect(scene.nextCount() == 1)
        scene.thread.written(1, Applied())
        #expect(scene.takeProgress(atMost: 2).stored == [.groupPaused("c", true)])
        #expect(scene.takeProgress(atMost: 2).stored == [.groupPaused("d", true)])
        #expect(scene.isIdle && scene.takeProgress(atMost: 2).stored.isEmpty)
        for name in ["a", "b"] { try scene.resume(name, flushes: name == "b") }
        #expect(scene.nextCount() == 2)
        try scene.resume("c")
        #expect(scene.nextCount() == 1)
        scene.thread.written(2, Applied())
        scene.thread.failed(Self.full)
        let outcome = scene.takeProgress(atMost: 1)
        #expect(outcome.stored.count == 2 && outcome.refused == [.groupPaused("c", false)])
        #expect(outcome.isNewFailure && scene.isIdle)
    }

    @Test("of several commits under way some may be done, and the rest refused")
    func partial() throws {
        let scene = Scene()
        try scene.pause("a")
        #expect(scene.nextCount() == 1)
        try scene.pause("b")
        #expect(scene.nextCount() == 1)
        scene.thread.written(1, Applied())
        scene.thread.failed(Self.full)
        // Ordered since, and never given to the disk.
        try scene.pause("c")
        #expect(scene.nextCount() == 0)
        let outcome = scene.takeProgress()
        #expect(outcome.stored == [.groupPaused("a", true)])
        #expect(outcome.refused == [.groupPaused("b", true), .groupPaused("c", true)])
        #expect(outcome.failure == Self.full && outcome.isNewFailure)
        #expect(scene.takeAnswers() == ["a": false, "b": true, "c": true])
        #expect(scene.isIdle)
    }

    @Test("a disk that failed is looked at a second later, and again, until it is well")
    func probes() throws {
        let scene = Scene()
        try scene.pause("a")
        _ = scene.nextCount()
        scene.thread.failed(Self.full)
        _ = scene.takeProgress()
        #expect(scene.pass(.milliseconds(999)) == nil)
        #expect(!scene.isProbeNext())
        #expect(scene.nextDeadline == scene.now + .milliseconds(1))
        #expect(scene.pass(.milliseconds(1)) == nil)
        #expect(scene.isProbeNext() && scene.isProbing)
        scene.thread.failed(Self.full)
        let again = scene.takeProgress()
        #expect(again.failure == Self.full && !again.isNewFailure)
        #expect(scene.pass(.seconds(1)) == nil)
        #expect(scene.isProbeNext())
        scene.thread.probed()
        #expect(scene.takeProgress().hasHealed)
        #expect(!scene.isAtFault && !scene.isProbing)
        try scene.pause("a")
        #expect(scene.nextCount() == 1)
    }

    @Test(
        "a disk that does not answer for five seconds is told of once, and looked at when it answers"
    )
    func silence() throws {
        let scene = Scene()
        try scene.pause("a")
        _ = scene.nextCount()
        #expect(scene.pass(.milliseconds(4999)) == nil)
        #expect(!scene.isAtFault)
        #expect(scene.pass(.milliseconds(1)) == "the disk has not answered for 5 s")
        #expect(scene.isAtFault)
        #expect(scene.pass(.seconds(60)) == nil)
        #expect(!scene.isProbeNext())
        scene.thread.written(1, Applied())
        let late = scene.takeProgress()
        #expect(late.stored.count == 1 && !late.hasHealed)
        #expect(scene.takeAnswers() == ["a": false])
        #expect(scene.pass(.zero) == nil)
        #expect(scene.isProbeNext())
        scene.thread.probed()
        #expect(scene.takeProgress().hasHealed)
    }

    @Test("a commit that is done gives the next one five seconds of its own")
    func timeout() throws {
        let scene = Scene()
        try scene.pause("a")
        _ = scene.nextCount()
        #expect(scene.pass(.seconds(4)) == nil)
        try scene.pause("b")
        scene.thread.written(1, Applied())
        _ = scene.takeProgress()
        #expect(scene.nextDeadline == scene.now + .seconds(5))
    }

    @Test("a stop waits ten seconds for what is on its way, and not longer")
    func stop() throws {
        let scene = Scene()
        #expect(scene.drain(hasUnstoredEnds: false) == .done)
        try scene.pause("a")
        #expect(scene.drain(hasUnstoredEnds: false) == .waiting)
        _ = scene.pass(.milliseconds(9999))
        #expect(scene.drain(hasUnstoredEnds: false) == .waiting)
        _ = scene.pass(.milliseconds(1))
        #expect(scene.nextDeadline == scene.now)
        #expect(scene.drain(hasUnstoredEnds: false) == .givenUp)
        #expect(scene.isGivenUp && scene.nextDeadline == .never)
    }

    @Test("a stop has a disk that does not know all ends looked at once more")
    func lastProbe() {
        let scene = Scene()
        #expect(scene.drain(hasUnstoredEnds: true) == .waiting)
        #expect(scene.isProbeNext())
        scene.thread.failed(Self.full)
        _ = scene.takeProgress()
        #expect(scene.drain(hasUnstoredEnds: true) == .done)
        #expect(!scene.isProbeNext())
    }
}
