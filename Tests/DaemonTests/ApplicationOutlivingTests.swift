import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// Launched applications that bgtask-executor runs go on while one daemon follows another.
@Suite(
    "Launched applications outlive the daemon",
    .enabled(if: ContainmentMode.whyNoCgroup == nil, "takes cgroups"))
struct ApplicationOutlivingTests {
    private typealias Ending = OutlivingPair.Ending

    private static let settings = """
        applications.suspendAfter = "20ms"
        applications.foreground = "multiple"
        """

    /// Counts in a file for as long as it runs.
    private static let counting = """
        count=0; trap ': > $HOME/asked; exit 3' TERM
        while :; do count=$((count + 1)); echo $count > $HOME/count; sleep 0.05; done
        """

    private func launchCounting(_ daemon: DaemonProcess) throws -> [Int] {
        let home = daemon.folder.path
        let client = try daemon.connect()
        try client.launch("app", script: Self.counting) { $0.environment = ["HOME": home] }
        try waitForCounting(daemon)
        return try client.application("app").pids
    }

    private func count(_ daemon: DaemonProcess) -> Int {
        Int(Files.text(daemon.folder.path + "/count").filter(\.isNumber)) ?? 0
    }

    private func waitForCounting(_ daemon: DaemonProcess) throws {
        let before = count(daemon)
        try eventually("it counts") { count(daemon) > before }
    }

    /// The file that says whether it is frozen.
    private func events(of application: Applications.Application) throws -> String {
        try #require(ApplicationFreezeTests.group(of: application)) + "/cgroup.events"
    }

    @Test("one in front goes on as it was, and is led as before", arguments: Ending.allCases)
    func front(ending: OutlivingPair.Ending) throws {
        var pair = try OutlivingPair(settings: Self.settings)
        let process = try #require(try launchCounting(pair.daemon).first)
        let spans = try pair.daemon.connect().ask(Applications.History.self) { $0.id = "app" }.spans
        try pair.end(ending)
        try waitForCounting(pair.daemon)
        try pair.follow()
        try pair.daemon.waitForLog("commands of an earlier daemon go on")
        let client = try pair.daemon.connect()
        let found = try client.application("app")
        #expect(found.state == .active && found.pids.contains(process) && !found.frozen)
        // What it was before is one span with what it is now.
        let later = try client.ask(Applications.History.self) { $0.id = "app" }.spans
        #expect(later?.map(\.state) == spans?.map(\.state))
        try client.suspend("app")
        try client.order(Applications.Activate.self, "app")
        try waitForCounting(pair.daemon)
        try client.order(Applications.Terminate.self, "app")
        let last = try client.waitForState(.notRunning, of: "app").lastTermination
        #expect(last?.reason == .terminated && last?.status == 3)
        #expect(try client.order(Applications.Launch.self, "app").state == .active)
    }

    @Test(
        "one that is frozen stays so, and is thawed by the next daemon", arguments: Ending.allCases)
    func frozen(ending: OutlivingPair.Ending) throws {
        var pair = try OutlivingPair(settings: Self.settings)
        let process = try #require(try launchCounting(pair.daemon).first)
        let suspended = try pair.daemon.connect().suspend("app")
        let events = try self.events(of: suspended)
        #expect(Files.text(events).contains("frozen 1"))
        let counted = count(pair.daemon)
        for _ in 0..<2 {
            try pair.end(ending)
            #expect(Files.text(events).contains("frozen 1"))
            try pair.follow()
            #expect(Files.text(events).contains("frozen 1"))
            let found = try pair.daemon.connect().application("app")
            #expect(found.state == .suspended && found.frozen && found.pids.contains(process))
        }
        #expect(count(pair.daemon) == counted)
        let client = try pair.daemon.connect()
        let active = try client.order(Applications.Activate.self, "app")
        #expect(active.state == .active && !active.frozen)
        try waitForCounting(pair.daemon)
        try client.suspend("app")
        #expect(Files.text(events).contains("frozen 1"))
    }

