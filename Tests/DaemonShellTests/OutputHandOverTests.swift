import BudgetCore
import DaemonShell
import Glibc
import LinuxSystem
import Logging
import Settings
import TaskStore
import Testing

@Suite("Output over one daemon's end and the next one's start")
struct OutputHandOverTests {
    private let owner = OwnerID(rawValue: 1000)

    /// Has the core know tasks that wait.
    private func restore(_ ids: [UInt64], in scene: OutputScene) {
        scene.scene.core.update { registry, now, actions in
            let tasks = ids.map { id in
                let work = Work(command: ["true"])
                return RestoredTask(
                    id: TaskID(rawValue: id),
                    submission: Submission(name: "a", owner: owner, work: work),
                    profile: "default", budget: nil, grace: .zero, lifetimeMax: nil,
                    isCutByLifetime: false, submittedAt: now, begunAt: nil)
            }
            registry.restore(tasks, at: now, &actions)
        }
    }

    private func scene(_ ids: UInt64...) throws -> OutputScene {
        let scene = try OutputScene()
        restore(ids, in: scene)
        return scene
    }

    @Test("lines that are not complete are neither lost nor doubled, and positions go on")
    func goesOn() throws {
        let first = try scene(1, 2, 3)
        let command = try first.command(1)
        command.print("one\nhal")
        try first.read(at: 1)
        command.print("warning: ", on: .stderr)
        try first.read(at: 1)
        let silent = try first.command(2)
        let left = first.pump.handOver()
        #expect(left.map(\.task) == [command.id, silent.id])
        #expect(left.map(\.owner) == [owner, owner])
        let log = left[0].log
        #expect(OutputScene.pieces(of: log).first == "stdout: one\nhal")
        #expect(log.end == 16 && left[1].log.end == 0)
        // What comes after that is left in the pipe.
        command.print("f\n")
        try first.read(at: 2)
        #expect(first.pump[command.id]?.end == 16)
        #expect(command.readCount == 16)

        let second = try scene(1)
        let stored = log.stored(of: command.id, owner)
        second.pump.restore(command.id, OutputLog(stored), isWhole: true)
        let same = try second.command(1)
        same.print("f\n")
        same.print("low\n", on: .stderr)
        try second.read(at: 1)
        let pieces = second.pieces(of: command.id)
        func text(_ stream: String) -> String {
            pieces.filter { $0.hasPrefix(stream) }.map { $0.dropFirst(8) }.joined()
        }
        #expect(text("stdout: ") == "one\nhalf\n")
        #expect(text("stderr: ") == "warning: low\n")
        let whole = try #require(second.pump[command.id])
        #expect(whole.start == 0 && whole.end == 22)
        #expect(whole.piece(at: 4)?.dropped == 0)
    }

    @Test("a character that was read in two halves is whole again")
    func character() throws {
        let first = try scene(1)
        let command = try first.command(1)
        let bytes = Array("a€".utf8)
        var log = OutputLog()
        log.append(bytes[..<2], of: .stdout, at: WallTime(microseconds: 0), max: 100)
        first.pump.restore(
            command.id, OutputLog(log.stored(of: command.id, owner)), isWhole: true)
        log = try #require(first.pump[command.id])
        log.append(bytes[2...], of: .stdout, at: WallTime(microseconds: 0), max: 100)
        #expect(OutputScene.pieces(of: log) == ["stdout: a€"])
    }

    @Test("what is kept stays within its limit, also of many small pieces of both streams")
    func limit() throws {
        var log = OutputLog()
        let time = WallTime(microseconds: 0)
        for index in 0..<30_000 {
            log.append([97], of: index % 2 == 0 ? .stdout : .stderr, at: time, max: 20_000)
        }
        let task = TaskID(rawValue: 1)
        var restored = OutputLog(log.stored(of: task, owner))
        #expect(restored.start == log.start && restored.end == log.end)
        for index in 0..<30_000 {
            let stream: OutputStream = index % 2 == 0 ? .stdout : .stderr
            log.append([98], of: stream, at: time, max: 20_000)
            restored.append([98], of: stream, at: time, max: 20_000)
        }
        #expect(restored.end == log.end && abs(restored.start - log.start) < 16_384)
        #expect(restored.byteCount <= 20_000)
    }

    @Test("of commands that go on, what was read and not left is said to be lost, and of no others")
    func lost() throws {
        let scene = try OutputScene(logsTo: Entries())
        restore([1, 2, 3, 4], in: scene)
        scene.pump.restore(TaskID(rawValue: 1), OutputLog(), isWhole: true)
        scene.pump.restore(TaskID(rawValue: 2), OutputLog(), isWhole: false)
        for id in [1, 2, 3] { scene.pump.commandFound(TaskID(rawValue: UInt64(id))) }
        let text = "what a task had printed before the daemon was started is lost"
        #expect(scene.entries?.all == ["\(text) 2", "\(text) 3"])
    }

