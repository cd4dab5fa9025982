import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// Whoever removes what it is mounted on waits for it.
@Suite(
    "A file system that is held, mounted on what the daemon and the executor remove",
    .timeLimit(.minutes(10)),
    .enabled(if: HeldMount.refusal == nil, "\(HeldMount.refusal ?? "")"))
struct HeldMountTests {
    private static func daemon(
        _ mode: ContainmentMode, in folder: TemporaryFolder
    ) throws -> DaemonProcess {
        try DaemonProcess(mode, in: folder, arguments: ["--system"])
    }

    /// That another user's commands start and end.
    private func othersGoOn(_ daemon: DaemonProcess) throws {
        let other = try daemon.connect(as: .backup)
        for _ in 1...20 {
            let id = try other.submit(script: "echo up")
            #expect(try other.ended(id).outcome == .completed)
        }
    }

    private func cancel(_ task: Int, _ client: VarlinkClient) throws {
        _ = try client.ask(Tasks.Cancel.self) { $0.id = task }
        #expect(try client.ended(task).outcome == .cancelled)
    }

    /// The folder of a task's control group.
    private func group(of task: Int, _ client: VarlinkClient) throws -> String {
        try eventually("it is told to run") { try client.show(task).pid != nil }
        let process = try #require(try client.show(task).pid)
        let line = try #require(
            Files.text("/proc/\(process)/cgroup").split(separator: "\n")
                .first { $0.hasPrefix("0::") })
        let group = String(line.dropFirst(3))
        let hierarchy = Files.exists("/sys/fs/cgroup/cgroup.procs") ? "" : "/unified"
        return "/sys/fs/cgroup\(hierarchy)\(group)"
    }

    @Test("the groups of commands: their ends are told, others go on, and so do an end and a start")
    func groups() throws {
        let folder = try TemporaryFolder.passable()
        let first = try Self.daemon(.cgroup, in: folder)
        let client = try first.connect(as: .games)
        var mounts: [HeldMount] = []
        var groups: [String] = []
        // One that ends with the daemon, after those that are cancelled.
        for number in 1...4 {
            let id = try client.submit(script: "exec sleep 1000")
            groups.append(try group(of: id, client))
            mounts.append(try HeldMount(on: groups[number - 1]))
            guard number < 4 else { break }
            try cancel(id, client)
            try othersGoOn(first)
        }
        #expect(try first.stop() == .status(0))
        let second = try Self.daemon(.cgroup, in: folder)
        try othersGoOn(second)
        #expect(try second.stop() == .status(0))
        mounts = []
        for group in groups { try eventually("\(group) is removed") { !Files.exists(group) } }
    }

    @Test("the groups of a daemon that is killed keep no other from starting")
    func leftover() throws {
        let folder = try TemporaryFolder.passable()
        let first = try Self.daemon(.cgroup, in: folder)
        let client = try first.connect(as: .games)
        let id = try client.submit(script: "exec sleep 1000")
        let group = try group(of: id, client)
        let mount = try HeldMount(on: group)
        try first.kill()
        let second = try Self.daemon(.cgroup, in: folder)
        try othersGoOn(second)
        #expect(try second.stop() == .status(0))
        withExtendedLifetime(mount) {}
    }

    @Test("the sockets of tasks, and the daemon's own")
    func sockets() throws {
        let folder = try TemporaryFolder.passable()
        let first = try Self.daemon(.supervisor, in: folder)
        let client = try first.connect(as: .games)
        let own = try HeldMount(on: first.socketPath)
        var mounts = [own]
        for _ in 1...3 {
            let id = try client.submit(script: "echo $NOTIFY_SOCKET; exec sleep 1000")
            mounts.append(try HeldMount(on: try first.noticePath(of: id, as: .games)))
            try cancel(id, client)
        }
        try othersGoOn(first)
        #expect(try first.stop() == .status(0))
        let second = try Self.daemon(.supervisor, in: folder)
        try othersGoOn(second)
        let last = try HeldMount(on: second.socketPath)
        try second.kill()
        let third = try Self.daemon(.supervisor, in: folder)
        try othersGoOn(third)
        #expect(try third.stop() == .status(0))
        withExtendedLifetime((mounts, last)) {}
    }
}
