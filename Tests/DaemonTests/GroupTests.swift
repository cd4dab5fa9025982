import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("Groups of the queue")
struct GroupTests {
    private static let settings = "queue.slots = 3\nqueue.groups.one.slots = 1"

    private static func submit(
        _ name: String, _ group: String?, _ daemon: DaemonProcess, _ client: VarlinkClient
    ) throws -> Int {
        try client.submit(script: daemon.waits(for: name)) {
            $0.name = name
            $0.group = group
        }
    }

    @Test(
        "23: a task takes a slot of its group and one of the daemon, and whoever fits starts",
        arguments: ContainmentMode.available)
    func slots(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        let (a1, a2) = (
            try Self.submit("a1", "one", daemon, client),
            try Self.submit("a2", "one", daemon, client)
        )
        let free = try ["b1", "b2", "b3"].map { try Self.submit($0, nil, daemon, client) }
        for id in [a1, free[0], free[1]] { try client.waitForBegin(of: id) }
        #expect(try client.show(a2).waiting == "groupSlots")
        #expect(try client.show(free[2]).waiting == "slots")
        let found = try client.explanations(a2)
        #expect(found.map(\.rule) == ["groupSlots", "slots"])
        #expect(found.map(\.value) == [1, 3])
        #expect(found.first?.text == "all slots of group one are taken")
        let counts = try client.group("one")
        #expect([counts.slots, counts.running, counts.queued] == [1, 1, 1])
        let members = try client.ask(Tasks.List.self) { $0.group = "one" }.tasks
        #expect(members?.map(\.id) == [a1, a2])
        #expect(members?.map(\.group) == ["one", "one"])

        // The first one's slot of the group is taken still.
        try daemon.letGo("b1")
        try client.waitForBegin(of: free[2])
        #expect(try client.show(a2).state == .queued)
        try daemon.letGo("a1")
        try client.waitForBegin(of: a2)
        for name in ["a2", "b2", "b3"] { try daemon.letGo(name) }
        for id in [a1, a2] + free { #expect(try client.ended(id).outcome == .completed) }
        let rest = try client.group("one")
        #expect([rest.running, rest.queued] == [0, 0])
    }

    @Test("a pause holds back what is queued and not what runs, also in the next daemon")
    func pause() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        let running = try Self.submit("runs", "one", daemon, client)
        try client.waitForBegin(of: running)
        try client.pause("one")
        try client.pause("one")
        #expect(try client.group("one").paused)
        #expect(try client.show(running).state == .running)
        let queued = try client.submit(["true"]) { $0.group = "one" }
        let other = try client.submit(["true"])
        #expect(try client.ended(other).outcome == .completed)
        #expect(try client.show(queued).waiting == "paused")
        #expect(try client.explanation(queued).text == "group one is paused")
        try daemon.letGo("runs")
        #expect(try client.ended(running).outcome == .completed)
        #expect(try client.explanations(queued).map(\.rule) == ["paused"])
        try daemon.waitForLog("BGTASK_GROUP=one")

        let second = try daemon.successor(Self.settings, crashes: true)
        #expect(try second.connect().group("one").paused)
        let third = try second.successor(Self.settings, crashes: false)
        let last = try third.connect()
        #expect(try last.group("one").paused)
        #expect(try last.ended(last.submit(["true"])).outcome == .completed)
        #expect(try last.show(queued).waiting == "paused")
        try last.resume("one")
        #expect(try last.ended(queued).outcome == .completed)
        #expect(try !last.group("one").paused)
        let fourth = try third.successor(Self.settings, crashes: true)
        #expect(try !fourth.connect().group("one").paused)
    }

