import Glibc
import TaskAPI
import Testing
import Varlink

@Suite(
    "No user holds up another in the queue",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct ShareTests {
    private static let alice = TestUser.games
    private static let bob = TestUser.backup

    /// One of each that runs until it is stopped, and says so.
    private static func fill(_ count: Int, _ name: String, on client: VarlinkClient) throws -> [Int]
    {
        try (0..<count).map { _ in
            try client.submit(["sleep", "1000"]) { if !name.isEmpty { $0.application = name } }
        }
    }

    /// How a task ends; `nil` where it does not in a time in which it could.
    private static func outcome(of id: Int, on client: VarlinkClient) throws -> Tasks.Outcome? {
        try client.ask(Tasks.Wait.self) {
            $0.id = id
            $0.timeoutMs = 20_000
        }.task?.outcome
    }

    private static func states(_ ids: [Int], on client: VarlinkClient) throws -> [Tasks.State] {
        try ids.map { try client.show($0).state }
    }

    @Test(
        "a user's long commands leave a slot to others, and explain names the share",
        arguments: ContainmentMode.available)
    func longCommands(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let alice = try daemon.connect(as: Self.alice)
        let bob = try daemon.connect(as: Self.bob)
        let ids = try Self.fill(6, "", on: alice)
        #expect(try Self.outcome(of: try bob.submit(["true"]), on: bob) == .completed)
        let expected: [Tasks.State] = [.running, .running, .running, .queued, .queued, .queued]
        #expect(try Self.states(ids, on: alice) == expected)
        let hold = try alice.explanation(ids[3])
        #expect(hold.rule == "slotsPerOwnerMax" && hold.value == 3)
        #expect(try alice.show(ids[3]).waiting == "slotsPerOwnerMax")
    }

    @Test(
        "commands of an application in front take no slot of others, and no more than a share runs",
        arguments: ContainmentMode.available)
    func dormantCommands(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let alice = try daemon.connect(as: Self.alice)
        try alice.launch("front")
        let ids = try Self.fill(6, "front", on: alice)
        try eventually("three are dormant") {
            try Self.states(ids, on: alice).count { $0 == .dormant } == 3
        }
        // All four slots are there for others, at the same time.
        let bobs = try daemon.connect(as: Self.bob)
        let root = try daemon.connect()
        let long = try Self.fill(3, "", on: bobs)
        for id in long { try bobs.waitForBegin(of: id) }
        #expect(try Self.outcome(of: try root.submit(["true"]), on: root) == .completed)
        #expect(try Self.states(ids, on: alice).count { $0 == .dormant } == 3)
        #expect(daemon.taskProcesses(of: ids[3]) == [])
        // Away from the front they count again, and nothing of them is stopped for it.
        try alice.order(Applications.EnterBackground.self, "front")
        #expect(try Self.states(ids, on: alice).count { $0 == .running } == 3)
        let late = try root.submit(["true"])
        #expect(try root.show(late).waiting == "slots")
    }

    @Test(
        "a background mode is for root and for whom the settings name, and so is having no limit",
        arguments: ContainmentMode.available)
    func backgroundMode(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let alice = try daemon.connect(as: Self.alice)
        let refusal = try alice.refusal(of: Applications.Register.self) {
            $0.registration.id = "player"
            $0.registration.command = ["sleep", "1000"]
            $0.registration.backgroundMode = true
        }
        #expect(ServiceError(refusal) == .permissionDenied)
        try alice.register("player")
        let submission = try alice.refusal(of: Tasks.Submit.self) {
            $0.work.name = "endless"
            $0.work.command = ["sleep", "1000"]
            $0.work.application = "player"
            $0.work.profile = "unlimited"
        }
        #expect(ServiceError(submission) == .permissionDenied)
        let root = try daemon.connect()
        try root.register("player") { $0.backgroundMode = true }
        let id = try root.submit(["sleep", "1000"]) { $0.profile = "unlimited" }
        try root.waitForBegin(of: id)
    }
}
