import Glibc
import TaskAPI
import Testing
import Varlink

@Suite(
    "What one user learns of another",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct UserPrivacyTests {
    @Test("a watch and a listing of all that one may see have nothing of others")
    func watchAndList() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: DaemonProcess.staffOperates)
        let watchers = try [TestUser.games, .staff, .root].map { user in
            let watcher = try daemon.connect(as: user)
            try watcher.send(Tasks.Watch.self, with { $0.output = true }, more: true)
            return watcher
        }
        // The daemon has taken the watches when it answers those who came after.
        let games = try daemon.connect(as: .games)
        let staff = try daemon.connect(as: .staff)
        let root = try daemon.connect(as: .root)
        for client in [games, staff, root] { try client.ask(SystemdService.Ping.self) }
        let backup = try daemon.connect(as: .backup)
        let held = try backup.begin("secret name")
        _ = try backup.ask(Tasks.Extend.self) { $0.id = held }
        _ = try backup.ask(Tasks.End.self) { $0.id = held }
        let run = try backup.submit(["echo", "secret output"])
        #expect(try backup.ended(run).outcome == .completed)
        let live = try backup.begin("secret and live")

        for (watcher, (client, owner)) in zip(
            watchers, [(games, 5), (staff, 33), (root, 0)])
        {
            let own = try client.begin("marker")
            let event = try watcher.receive(Tasks.Watch.self).output.event
            #expect(event.number == 1)
            #expect(event.task.id == own)
            #expect(event.task.owner == owner)
            let listed = try client.ask(Tasks.List.self) { $0.ended = true }
            #expect(listed.tasks?.map(\.id) == [own])
            let named = try client.ask(Tasks.List.self) { $0.name = "secret and live" }
            #expect(named.tasks?.isEmpty == true)
            #expect(named.truncated != true)
        }
        let all = try root.ask(Tasks.List.self) {
            $0.ended = true
            $0.all = true
        }
        #expect(Set([held, run, live]).isSubset(of: Set(all.tasks?.map(\.id) ?? [])))
    }

    @Test(
        "an operator who watches all is told of everybody's", arguments: [TestUser.root, .staff])
    func operatorWatches(watching: TestUser) throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: DaemonProcess.staffOperates)
        let watcher = try daemon.connect(as: watching)
        try watcher.send(Tasks.Watch.self, with { $0.all = true }, more: true)
        try daemon.connect(as: watching).ask(SystemdService.Ping.self)
        for user in [TestUser.games, .backup, .root] {
            let id = try daemon.connect(as: user).begin()
            let event = try watcher.receive(Tasks.Watch.self).output.event
            #expect(event.task.id == id)
            #expect(event.task.owner == Int(user.user))
            #expect(try watcher.receive(Tasks.Watch.self).output.event.kind == .ended)
        }
    }

    @Test("the counts that a user is told are their own")
    func statistics() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor, settings: "queue.slots = 1")
        let games = try daemon.connect(as: .games)
        func told() throws -> [String: Int] {
            let counters = try games.ask(Manager.Statistics.self).counters
            return Dictionary(counters.map { ($0.name, $0.value) }) { first, _ in first }
        }
        let before = try told()
        #expect(
            before == [
                "bgtaskd_connections": 1, "bgtaskd_tasks_live": 0, "bgtaskd_tasks_queued": 0,
            ])
        let backup = try daemon.connect(as: .backup)
        for _ in 0..<3 {
            _ = try backup.begin()
            _ = try backup.submit(["sleep", "1000"])
        }
        #expect(try told() == before)
        _ = try games.begin()
        _ = try games.submit(["sleep", "1000"])
        #expect(try told()["bgtaskd_tasks_live"] == 1)
        #expect(try told()["bgtaskd_tasks_queued"] == 1)
        #expect(try games.ask(Manager.Statistics.self).histograms == nil)
        #expect(try games.ask(Manager.Statistics.self).gauges == nil)
        let root = try daemon.connect(as: .root)
        #expect(try root.ask(Manager.Statistics.self).histograms?.count == 4)
        #expect(try root.counter("tasks_live") == 5)
        #expect(try root.counter("tasks_queued") == 3)
    }

    @Test("why a task waits says nothing of whose tasks are in its way, or for how long")
    func explain() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor, settings: "queue.slots = 1")
        let backup = try daemon.connect(as: .backup)
        let first = try backup.submit(["sleep", "1000"]) { $0.name = "secret" }
        let games = try daemon.connect(as: .games)
        let waiting = try games.submit(["sleep", "1000"])
        let told = try games.ask(Tasks.Explain.self) { $0.id = waiting }.explanations
        #expect(told.map(\.rule) == ["slots"])
        #expect(told.map(\.value) == [1])
        #expect(told.map(\.text) == ["all slots are taken"])
        #expect(told.map(\.earliestChangeMs) == [nil])
        #expect(try games.show(waiting).waiting == "slots")
        let root = try daemon.connect(as: .root)
        let seen = try root.ask(Tasks.Explain.self) {
            $0.id = waiting
            $0.all = true
        }.explanations
        #expect(seen.first?.earliestChangeMs != nil)
        _ = try root.ask(Tasks.Cancel.self) {
            $0.id = first
            $0.all = true
        }
        try eventually("the slot is the other's") { try games.show(waiting).state == .running }
    }

    @Test("a limit is each user's own, and its refusal names it and its value alone")
    func limits() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor,
            settings: """
                limits.tasksPerOwnerMax = 2
                limits.queueDepthPerOwnerMax = 1
                limits.clientsPerOwnerMax = 3
                """)
        let backup = try daemon.connect(as: .backup)
        for _ in 0..<2 { _ = try backup.begin() }
        _ = try backup.submit(["true"])
        let others = try (0..<2).map { _ in try daemon.connect(as: .backup) }
        let games = try daemon.connect(as: .games)
        for _ in 0..<2 { _ = try games.begin() }
        let live = try games.refusal(of: Tasks.Begin.self) { $0.name = "third" }
        #expect(live == .limitReached("tasksPerOwnerMax", 2))
        _ = try games.submit(["true"])
        let queued = try games.refusal(of: Tasks.Submit.self) {
            $0.work.name = "second"
            $0.work.command = ["true"]
        }
        #expect(queued == .limitReached("queueDepthPerOwnerMax", 1))
        #expect(try RawConnection(daemon, as: .backup).readToEnd() == [])
        for other in others { try other.ask(SystemdService.Ping.self) }
        try daemon.connect(as: .games).ask(SystemdService.Ping.self)
    }

    @Test("another's process is nobody else's holder, also where it is its owner's")
    func foreignHolder() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let process = try Child(
            "/usr/bin/setpriv", TestUser.backup.privileges + ["sleep", "1000"])
        let user = Int(TestUser.backup.user)
        try eventually("the process has changed its user") {
            Processes.status("Uid", of: process.processID) == user
        }
        let pid = Int(process.processID)
        func expectRefused() throws {
            for user in [TestUser.games, .root] {
                let refusal = try daemon.connect(as: user).refusal(of: Tasks.Begin.self) {
                    $0.name = "not mine"
                    $0.pid = pid
                }
                // As a number that no process has.
                #expect(ServiceError(refusal) == .invalidParameter(parameter: "pid"), "\(user)")
            }
        }
        try expectRefused()
        let backup = try daemon.connect(as: .backup)
        let id = try backup.begin { $0.pid = pid }
        try expectRefused()
        #expect(try backup.show(id).state == .running)
        process.signal(SIGKILL)
        #expect(try backup.ended(id).outcome == .abandoned)
    }

    @Test(
        "what an operator orders is logged with their uid, and with them alone",
        arguments: [TestUser.root, .staff])
    func orders(user: TestUser) throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: DaemonProcess.staffOperates)
        let games = try daemon.connect(as: .games)
        let client = try daemon.connect(as: user)
        let own = try client.begin()
        _ = try client.ask(Tasks.Extend.self) { $0.id = own }
        _ = try client.ask(Tasks.Cancel.self) {
            $0.id = own; $0.all = true
        }
        let id = try games.begin()
        _ = try games.ask(Tasks.Extend.self) { $0.id = id }
        _ = try games.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        _ = try client.ask(Tasks.Extend.self) {
            $0.id = id; $0.all = true
        }
        _ = try client.ask(Tasks.SimulateExpiration.self) {
            $0.id = id; $0.all = true
        }
        _ = try client.ask(Tasks.Cancel.self) {
            $0.id = id; $0.all = true
        }
        for order in ["extend", "simulate-expiration", "cancel"] {
            try daemon.waitForLog("An operator's order for task \(id) (held): \(order)")
        }
        _ = try client.ask(Manager.Reload.self)
        _ = try client.ask(SystemdService.Reload.self)
        _ = try client.ask(SystemdService.SetLogLevel.self) { $0.level = 6 }
        // The log is in the order of what happened: nothing before these is still to come.
        try daemon.waitForLog("BGTASK_OPERATOR=\(user.user)", count: 6)
        let lines = daemon.log.split(separator: "\n").filter { $0.contains("BGTASK_OPERATOR") }
        #expect(lines.count == 6)
        let ordered = lines.filter { $0.contains("BGTASK_ID=\(id) ") }
        #expect(ordered.count == 3)
        #expect(ordered.allSatisfy { $0.contains("BGTASK_OWNER=5") })
        #expect(try games.ended(id).reason == "cancelled by user \(user.user)")
    }
}
