import Glibc
import TaskAPI
import Testing
import Varlink

/// A file system that does not answer keeps a process where no signal reaches it.
@Suite(
    "A process that cannot end",
    .enabled(if: SilentFileSystem.refusal == nil, "\(SilentFileSystem.refusal ?? "")"))
struct UnkillableTests {
    /// The file system, and daemons that end after it: at its end one waits until its groups are empty.
    private final class Scene {
        let folder: TemporaryFolder
        let files: SilentFileSystem
        private var daemons: [DaemonProcess] = []

        /// What the body has changed is over when this returns.
        static func play(_ body: (Scene) throws -> Void) throws {
            let scene = try Scene()
            defer { scene.files.end() }
            try body(scene)
        }

        private init() throws {
            folder = try .passable()
            files = try SilentFileSystem(in: folder)
        }

        func daemon(_ mode: ContainmentMode, waits: Bool = true) throws -> DaemonProcess {
            keep(try DaemonProcess(mode, in: folder, waits: waits))
        }

        /// A daemon of everybody with one slot, in which a task is stuck soon.
        func quickDaemon(_ mode: ContainmentMode) throws -> DaemonProcess {
            keep(
                try DaemonProcess(
                    mode, settings: "queue.slots = 1", in: folder, arguments: ["--system"],
                    environment: ["BGTASKD_STUCK_AFTER_MS=1500"]))
        }

        private func keep(_ daemon: DaemonProcess) -> DaemonProcess {
            daemons.append(daemon)
            return daemon
        }

        /// Has a task ask the file system, which does not answer.
        func hang(_ daemon: DaemonProcess) throws -> (id: Int, process: pid_t) {
            let client = try daemon.connect()
            let id = try client.submit(["stat", files.path + "/x"]) {
                $0.budget = Tasks.Budget(ms: 600_000, grace: 100)
            }
            try files.takeRequest()
            try eventually("it is told to run") { try client.show(id).pid != nil }
            let process = pid_t(try #require(try client.show(id).pid))
            _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
            return (id, process)
        }
    }

    @Test(
        "keeps no daemon from starting, which names it and serves",
        arguments: ContainmentMode.available)
    func start(mode: ContainmentMode) throws {
        try Scene.play { scene in
            let daemon = try scene.daemon(mode)
            let stuck = try scene.hang(daemon).process
            try daemon.kill()
            let next = try scene.daemon(mode, waits: false)
            try eventually("the daemon serves; the log:\n\(next.log)", seconds: 60) {
                guard next.child.isRunning else {
                    throw DaemonProcess.DoesNotServe(log: next.log)
                }
                return next.canConnect()
            }
            #expect(Processes.isAlive(stuck))
            try next.waitForLog("processes of an earlier daemon cannot be ended")
            #expect(
                next.log.contains(
                    /processes of an earlier daemon cannot be ended.*processes [0-9, ]*\b\d/))
            #expect(next.log.contains("\(stuck)"))
            let client = try next.connect()
            for _ in 0..<3 {
                #expect(try client.ended(client.submit(["true"])).outcome == .completed)
            }
            #expect(Processes.isAlive(stuck))
            scene.files.end()
            try eventually("it is gone", seconds: 60) { !Processes.isAlive(stuck) }
            #expect(try client.ended(client.submit(["true"])).outcome == .completed)
            if mode == .cgroup {
                // That of the stuck one, which is empty by now, and one that is kept for the next tasks.
                #expect(next.groupCount <= 2)
            }
            #expect(try next.stop() == .status(0))
            #expect(next.groupFolder == nil)
        }
    }

    @Test(
        "is listed as stuck, gives its slot to others, and ends when it can",
        arguments: ContainmentMode.available)
    func slot(mode: ContainmentMode) throws {
        try Scene.play { scene in
            let daemon = try scene.quickDaemon(mode)
            let stuck = try scene.hang(daemon)
            let client = try daemon.connect()
            // It counts in its own user's share of the slots for as long as it is there.
            let other = try daemon.connect(as: .backup)
            let next = try other.submit(["true"])
            try eventually("the next task has had the slot", seconds: 60) {
                try other.show(next).state == .ended
            }
            #expect(try other.show(next).outcome == .completed)
            #expect(Processes.isAlive(stuck.process))
            let listed = try client.listed(stuck.id)
            #expect(listed.stuck == true && listed.state == .expiring)
            #expect(try client.explanation(stuck.id).rule == "stuck")
            try daemon.waitForLog("was killed and is still there")
            scene.files.end()
            let ended = try client.ended(stuck.id)
            // SIGTERM was the first that reached it.
            #expect(ended.outcome == .expired)
            #expect(!Processes.isAlive(stuck.process))
            #expect(try client.ended(client.submit(["true"])).outcome == .completed)
            #expect(try daemon.stop() == .status(0))
        }
    }

    @Test("holds up no stop of the daemon where it is stuck", arguments: ContainmentMode.available)
    func stop(mode: ContainmentMode) throws {
        try Scene.play { scene in
            let daemon = try scene.quickDaemon(mode)
            let stuck = try scene.hang(daemon)
            let client = try daemon.connect()
            try eventually("it is listed as stuck") { try client.show(stuck.id).stuck == true }
            #expect(try daemon.stop() == .status(0))
            #expect(Processes.isAlive(stuck.process))
            scene.files.end()
            try eventually("it is gone", seconds: 60) { !Processes.isAlive(stuck.process) }
            let next = try scene.daemon(mode)
            #expect(try next.connect().show(stuck.id).outcome == .interrupted)
        }
    }

    @Test("keeps the folder to one daemon all the same", arguments: ContainmentMode.available)
    func second(mode: ContainmentMode) throws {
        try Scene.play { scene in
            let daemon = try scene.daemon(mode)
            _ = try scene.hang(daemon)
            let second = try scene.daemon(mode, waits: false)
            try eventually("the second ends", seconds: 60) { !second.child.isRunning }
            #expect(second.child.endingIfEnded() == .status(69))
            #expect(daemon.canConnect())
        }
    }
}
