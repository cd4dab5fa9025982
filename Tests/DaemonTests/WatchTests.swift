import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("Watching and waiting")
struct WatchTests {
    /// Takes events until one is as wanted.
    private func events(
        of client: VarlinkClient, until isLast: (Tasks.Event) -> Bool
    ) throws -> [Tasks.Event] {
        var events: [Tasks.Event] = []
        while true {
            let (output, continues) = try client.receive(Tasks.Watch.self)
            events.append(output.event)
            if isLast(output.event) || !continues { return events }
        }
    }

    @Test("one connection tells of all that a process holds over others, and of nothing else")
    func held() throws {
        let daemon = try DaemonProcess(.supervisor)
        let watcher = try daemon.connect()
        try watcher.send(Tasks.Watch.self, with { $0.held = true }, more: true)
        let calls = try daemon.connect()
        let other = try Child("/bin/sleep", ["1000"])
        defer { other.signal(SIGKILL) }
        _ = try calls.begin("of another process") { $0.pid = Int(other.processID) }
        _ = try calls.ended(calls.submit(["true"]))
        let ids = try (0..<100).map { _ in try calls.begin() }
        for id in ids { _ = try calls.ask(Tasks.SimulateExpiration.self) { $0.id = id } }
        for id in ids { _ = try calls.ask(Tasks.End.self) { $0.id = id } }
        let told = try events(of: watcher) { $0.kind == .ended && $0.task.id == ids.last }
        #expect(told.count { $0.kind == .expiring } == 100)
        #expect(Set(told.map(\.task.id)) == Set(ids))
        #expect(told.allSatisfy { $0.task.pid ?? Int(getpid()) == Int(getpid()) })
        #expect(told.map(\.number) == Array(1...told.count))
    }

    @Test("a watch of an application has that application's tasks alone")
    func ofApplication() throws {
        let daemon = try DaemonProcess(.supervisor)
        let watcher = try daemon.connect()
        try watcher.send(Tasks.Watch.self, with { $0.application = "maps" }, more: true)
        let client = try daemon.connect()
        _ = try client.begin("none")
        _ = try client.begin("other") { $0.application = "mail" }
        let own = try client.begin("own") { $0.application = "maps" }
        let run = try client.submit(["true"]) { $0.application = "maps" }
        let told = try events(of: watcher) { $0.kind == .ended && $0.task.id == run }
        #expect(Set(told.map(\.task.id)) == [own, run])
        for fill in [{ $0.application = "maps" }, { $0.held = true }]
            as [(inout Tasks.Watch.Input) -> Void]
        {
            let both = try daemon.connect()
            try both.send(
                Tasks.Watch.self,
                with {
                    $0.id = own
                    fill(&$0)
                }, more: true)
            #expect(throws: ClientError.self) { try both.receive(Tasks.Watch.self) }
        }
    }

    @Test(
        "a watch of one task begins with its state and ends with its end",
        arguments: ContainmentMode.available)
    func one(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let watcher = try daemon.connect()
        let id = try client.submit(
            script:
                "trap 'echo bye; exit 3' TERM; exec 2>/dev/null; echo ready; while :; do sleep 0.1; done"
        ) { $0.budget = Tasks.Budget(ms: 200_000, grace: 100_000) }
        try daemon.waitForOutput("ready", of: id)
        try watcher.send(
            Tasks.Watch.self,
            with {
                $0.id = id
                $0.output = true
            }, more: true)
        let present = try watcher.receive(Tasks.Watch.self)
        #expect(present.continues)
        #expect(present.output.event.kind == .present)
        #expect(present.output.event.task.state == .running)
        #expect(present.output.event.task.pid != nil)
        _ = try client.ask(Tasks.Extend.self) { $0.id = id }
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        let all = try events(of: watcher) { $0.kind == .ended }
        #expect(all.map(\.number) == Array(2..<2 + all.count))
        // A shell may say beside that its `sleep` was terminated.
        let rest = all.filter { $0.kind != .output || $0.text == "bye" }
        try #require(rest.map(\.kind) == [.extended, .expiring, .output, .ended])
        #expect(rest[1].reason == "an expiration was simulated")
        #expect(rest[2].text == "bye")
        #expect(rest[2].stream == "stdout")
        #expect(rest[3].task.outcome == .expired)
        #expect(rest[3].task.exit?.status == 3)
        #expect(watcher.callsWaiting == 0)

        try watcher.send(Tasks.Watch.self, with { $0.id = id }, more: true)
        let over = try watcher.receive(Tasks.Watch.self)
        #expect(!over.continues)
        #expect(over.output.event.task.outcome == .expired)
    }

