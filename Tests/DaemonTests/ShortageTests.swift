import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("A machine that has no room postpones tasks and fails none", .serialized)
struct ShortageTests {
    /// Lets a daemon open no file more than it has.
    private static func limitOpenFiles(of daemon: DaemonProcess, to count: Int) throws {
        let child = try Child(
            "/usr/bin/prlimit", ["--pid", "\(daemon.processID)", "--nofile=\(count):"])
        #expect(try child.waitForEnd() == .status(0))
    }

    @Test(
        "without a free descriptor a command waits, is explained, and runs when there is one",
        arguments: ContainmentMode.available)
    func descriptors(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        // What is opened once is there after the first.
        #expect(try client.ended(try client.submit(["true"])).outcome == .completed)
        try Self.limitOpenFiles(of: daemon, to: 3)
        let ids = try (0..<3).map { _ in try client.submit(["true"]) }
        try eventually("it is said why they wait") {
            try client.show(ids[0]).waiting == "shortage"
        }
        let hold = try client.explanation(ids[0])
        #expect(hold.text.contains("Too many open files"))
        #expect(try #require(hold.earliestChangeMs) <= 30_000)
        try daemon.waitForLog("no command can be started now")
        try Self.limitOpenFiles(of: daemon, to: 1024)
        for id in ids {
            let task = try client.ended(id)
            #expect(task.outcome == .completed && task.attempt == 1)
        }
    }

    @Test(
        "a command that waits for bgtask-executor starts when that is there, whatever the pause was"
    )
    func executor() throws {
        let executor = try ExecutorProcess(usesGroups: false)
        let daemon = try DaemonProcess(.cgroup, arguments: executor.arguments)
        let client = try daemon.connect()
        #expect(try client.ended(try client.submit(["true"])).outcome == .completed)
        try executor.kill()
        try daemon.waitForLog("the connection to bgtask-executor is lost")
        let id = try client.submit(["sh", "-c", Uptime.script])
        var pauseEndsAt = 0
        try eventually("the pause is a long one") {
            let wait = try client.explanation(id).earliestChangeMs ?? 0
            pauseEndsAt = Uptime.now + wait
            return wait > 14_000
        }
        try executor.start()
        #expect(try client.ended(id).outcome == .completed)
        let startedAt = try #require(try Uptime.printed(by: id, of: daemon).first)
        #expect(startedAt < pauseEndsAt - Uptime.error)
    }

    @Test("what was postponed is queued for the daemon after this one")
    func crash() throws {
        let folder = try TemporaryFolder()
        let id: Int
        do {
            let daemon = try DaemonProcess(.supervisor, in: folder)
            let client = try daemon.connect()
            #expect(try client.ended(try client.submit(["true"])).outcome == .completed)
            try Self.limitOpenFiles(of: daemon, to: 3)
            id = try client.submit(["true"])
            try eventually("it is postponed") { try client.show(id).waiting == "shortage" }
            // What is answered after it is on disk after it.
            _ = try client.submit(["true"]) { $0.earliestBeginMs = 3_600_000 }
            try daemon.kill()
        }
        let daemon = try DaemonProcess(.supervisor, in: folder)
        #expect(try daemon.connect().ended(id).outcome == .completed)
    }

    /// A group of the controller that counts processes, beside those of all other tests.
    private final class ProcessLimit {
        static let root = "/sys/fs/cgroup/pids"
        static let isThere = Files.exists(root + "/cgroup.procs") && geteuid() == 0
        let path = "\(root)/bgtaskd-test-\(getpid())"

        init() throws {
            guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
                throw Child.CannotStart(program: path, errno: errno)
            }
        }

        deinit { rmdir(path) }

        var count: Int { Int(Files.text(path + "/pids.current").filter(\.isNumber)) ?? 0 }

        func set(_ max: String) throws { try Files.write(max, to: path + "/pids.max") }
    }

    @Test(
        "no process to be had postpones the tasks of everybody, and fails none",
        .enabled(if: ProcessLimit.isThere, "only root can limit processes, by the first cgroups"),
        arguments: ContainmentMode.available)
    func processes(mode: ContainmentMode) throws {
        let limit = try ProcessLimit()
        let script = "echo $$ > \(limit.path)/cgroup.procs && exec \"$@\""
        let daemon = try DaemonProcess(
            mode, in: .passable(), arguments: ["--system"],
            within: ["/bin/sh", "-c", script, "sh"])
        let alice = try daemon.connect(as: .games)
        let bob = try daemon.connect(as: .backup)
        let long = try alice.submit(["sleep", "1000"])
        try alice.waitForBegin(of: long)
        #expect(try bob.ended(try bob.submit(["true"])).outcome == .completed)
        // All that there may be are there, as after a fork bomb; one that ends makes no room.
        try limit.set("0")
        let ids = try (0..<3).map { _ in try bob.submit(["true"]) }
        try eventually("they wait for room") { try bob.show(ids[0]).waiting == "shortage" }
        #expect(try alice.show(long).state == .running)
        try limit.set("max")
        for id in ids { #expect(try bob.ended(id).outcome == .completed) }
    }
}
