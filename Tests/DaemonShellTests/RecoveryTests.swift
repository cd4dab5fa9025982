import BudgetCore
import DaemonShell
import Logging
import Settings
import TaskStore
import Testing

@Suite("What the disk has for the daemon after this one")
struct RecoveryTests {
    private let folder = StateFolder()
    private let owner = OwnerID(rawValue: 1000)
    private let executor = ExecutorInstance(high: 3, low: 4)

    /// A daemon's disk.
    private final class Daemon {
        let opened: OpenedStore
        let output: OutputScene
        let store: Persistence
        let keeper: OutputKeeper
        private let thread: StoreThread
        var core: Core { output.scene.core }

        init(_ folder: StateFolder) throws {
            opened = try OpenedStore(inFolder: folder.path, Settings())
            output = try OutputScene()
            thread = try StoreThread(opened, bounds: HistoryBounds(Settings(), Accounts()))
            store = Persistence(output.scene.core, thread, output.scene.log)
            keeper = OutputKeeper(
                output.scene.core, output.pump, thread, output.scene.settings)
            core.connect(
                Core.Hooks(
                    perform: { [store] action in
                        if case .store(let step) = action { store.order(step) }
                    }, finish: {}, arrange: {}, continueLater: {}))
        }

        /// As the daemon does at its start.
        func recover() throws {
            keeper.restore(opened.handedOver)
            try store.recover(
                opened.found, frozen: [],
                by: { [opened] changes throws(StoreError) in
                    try StoreThread.write(changes, to: opened.store, opened.identifierStore)
                }, committed: { [keeper] in keeper.recovered($0) })
            keeper.recoveryEnds()
        }

        /// Has a task submitted, which starts at once where there is a slot.
        func submit(_ owner: OwnerID, waits: Bool = false) throws -> TaskID {
            var submission = Submission(
                name: "a", owner: owner, work: Work(command: ["true"]))
            submission.queueing.isPaused = waits
            var id: TaskID?
            try core.update { registry, now, actions in
                id = try registry.submit(submission, at: now, &actions).id
            }
            core.perform()
            return try #require(id)
        }

        func end() {
            store.flush()
            keeper.flush()
            #expect(thread.close(used: core.registry.identifierLast))
            #expect(thread.takeProgress().outputFault == nil)
        }

        func handOver() {
            store.flush()
            keeper.handOver()
            #expect(thread.close(used: core.registry.identifierLast))
        }
    }

    @Test(
        "has with each start the executor of that moment, and a task that waits has none",
        arguments: [true, false])
    func executors(isConnected: Bool) throws {
        let first = try Daemon(folder)
        first.store.executor = isConnected ? executor : nil
        let ids = [try first.submit(owner), try first.submit(owner, waits: true)]
        first.store.executor = nil
        first.end()
        let second = try Daemon(folder)
        let live = second.opened.found.live
        #expect(live.map(\.id) == ids)
        #expect(live.map { $0.startedAt != nil } == [true, false])
        let expected = [isConnected ? executor : nil, nil]
        #expect(live.map(\.executor) == expected)
        #expect(live.map { RestoredTask($0, second.core.clocks).executor } == expected)
        #expect(second.opened.owner == first.opened.owner)
        second.end()
    }

    @Test("has also a start out of the queue with its executor")
    func queued() throws {
        let clocks = try Scene().core.clocks
        let id = TaskID(rawValue: 7)
        #expect(
            StoreChange(.started(id), nil, clocks, executor: executor)
                == .started(id, at: clocks.time, executor: executor))
        #expect(StoreChange(.started(id), nil, clocks) == .started(id, at: clocks.time))
    }

    @Test("the output of a task whose command is gone is kept with its end")
    func output() throws {
        let first = try Daemon(folder)
        let (id, silent) = (try first.submit(owner), try first.submit(owner))
        let command = try first.output.command(id.rawValue)
        command.print("one\ntw")
        try first.output.read(at: 1)
        first.handOver()

        let second = try Daemon(folder)
        #expect(second.opened.handedOver.map(\.output.task) == [id])
        try second.recover()
        #expect(second.core.registry.record(id)?.task.outcome == .interrupted)
        #expect(second.output.pieces(of: id) == ["stdout: one\ntw"])
        #expect(second.output.pump.keptBytes > 0)
        // The other waits, and has printed nothing.
        #expect(second.output.pump[silent] == nil)
        second.end()
        let reader = try #require(try StoredOutputReader(path: folder.path + "/output.db"))
        let kept = try #require(try reader.output(of: id, owner: owner, from: 0))
        #expect(OutputScene.pieces(of: OutputLog(kept)) == ["stdout: one\ntw"])
        #expect(try reader.output(of: silent, owner: owner, from: 0) == nil)
        try reader.close()
    }
}