    @Test("a group that the settings do not have is refused by its name")
    func unknown() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        func name(in refusal: RemoteError) throws -> String {
            #expect(refusal.name == Tasks.NoSuchGroup.name)
            return try refusal.decode(Tasks.NoSuchGroup.self).group
        }
        let pause = try client.refusal(of: Tasks.PauseGroup.self) { $0.group = "two" }
        #expect(try name(in: pause) == "two")
        let resume = try client.refusal(of: Tasks.ResumeGroup.self) { $0.group = "two" }
        #expect(try name(in: resume) == "two")
        let submit = try client.refusal(of: Tasks.Submit.self) {
            $0.work.name = "test"
            $0.work.command = ["true"]
            $0.work.group = "two"
        }
        #expect(try name(in: submit) == "two")
        #expect(try client.ask(Tasks.Groups.self).groups.map(\.name) == ["one"])
    }

    @Test(
        "groups are paused by operators, and seen by everybody with the counts of their own tasks",
        .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
    func operators() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: DaemonProcess.staffOperates + Self.settings)
        let games = try daemon.connect(as: .games)
        let pause = try games.refusal(of: Tasks.PauseGroup.self) { $0.group = "one" }
        #expect(ServiceError(pause) == .permissionDenied)
        let held = try games.submit(["sleep", "1000"]) { $0.group = "one" }
        try games.waitForBegin(of: held)
        let staff = try daemon.connect(as: .staff)
        try staff.pause("one")
        let queued = try games.submit(["true"]) { $0.group = "one" }
        #expect(try games.show(queued).waiting == "paused")
        let resume = try games.refusal(of: Tasks.ResumeGroup.self) { $0.group = "one" }
        #expect(ServiceError(resume) == .permissionDenied)
        for (user, count) in [(TestUser.games, 1), (.staff, 1), (.backup, 0)] {
            let seen = try daemon.connect(as: user).group("one")
            #expect([seen.running, seen.queued] == [count, count], "\(user)")
            #expect(seen.paused)
        }
        try daemon.connect().resume("one")
        _ = try games.ask(Tasks.Cancel.self) { $0.id = held }
        #expect(try games.ended(queued).outcome == .completed)
    }

    @Test("more slots of a group or of the daemon start what fits at once")
    func moreSlots() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        let ids = try ["1", "2", "3", "4"].map { try Self.submit($0, "one", daemon, client) }
        try client.waitForBegin(of: ids[0])
        #expect(try client.explanations(ids[1]).map(\.rule) == ["groupSlots"])
        try daemon.rewrite(settings: "queue.slots = 3\nqueue.groups.one.slots = 5")
        let changed = try client.ask(Manager.Reload.self)
        #expect(changed.changed == ["queue.groups.one.slots"])
        for id in ids[..<3] { try client.waitForBegin(of: id) }
        #expect(try client.explanations(ids[3]).map(\.rule) == ["slots"])
        #expect(try client.group("one").slots == 5)
        try daemon.rewrite(settings: "queue.slots = 4\nqueue.groups.one.slots = 5")
        _ = try client.ask(Manager.Reload.self)
        try client.waitForBegin(of: ids[3])

        // Fewer stop nobody.
        try daemon.rewrite(settings: "queue.slots = 5\nqueue.groups.one.slots = 1")
        _ = try client.ask(Manager.Reload.self)
        let late = try Self.submit("late", "one", daemon, client)
        #expect(try client.show(late).waiting == "groupSlots")
        for name in ["1", "2", "3"] { try daemon.letGo(name) }
        for id in ids[..<3] { #expect(try client.ended(id).outcome == .completed) }
        #expect(try client.show(ids[3]).state == .running)
        #expect(try client.show(late).waiting == "groupSlots")
        try daemon.letGo("4")
        try client.waitForBegin(of: late)
    }

    @Test("a group that the settings have no more limits nobody, and takes nobody in")
    func removed() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        let running = try Self.submit("runs", "one", daemon, client)
        try client.waitForBegin(of: running)
        let queued = try Self.submit("waits", "one", daemon, client)
        #expect(try client.explanations(queued).map(\.rule) == ["groupSlots"])
        try daemon.rewrite(settings: "queue.slots = 3")
        _ = try client.ask(Manager.Reload.self)
        try client.waitForBegin(of: queued)
        #expect(try client.ask(Tasks.Groups.self).groups.isEmpty)
        let refusal = try client.refusal(of: Tasks.PauseGroup.self) { $0.group = "one" }
        #expect(refusal.name == Tasks.NoSuchGroup.name)
        for name in ["runs", "waits"] { try daemon.letGo(name) }
        for id in [running, queued] {
            let task = try client.ended(id)
            #expect(task.outcome == .completed)
            #expect(task.group == "one")
        }
    }

    @Test("a pause holds on where the settings have the group no more, and can be ended")
    func removedWhilePaused() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        try client.pause("one")
        let queued = try client.submit(["true"]) { $0.group = "one" }
        try daemon.rewrite(settings: "queue.slots = 3")
        _ = try client.ask(Manager.Reload.self)
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
        #expect(try client.explanations(queued).map(\.rule) == ["paused"])
        let next = try daemon.successor("queue.slots = 3", crashes: true)
        let other = try next.connect()
        #expect(try other.show(queued).waiting == "paused")
        try other.resume("one")
        #expect(try other.ended(queued).outcome == .completed)
    }
}
