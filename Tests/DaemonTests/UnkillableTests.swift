import Glibc
import TaskAPI
import Testing
import Varlink

/// A file system that does not answer keeps a process where no signal reaches it.
@Suite(
    "A process that cannot end",
    .enabled(if: SilentFileSystem.refusal == nil, "\(SilentFileSystem.refusal ?? "")"))
struct UnkillableTests {
    /// Has a task ask the file system, which does not answer.
    private static func hang(_ files: SilentFileSystem, _ daemon: DaemonProcess) throws -> pid_t {
        let client = try daemon.connect()
        let id = try client.submit(["stat", files.path + "/x"]) {
            $0.budget = Tasks.Budget(ms: 1000, grace: 100)
        }
        try files.takeRequest()
        try eventually("it is told to run") { try client.show(id).pid != nil }
        return pid_t(try #require(try client.show(id).pid))
    }

    @Test(
        "keeps no daemon from starting, which names it and serves",
        arguments: ContainmentMode.available)
    func start(mode: ContainmentMode) throws {
        let folder = try TemporaryFolder()
        let files = try SilentFileSystem(in: folder)
        // Before the daemons' groups are cleared away.
        defer { files.end() }
        let daemon = try DaemonProcess(mode, in: folder)
        let stuck = try Self.hang(files, daemon)
        try daemon.kill()
        let next = try DaemonProcess(mode, in: folder, waits: false)
        // At its own end it waits until its groups are empty.
        defer { withExtendedLifetime(next) { files.end() } }
        try eventually("the daemon serves; the log:\n\(next.log)", seconds: 60) {
            guard next.child.isRunning else { throw DaemonProcess.DoesNotServe(log: next.log) }
            return next.canConnect()
        }
        #expect(Processes.isAlive(stuck))
        #expect(
            next.log.contains(
                /processes of an earlier daemon cannot be ended.*processes [0-9, ]*\b\d/))
        #expect(next.log.contains("\(stuck)"))
        let client = try next.connect()
        for _ in 0..<3 {
            #expect(try client.ended(client.submit(["true"])).outcome == .completed)
        }
        #expect(Processes.isAlive(stuck))
        files.end()
        try eventually("it is gone", seconds: 60) { !Processes.isAlive(stuck) }
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
        if mode == .cgroup {
            // Those that are kept for the next tasks are empty; that of the stuck one is removed.
            #expect(next.groupCount <= 1)
        }
        #expect(try next.stop() == .status(0))
        #expect(next.groupFolder == nil)
    }

    @Test("keeps the folder to one daemon all the same", arguments: ContainmentMode.available)
    func second(mode: ContainmentMode) throws {
        let folder = try TemporaryFolder()
        let files = try SilentFileSystem(in: folder)
        // Before the daemons' groups are cleared away.
        defer { files.end() }
        let daemon = try DaemonProcess(mode, in: folder)
        defer { withExtendedLifetime(daemon) { files.end() } }
        _ = try Self.hang(files, daemon)
        let second = try DaemonProcess(mode, in: folder, waits: false)
        defer { withExtendedLifetime(second) { files.end() } }
        try eventually("the second ends", seconds: 60) { !second.child.isRunning }
        #expect(second.child.endingIfEnded() == .status(69))
        #expect(daemon.canConnect())
    }
}
