import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("How applications end (rules 19 to 22)")
struct ApplicationEndTests {
    private static let slow = "applications.suspendAfter = \"1h\"\n"
    private static let quick = "applications.suspendAfter = \"20ms\"\n"
    /// Says by its exit status that it was asked to end.
    private static let polite =
        "trap 'exit 7' TERM; touch $HOME/ready; while :; do sleep 0.05; done"

    @Test(
        "an order to end is told in each state but suspended, where the kill comes without a word",
        arguments: ContainmentMode.available)
    func terminate(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(
            mode, settings: Self.slow + "applications.grace = \"100s\"\n")
        let client = try daemon.connect()
        for state in [Applications.State.active, .inactive, .background] {
            try launch(Self.polite, "app", daemon, client)
            switch state {
            case .inactive: try client.order(Applications.Resign.self, "app")
            case .background: try client.order(Applications.EnterBackground.self, "app")
            default: break
            }
            let watch = try ApplicationWatch("app", daemon)
            let ended = try client.order(Applications.Terminate.self, "app")
            #expect(ended.state == .notRunning && ended.pids == [])
            let told = try watch.events { $0.state == .notRunning }
            #expect(told.map(\.step) == ["willTerminate \(state)", "notRunning"])
            #expect(told.allSatisfy { $0.reason == "it was terminated by order" })
            #expect(ended.lastTermination?.reason == .terminated)
            #expect(ended.lastTermination?.status == 7, "\(ended)")
            #expect((ended.lastTermination?.backgroundMs != nil) == (state == .background))
        }
        // Of one that does not run nothing is left already.
        #expect(try client.order(Applications.Terminate.self, "app").state == .notRunning)
        try daemon.rewrite(settings: Self.quick)
        try client.ask(Manager.Reload.self)
        try launch(Self.polite, "app", daemon, client)
        try client.suspend("app")
        let watch = try ApplicationWatch("app", daemon)
        let ended = try client.order(Applications.Terminate.self, "app")
        #expect(try watch.next().step == "notRunning")
        #expect(ended.lastTermination?.signal == "SIGKILL")
        #expect(daemon.groupFolder == nil || daemon.applicationProcesses("app") == [])
    }

    @Test(
        "who ignores the order is killed after the grace, with all it has started",
        arguments: ContainmentMode.available)
    func killed(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(
            mode, settings: Self.slow + "applications.grace = \"50ms\"\n")
        let client = try daemon.connect()
        let script =
            "trap '' TERM; setsid sleep 1000 & sleep 1000 & touch $HOME/ready; "
            + "while :; do sleep 1000; done"
        try launch(script, "app", daemon, client)
        let ended = try client.order(Applications.Terminate.self, "app")
        #expect(ended.lastTermination?.signal == "SIGKILL")
        #expect(daemon.applicationProcesses("app") == [])
    }

    @Test(
        "an exit and a crash are told and recorded, and what they leave behind is killed",
        arguments: ContainmentMode.available)
    func byItself(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.slow)
        let client = try daemon.connect()
        let script = "setsid sleep 1000 & \(daemon.waits(for: "exit")); exit 3"
        try client.launch("app", script: script)
        let watch = try ApplicationWatch("app", daemon)
        try daemon.letGo("exit")
        let end = try watch.next()
        #expect(end.step == "notRunning" && end.previous == .active)
        #expect(end.reason == "its main process ended")
        let exited = try #require(try client.application("app").lastTermination)
        #expect(exited.reason == .exited && exited.status == 3 && exited.signal == nil)
        #expect(exited.held.isEmpty && exited.backgroundMs == nil)
        #expect(daemon.applicationProcesses("app") == [])

        let main = try #require(try client.launch("crashing").pids.first)
        let crashing = try ApplicationWatch("crashing", daemon)
        kill(pid_t(main), SIGSEGV)
        #expect(try crashing.next().step == "notRunning")
        let crashed = try #require(try client.application("crashing").lastTermination)
        #expect(crashed.reason == .crashed && crashed.signal == "SIGSEGV")
        #expect(crashed.status == nil)
    }

    @Test("a kill from outside ends a suspended application too, as a crash")
    func killedWhileSuspended() throws {
        for mode in ContainmentMode.available {
            let daemon = try DaemonProcess(mode, settings: Self.quick)
            let client = try daemon.connect()
            try client.launch("app")
            let main = try #require(try client.suspend("app").pids.first)
            let watch = try ApplicationWatch("app", daemon)
            kill(pid_t(main), SIGKILL)
            let end = try watch.next()
            #expect(end.step == "notRunning" && end.previous == .suspended)
            let last = try #require(try client.application("app").lastTermination)
            #expect(last.reason == .crashed && last.signal == "SIGKILL")
            #expect(last.backgroundMs != nil)
        }
    }

    /// Launches an application, whose home is the folder of the daemon, and waits for what it makes there.
    private func launch(
        _ script: String, _ id: String, _ daemon: DaemonProcess, _ client: VarlinkClient
    ) throws {
        let home = daemon.folder.path
        unlink(home + "/ready")
        try client.launch(id, script: script) { $0.environment = ["HOME": home] }
        try eventually("\(id) is ready") { Files.exists(home + "/ready") }
    }
}

extension DaemonProcess {
    /// The processes of an application, found by what they have in their environment; that of a process which is
    /// executing a program at this moment is empty.
    func applicationProcesses(_ id: String) -> [pid_t] {
        Processes.all(with: "BGTASK_SOCKET=\(socketPath)", "BGTASK_APPLICATION=\(id)").sorted()
    }
}
