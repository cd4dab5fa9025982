import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

@Suite("Suspended means frozen (rule 19)", .serialized)
struct ApplicationFreezeTests {
    private static let settings = """
        applications.suspendAfter = "20ms"
        applications.foreground = "multiple"
        """

    /// Three processes that count, each in a file of its own, and one that started them.
    private static let tree = """
        for n in 1 2 3; do
            perl -e 'while (1) {
                open F, ">", $ARGV[0]; print F ++$n; close F; select undef, undef, undef, 0.002 }' $HOME/$0-$n &
        done
        wait
        """

    /// What a counting application has counted to, by its processes.
    private static func counts(_ name: String, _ daemon: DaemonProcess) -> [Int] {
        (1...3).map { number in
            let text = Files.text("\(daemon.folder.path)/\(name)-\(number)")
            return Int(text.filter(\.isNumber)) ?? 0
        }
    }

    private static func launchCounting(
        _ name: String, _ daemon: DaemonProcess, _ client: VarlinkClient
    ) throws {
        try client.register(name, ["sh", "-c", tree, name]) {
            $0.environment = ["HOME": daemon.folder.path]
        }
        try client.order(Applications.Launch.self, name)
        try waitForCounting(name, daemon)
    }

    /// Waits until every process has counted on.
    private static func waitForCounting(_ name: String, _ daemon: DaemonProcess) throws {
        var missing: Set = [0, 1, 2]
        let before = counts(name, daemon)
        try eventually("all of \(name) count") {
            let now = counts(name, daemon)
            missing = missing.filter { now[$0] == before[$0] || now[$0] == 0 }
            return missing.isEmpty
        }
    }

    /// The processor time of processes, in ticks of the kernel's, and their states.
    private static func use(of processes: [Int]) -> (ticks: Int, states: Set<Substring>) {
        var ticks = 0
        var states: Set<Substring> = []
        for processID in processes {
            let text = Processes.stat(pid_t(processID))
            guard let used = ProcessStat.processorTicks(text) else { continue }
            states.formUnion(ProcessStat.fields(text).prefix(1))
            ticks += used
        }
        return (ticks, states)
    }

    @Test(
        "a tree that counts stands still while it is suspended, and goes on after",
        arguments: ContainmentMode.available)
    func standsStill(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        try Self.launchCounting("watched", daemon, client)
        try Self.launchCounting("beside", daemon, client)
        for _ in 0..<3 {
            let suspended = try client.suspend("watched")
            #expect(suspended.frozen)
            #expect(suspended.pids.count >= 4)
            let counted = Self.counts("watched", daemon)
            let used = Self.use(of: suspended.pids)
            if mode == .supervisor { #expect(used.states.isSubset(of: ["T"])) }
            // One that is not suspended has counted a good deal further in the meantime.
            for _ in 0..<50 { try Self.waitForCounting("beside", daemon) }
            // A file that was being written may have been empty.
            let later = Self.counts("watched", daemon)
            #expect(later == counted)
            #expect(Self.use(of: suspended.pids).ticks == used.ticks)
            #expect(try client.application("watched").pids == suspended.pids)
            try client.order(Applications.Activate.self, "watched")
            try Self.waitForCounting("watched", daemon)
        }
    }

    @Test(
        "cgroup.events agrees with frozen at every answer",
        .enabled(if: ContainmentMode.whyNoCgroup == nil))
    func agrees() throws {
        let daemon = try DaemonProcess(.cgroup, settings: Self.settings)
        let client = try daemon.connect()
        try client.launch("app")
        let group = try #require(Self.group(of: client.application("app")))
        for round in 0..<40 {
            let left = try client.order(Applications.EnterBackground.self, "app")
            if left.state == .suspended { #expect(left.frozen) }
            // Some come back while they are being frozen.
            if round % 2 == 0 {
                let suspended = try client.waitForState(.suspended, of: "app")
                #expect(suspended.frozen)
                #expect(Files.text(group + "/cgroup.events").contains("frozen 1"))
            }
            let active = try client.order(Applications.Activate.self, "app")
            #expect(active.state == .active && !active.frozen)
            #expect(Files.text(group + "/cgroup.events").contains("frozen 0"))
        }
        #expect(!daemon.log.contains("could not be"), "\(daemon.log)")
    }

    @Test(
        "who is back for a moment is suspended again as quickly as ever",
        arguments: ContainmentMode.available)
    func backForAMoment(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: "applications.suspendAfter = \"0s\"\n")
        let client = try daemon.connect()
        try client.launch("app")
        try client.suspend("app")
        let watch = try ApplicationWatch("app", daemon)
        let there = AccessTable.call(Applications.Activate.name, application: "app")
        let back = AccessTable.call(Applications.EnterBackground.name, application: "app")
        let connection = try RawConnection(daemon)
        for _ in 0..<100 {
            try connection.send("\(there)\0\(back)\0")
            for _ in 0..<2 { _ = try #require(try connection.nextReply()) }
            _ = try watch.steps(until: "suspended")
        }
        // A machine with much else to do may take its 5 s for one of them; what is not told anew takes them each time.
        let late = daemon.log.split(separator: "\n").count { $0.contains("could not be frozen") }
        #expect(late < 5, "\(daemon.log)")
    }

    /// The folder of the control group that an application is in.
    static func group(of application: Applications.Application) -> String? {
        guard let processID = application.pids.first else { return nil }
        let lines = Files.text("/proc/\(processID)/cgroup").split(separator: "\n")
        let path = lines.first { $0.hasPrefix("0::/") }?.dropFirst(3)
        let mounts = Files.text("/proc/mounts").split(separator: "\n")
            .map { $0.split(separator: " ") }.filter { $0.count > 2 && $0[2] == "cgroup2" }
        return path.flatMap { path in
            mounts.map { "\($0[1])\(path)" }.first { Files.exists($0 + "/cgroup.events") }
        }
    }

    /// Four processes that start others all the time, each after the last has ended, and one that started them.
    private static let forking = """
        for n in 1 2 3 4; do
            (while :; do (:); echo >> $HOME/forked; done) &
        done
        while :; do sleep 1000; done
        """

    @Test(
        "a tree that forks all the time freezes whole, and goes on after",
        arguments: ContainmentMode.available)
    func forks(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        try client.launch("forking", script: Self.forking) {
            $0.environment = ["HOME": daemon.folder.path]
        }
        func forkCount() -> Int { Files.bytes(daemon.folder.path + "/forked").count }
        try Self.launchCounting("beside", daemon, client)
        for _ in 0..<3 {
            let before = forkCount()
            try eventually("it forks") { forkCount() > before + 10 }
            let suspended = try client.suspend("forking")
            #expect(suspended.frozen)
            let processes = daemon.applicationProcesses("forking")
            #expect(processes.count >= 5)
            let count = forkCount()
            let used = Self.use(of: processes.map(Int.init))
            for _ in 0..<20 { try Self.waitForCounting("beside", daemon) }
            #expect(daemon.applicationProcesses("forking") == processes)
            #expect(Self.use(of: processes.map(Int.init)).ticks == used.ticks)
            #expect(forkCount() == count)
            try client.order(Applications.Activate.self, "forking")
        }
        try client.suspend("forking")
        #expect(try client.order(Applications.Terminate.self, "forking").pids == [])
        #expect(daemon.applicationProcesses("forking") == [])
    }
}