    @Test(
        "a watch of all tells each begin and end, from the next event on",
        arguments: ContainmentMode.available)
    func all(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: "queue.slots = 1")
        let client = try daemon.connect()
        _ = try client.ended(try client.submit(["true"]))
        let watcher = try daemon.connect()
        try watcher.send(Tasks.Watch.self, with { $0.output = true }, more: true)
        // Its watch has begun when a call after it on another connection is answered, at the latest
        // when the first event comes; a task that begins in between would be seen or not.
        try eventually("the watch has begun") { try Self.isWatching(daemon, client, watcher) }
        let run = try client.submit(["sh", "-c", "echo out; echo err >&2; exit 4"])
        let held = try client.begin()
        _ = try client.ask(Tasks.End.self) { $0.id = held }
        let queued = try client.submit(["true"])
        _ = try client.ended(queued)
        let seen = try events(of: watcher) { $0.kind == .ended && $0.task.id == queued }
        func kinds(_ id: Int) -> [Tasks.EventKind] {
            seen.filter { $0.task.id == id }.map(\.kind)
        }
        #expect(kinds(run).filter { $0 != .output } == [.queued, .began, .ended])
        #expect(kinds(run).last == .ended)
        #expect(kinds(run).count { $0 == .output } == 2)
        #expect(kinds(queued) == [.queued, .began, .ended])
        #expect(kinds(held) == [.began, .ended])
        let numbers = seen.map(\.number)
        #expect(numbers == Array((numbers.first ?? 0)..<(numbers.first ?? 0) + numbers.count))
    }

    @Test(
        "what a task prints is told after its begin",
        arguments: ContainmentMode.available)
    func outputAfterBegin(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: "queue.slots = 8")
        let client = try daemon.connect()
        let watcher = try daemon.connect()
        try watcher.send(Tasks.Watch.self, with { $0.output = true }, more: true)
        try eventually("the watch has begun") { try Self.isWatching(daemon, client, watcher) }
        let ids = try (0..<60).map { _ in try client.submit(["echo", "quick"]) }
        for id in ids { _ = try client.ended(id) }
        let last = try client.begin("last")
        let seen = try events(of: watcher) { $0.task.id == last }
        for id in ids {
            let kinds = seen.filter { $0.task.id == id }.map(\.kind)
            #expect(kinds == [.queued, .began, .output, .ended])
        }
    }

    /// Makes an event and looks whether the watcher gets it.
    private static func isWatching(
        _ daemon: DaemonProcess, _ client: VarlinkClient, _ watcher: VarlinkClient
    ) throws -> Bool {
        let probe = try client.begin("probe")
        _ = try client.ask(Tasks.End.self) { $0.id = probe }
        var found = false
        while let (output, _) = try watcher.receiveIfReady(Tasks.Watch.self) {
            if output.event.task.id == probe, output.event.kind == .ended { found = true }
        }
        return found
    }

    @Test("a watch needs more, and a task that is there")
    func refusals() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let refusal = try client.refusal(of: Tasks.Watch.self)
        #expect(ServiceError(refusal) == .expectedMore)
        try client.send(Tasks.Watch.self, with { $0.id = 12 }, more: true)
        #expect(throws: ClientError.remote(.noSuchTask(12))) {
            try client.receive(Tasks.Watch.self)
        }
        try client.ask(SystemdService.Ping.self)
    }

    @Test(
        "a wait answers at the end, at once after it, and without a task when its time is over",
        arguments: ContainmentMode.available)
    func wait(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(script: "while ! [ -e go ]; do sleep 0.05; done") {
            $0.directory = daemon.folder.path
        }
        #expect(
            try client.ask(Tasks.Wait.self) {
                $0.id = id; $0.timeoutMs = 0
            }.task == nil)
        #expect(
            try client.ask(Tasks.Wait.self) {
                $0.id = id; $0.timeoutMs = 50
            }.task == nil)
        let waiters = try (0..<5).map { _ in try daemon.connect() }
        for waiter in waiters {
            try waiter.send(
                Tasks.Wait.self,
                with {
                    $0.id = id; $0.timeoutMs = 60_000
                })
        }
        try client.send(
            Tasks.Wait.self,
            with {
                $0.id = id; $0.timeoutMs = 100 * 366 * 86_400_000
            })
        try Files.write("", to: daemon.folder.path + "/go")
        for waiter in waiters + [client] {
            let task = try waiter.receive(Tasks.Wait.self).output.task
            #expect(task?.outcome == .completed)
        }
        #expect(try client.ended(id).outcome == .completed)
        #expect(try client.refusal(of: Tasks.Wait.self) { $0.id = 77 } == .noSuchTask(77))
        let negative = try client.refusal(of: Tasks.Wait.self) {
            $0.id = id; $0.timeoutMs = -1
        }
        #expect(negative.refuses("timeoutMs"))
    }
}

extension RemoteError {
    static func noSuchTask(_ id: Int) -> RemoteError {
        RemoteError(name: Tasks.NoSuchTask.name, parameters: .object([("id", .integer(id))]))
    }
}