    @Test("of a task whose command is gone counts among the output of ended ones")
    func notFound() throws {
        let scene = try scene(1, 2)
        var log = OutputLog()
        log.append(
            Array("a\n".utf8)[...], of: .stdout, at: WallTime(microseconds: 0), max: 100)
        for id in [1, 2] {
            scene.pump.restore(TaskID(rawValue: UInt64(id)), log, isWhole: true)
        }
        let running = try scene.command(1)
        #expect(scene.pump.keptBytes == 0)
        for id in [1, 2, 2] { scene.pump.commandNotFound(TaskID(rawValue: UInt64(id))) }
        #expect(scene.pump.keptBytes > 0)
        let once = scene.pump.keptBytes
        scene.pump.close(running.output)
        // An array has as much room as the allocator finds: not each takes the same.
        #expect((once + once / 2..<2 * once + once / 2).contains(scene.pump.keptBytes))
    }

    private func submitted(_ id: UInt64) -> StoreChange {
        .submitted(
            StoredTask(
                id: TaskID(rawValue: id), owner: owner, name: "a", profile: "default", budget: nil,
                grace: .zero, work: Work(command: ["true"]), submittedAt: WallTime(microseconds: 0),
                startedAt: WallTime(microseconds: 1)))
    }

    /// More in all than is written in one commit.
    private func manyOutputs(_ count: Int) -> [EndedOutput] {
        var log = OutputLog()
        let bytes = [UInt8](repeating: 97, count: 250_000)
        log.append(bytes[...], of: .stdout, at: WallTime(microseconds: 0), max: 1 << 20)
        return (1...UInt64(count)).map { id in
            EndedOutput(task: TaskID(rawValue: id), owner: owner, log: log)
        }
    }

    @Test("34: that is to be forgotten is gone when the thread of the store has ended")
    func cleaned() throws {
        let folder = StateFolder()
        let opened = try OpenedStore(inFolder: folder.path, Settings())
        try opened.store.apply([submitted(40)])
        let thread = try StoreThread(opened, bounds: HistoryBounds(Settings(), Accounts()))
        // It is told to end before it comes to the others.
        thread.keep(manyOutputs(40))
        thread.forgetOutputs(ofGone: (1...39).map { TaskID(rawValue: $0) })
        #expect(thread.close(used: TaskID(rawValue: 40)))
        let outputs = try OutputDatabase(
            path: folder.path + "/output.db", first: TaskID(rawValue: 1000))
        #expect(try outputs.tasks(after: .invalid, countMax: 100).map(\.rawValue) == [40])
        try outputs.close()
    }

    @Test(
        "is on disk when the thread of the store has ended, and the next daemon has it",
        arguments: [0, 1 << 20])
    func stored(outputBytesMax: Int) throws {
        let folder = StateFolder()
        var settings = Settings()
        settings.store.outputBytesMax = outputBytesMax
        let count = 40
        do {
            let opened = try OpenedStore(inFolder: folder.path, settings)
            #expect(opened.handedOver.isEmpty)
            try opened.store.apply((1...UInt64(count)).map(submitted))
            let thread = try StoreThread(opened, bounds: HistoryBounds(settings, Accounts()))
            thread.handOver(manyOutputs(count))
            #expect(thread.close(used: TaskID(rawValue: UInt64(count))))
            #expect(thread.takeProgress().outputFault == nil)
        }
        let opened = try OpenedStore(inFolder: folder.path, settings)
        #expect(opened.handedOver.map(\.output.task.rawValue) == Array(1...UInt64(count)))
        #expect(opened.handedOver.allSatisfy { $0.isLatest && $0.output.end == 250_000 })
        let thread = try StoreThread(opened, bounds: HistoryBounds(settings, Accounts()))
        #expect(thread.close(used: TaskID(rawValue: UInt64(count))))
    }

    @Test("that cannot be written is told of when the thread of the store has ended")
    func fault() throws {
        let folder = StateFolder()
        #expect(mkdir(folder.path + "/output.db", 0o700) == 0)
        let opened = try OpenedStore(inFolder: folder.path, Settings())
        #expect(opened.handedOver.isEmpty)
        let thread = try StoreThread(opened, bounds: HistoryBounds(Settings(), Accounts()))
        thread.handOver([
            EndedOutput(task: TaskID(rawValue: 1), owner: owner, log: OutputLog())
        ])
        #expect(thread.close(used: TaskID(rawValue: 1)))
        #expect(thread.takeProgress().outputFault != nil)
    }
}
