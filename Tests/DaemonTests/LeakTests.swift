import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("Leaks", .serialized)
struct LeakTests {
    /// Few ended tasks are remembered, so that what a task costs for good stands out: with the usual
    /// 10,000 of each kind the memory would still be filling.
    static let settings = """
        limits.endedHeldMax = 10
        limits.outputTotalBytesMax = 65536
        store.historyMax = 10
        queue.slots = 8
        daemon.logLevel = "warning"
        """

    @Test(
        "10,000 tasks leave no descriptor, thread, group or process, and no memory",
        arguments: ContainmentMode.available)
    func manyTasks(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connectAlone()
        // Pools and buffers have their size after the first of each kind.
        try Self.held(2000, on: client, daemon)
        try Self.run(500, on: client)
        try eventually("all is cleared away") { DaemonUse(daemon).children == 0 }
        let before = DaemonUse(daemon)
        let memory = Processes.status("VmRSS", of: daemon.processID)

        try Self.held(8000, on: client, daemon)
        try Self.run(2000, on: client)
        try eventually("all is cleared away: \(before), \(DaemonUse(daemon))") {
            DaemonUse(daemon).isAtMost(before, idleMax: 16)
        }
        let growth = Processes.status("VmRSS", of: daemon.processID) - memory
        #expect(growth < 3 << 10, "grown by \(growth) KiB")
        #expect(daemon.taskProcesses() == [])
        #expect(try client.counter("tasks_live") == 0)
        #expect(try client.counter("tasks_queued") == 0)
    }

    /// Held tasks, ended by their holder, abandoned, and watched by their begin.
    private static func held(
        _ count: Int, on client: VarlinkClient, _ daemon: DaemonProcess
    ) throws {
        for _ in 0..<count / 1000 {
            try FloodTests.beginAndEnd(500, on: client)
            let holder = try daemon.connect()
            for _ in 0..<499 { try holder.send(Tasks.Begin.self, with { $0.name = "left" }) }
            try holder.send(Tasks.Begin.self, with { $0.name = "watched" }, more: true)
            for _ in 0..<500 { _ = try holder.receive(Tasks.Begin.self) }
        }
        try eventually("all are abandoned") { try client.counter("tasks_live") == 0 }
    }

    /// Commands: some that print, some that cannot be started.
    private static func run(_ count: Int, on client: VarlinkClient) throws {
        let commands = [["true"], ["true"], ["echo", "some output"], ["no-such-program"]]
        for start in stride(from: 0, to: count, by: 100) {
            let ids = try (start..<start + 100).map { number in
                try client.submit(commands[number % commands.count])
            }
            for id in ids { try waitForEnd(of: id, on: client) }
        }
    }

    /// What has ended a while ago is forgotten.
    static func waitForEnd(of id: Int, on client: VarlinkClient) throws {
        do {
            try client.ask(Tasks.Wait.self) { $0.id = id }
        } catch {
            guard error == .remote(.noSuchTask(id)) else { throw error }
        }
    }
}

/// What a daemon and its bgtask-executor have, apart from what they remember on purpose.
struct DaemonUse {
    /// What each descriptor is of.
    let descriptors: [String]
    let threads: Int
    /// Beside the executor itself: those of both.
    let children: Int
    let groups: Int
    /// Sockets at which tasks speak to the daemon, those that no task has included.
    let noticeSockets: Int

    init(_ daemon: DaemonProcess) {
        let all = [daemon.processID] + (daemon.executorID.map { [$0] } ?? [])
        descriptors = all.flatMap { Processes.descriptors(of: $0) }
        threads = Processes.status("Threads", of: daemon.processID)
        children = all.reduce(1 - all.count) { $0 + Processes.children(of: $1).count }
        groups = daemon.groupCount
        noticeSockets = daemon.noticeSockets.count
    }

    /// Whether nothing has become more than it was, apart from the pools of groups and of sockets, and threads
    /// that are made late: how many are in them follows from which tasks came last and together; a group that
    /// was killed is not put back.
    ///
    /// - Parameter idleMax: how many empty groups are kept.
    func isAtMost(_ other: DaemonUse, idleMax: Int) -> Bool {
        descriptorsBesideGroups <= other.descriptorsBesideGroups
            && threads <= other.threads + Self.lateThreadsMax
            && children <= other.children && groups <= idleMax && noticeSockets <= 64
    }

    /// Threads that are made when they are first needed.
    private static let lateThreadsMax = 4

    /// A group has three at most: its folder, its events and the count of its time.
    private var descriptorsBesideGroups: Int { descriptors.count - 3 * groups - noticeSockets }
}