    @Test("one that is stopped without control groups stays so too", arguments: Ending.allCases)
    func stopped(ending: OutlivingPair.Ending) throws {
        var pair = try OutlivingPair(settings: Self.settings, usesGroups: false)
        let processes = try launchCounting(pair.daemon)
        let suspended = try pair.daemon.connect().suspend("app")
        #expect(suspended.frozen && suspended.freezer == .signals)
        // One that had ended before its parent was stopped has not been reaped.
        let areStopped = {
            processes.allSatisfy { ["T", "Z", "X"].contains(Processes.state(pid_t($0)) ?? "T") }
        }
        #expect(areStopped())
        try pair.end(ending)
        #expect(areStopped())
        try pair.follow()
        #expect(areStopped())
        let client = try pair.daemon.connect()
        let found = try client.application("app")
        #expect(found.state == .suspended && found.frozen)
        #expect(try client.order(Applications.Activate.self, "app").state == .active)
        try waitForCounting(pair.daemon)
        try client.order(Applications.Terminate.self, "app")
        #expect(try client.application("app").lastTermination?.status == 3)
    }

    @Test(
        "one that is in the background is suspended by the next daemon", arguments: Ending.allCases)
    func background(ending: OutlivingPair.Ending) throws {
        var pair = try OutlivingPair(
            settings: "applications.suspendAfter = \"2s\"\napplications.backgroundTime = \"600s\"\n"
        )
        _ = try launchCounting(pair.daemon)
        try pair.daemon.connect().order(Applications.EnterBackground.self, "app")
        try pair.end(ending)
        try pair.follow()
        let client = try pair.daemon.connect()
        let found = try client.application("app")
        #expect(found.state == .background || found.state == .suspended)
        #expect(try client.waitForState(.suspended, of: "app").frozen)
    }

    @Test("what ends while there is no daemon is told as it was", arguments: Ending.allCases)
    func endMeanwhile(ending: OutlivingPair.Ending) throws {
        var pair = try OutlivingPair(settings: Self.settings)
        let home = pair.daemon.folder.path
        let client = try pair.daemon.connect()
        for (id, end) in [("exits", "exit 7"), ("crashes", "kill -SEGV $$")] {
            let script = "until [ -e $HOME/gate ]; do sleep 0.05; done; \(end)"
            try client.launch(id, script: script) { $0.environment = ["HOME": home] }
        }
        let processes = try ["exits", "crashes"].flatMap { try client.application($0).pids }
        try pair.end(ending)
        try Files.write("", to: home + "/gate")
        try eventually("they have ended") { processes.allSatisfy { !Processes.isAlive(pid_t($0)) } }
        try pair.follow()
        let next = try pair.daemon.connect()
        let exited = try next.waitForState(.notRunning, of: "exits").lastTermination
        #expect(exited?.reason == .exited && exited?.status == 7)
        let crashed = try next.waitForState(.notRunning, of: "crashes").lastTermination
        #expect(crashed?.reason == .crashed && crashed?.signal == "SIGSEGV")
    }

    @Test("an order to end one holds without a daemon too, and for the reason that it had")
    func terminateMeanwhile() throws {
        var pair = try OutlivingPair(settings: "applications.grace = \"3s\"\n")
        let home = pair.daemon.folder.path
        let client = try pair.daemon.connect()
        let script = "trap ': > $HOME/asked' TERM; : > $HOME/up; while :; do sleep 0.05; done"
        try client.launch("app", script: script) { $0.environment = ["HOME": home] }
        try eventually("it is up") { Files.exists(home + "/up") }
        let processes = try client.application("app").pids
        let other = try pair.daemon.connect()
        try other.send(Applications.Terminate.self, with { $0.id = "app" })
        try eventually("it is told") { Files.exists(home + "/asked") }
        try pair.end(.killed)
        try eventually("it was killed") { processes.allSatisfy { !Processes.isAlive(pid_t($0)) } }
        try pair.follow()
        let last = try pair.daemon.connect().waitForState(.notRunning, of: "app").lastTermination
        #expect(last?.reason == .terminated)
    }

    @Test(
        "where no daemon comes back in time, they are thawed and told to end",
        arguments: [true, false])
    func abandoned(isFrozen: Bool) throws {
        var pair = try OutlivingPair(settings: Self.settings, absenceMax: "1s")
        let processes = try launchCounting(pair.daemon)
        if isFrozen { try pair.daemon.connect().suspend("app") }
        try pair.end(.killed)
        try eventually("it is told") { Files.exists(pair.daemon.folder.path + "/asked") }
        try eventually("it has ended") { processes.allSatisfy { !Processes.isAlive(pid_t($0)) } }
        try pair.follow()
        let last = try pair.daemon.connect().waitForState(.notRunning, of: "app").lastTermination
        #expect(last?.reason == .interrupted && last?.status == 3)
    }

    @Test("an executor that is killed takes them along, and starts others when it is there again")
    func executorKilled() throws {
        let pair = try OutlivingPair(settings: Self.settings)
        _ = try launchCounting(pair.daemon)
        let client = try pair.daemon.connect()
        try pair.executor.kill()
        try pair.daemon.waitForLog("the connection to bgtask-executor is lost")
        try client.register("other")
        let refusal = try client.refusal(of: Applications.Launch.self) { $0.id = "other" }
        #expect(refusal.description.contains("try again"), "\(refusal)")
        try pair.executor.start()
        let last = try client.waitForState(.notRunning, of: "app").lastTermination
        #expect(last?.reason == .interrupted)
        #expect(try client.order(Applications.Launch.self, "app").state == .active)
    }

    @Test("an executor that is stopped ends them in their grace, and that is told")
    func executorStopped() throws {
        let pair = try OutlivingPair(settings: Self.settings)
        _ = try launchCounting(pair.daemon)
        let client = try pair.daemon.connect()
        #expect(try pair.executor.stop() == 0)
        try pair.executor.start()
        let last = try client.waitForState(.notRunning, of: "app").lastTermination
        #expect(last?.reason == .interrupted && last?.status == 3)
    }

    @Test("a program that listens to itself hears the next daemon", arguments: Ending.allCases)
    func listens(ending: OutlivingPair.Ending) throws {
        var pair = try OutlivingPair(settings: "applications.suspendAfter = \"1h\"\n")
        let home = pair.daemon.folder.path
        let lines = home + "/lines"
        // Each line is written to what is opened anew.
        let script = """
            mkfifo $HOME/pipe; exec 3<>$HOME/pipe
            (trap '' TERM; exec cat <&3 >$HOME/lines) &
            exec "$0" lifecycle $HOME/pipe 3>&-
            """
        let program = Programs.path("background-tasks-check")
        try pair.daemon.connect().register("app", ["sh", "-c", script, program]) {
            $0.environment = ["HOME": home]
        }
        try pair.daemon.connect().order(Applications.Launch.self, "app")
        try waitForLine("posted UIApplicationDidBecomeActiveNotification", in: lines)
        for number in 1...2 {
            try pair.end(ending)
            try pair.follow()
            let client = try pair.daemon.connect()
            try client.order(Applications.EnterBackground.self, "app")
            try waitForLine("didEnterBackground background", in: lines, count: number)
            try client.order(Applications.Activate.self, "app")
            try waitForLine("didBecomeActive active", in: lines, count: number + 1)
        }
        let client = try pair.daemon.connect()
        try client.order(Applications.Terminate.self, "app")
        #expect(try client.application("app").lastTermination?.status == 0)
        let all = Files.text(lines).split(separator: "\n")
        // Nothing is told twice.
        #expect(all.count { $0 == "willEnterForeground background" } == 2)
        #expect(all.count { $0 == "didBecomeActive active" } == 3)
    }

    private func waitForLine(_ line: String, in path: String, count: Int = 1) throws {
        try eventually("\(path) has \(line); it has \(Files.text(path))") {
            Files.text(path).split(separator: "\n").count { $0 == line } >= count
        }
    }
}
