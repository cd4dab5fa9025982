import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("Slots, lists and explanations")
struct QueueTests {
    @Test(
        "at most as many run as there are slots, and who came first starts first",
        arguments: ContainmentMode.available)
    func firstComeFirstServed(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: "queue.slots = 2")
        let client = try daemon.connect()
        let script =
            "echo $BGTASK_NAME >> order; while ! [ -e go-$BGTASK_NAME ]; do sleep 0.05; done"
        let ids = try (1...6).map { number in
            try client.submit(script: script) {
                $0.name = "\(number)"
                $0.directory = daemon.folder.path
            }
        }
        func order() -> String { Files.text(daemon.folder.path + "/order") }
        try eventually("two run") { order().utf8.count == 4 }
        #expect(Set(order().split(separator: "\n")) == ["1", "2"])
        #expect(try client.show(ids[2]).state == .queued)
        #expect(try client.show(ids[2]).waiting == "slots")
        #expect(try client.show(ids[0]).waiting == nil)
        for (ended, next) in [("2", "3"), ("1", "4"), ("4", "5"), ("3", "6")] {
            try Files.write("", to: "\(daemon.folder.path)/go-\(ended)")
            try eventually("\(next) starts") { order().hasSuffix("\(next)\n") }
        }
        #expect(order().split(separator: "\n").dropFirst(2) == ["3", "4", "5", "6"])
        for name in ["5", "6"] { try Files.write("", to: "\(daemon.folder.path)/go-\(name)") }
        for id in ids { #expect(try client.ended(id).outcome == .completed) }
    }

    @Test("a slot that a closed connection makes free is taken at once")
    func startsAfterAbandonment() throws {
        // Without the entry about old tasks, whose timer would start it later.
        let daemon = try DaemonProcess(
            .supervisor, settings: "limits.tasksPerOwnerMax = 1\nbudget.warnAfter = \"infinity\"")
        let client = try daemon.connect()
        var holder: VarlinkClient? = try daemon.connect()
        _ = try holder?.begin()
        let id = try client.submit(["true"])
        let task = try client.show(id)
        #expect(task.state == .queued)
        #expect(task.waiting == "tasksPerOwnerMax")
        try client.send(
            Tasks.Wait.self,
            with {
                $0.id = id; $0.timeoutMs = 30_000
            })
        holder = nil
        #expect(try client.receive(Tasks.Wait.self).output.task?.outcome == .completed)
    }

    @Test("limits are refused with their name and value")
    func limits() throws {
        let daemon = try DaemonProcess(
            .supervisor,
            settings: """
                limits.tasksPerOwnerMax = 2
                limits.queueDepthPerOwnerMax = 1
                """)
        let client = try daemon.connect()
        _ = try (0..<2).map { _ in try client.begin() }
        let begin = try client.refusal(of: Tasks.Begin.self) { $0.name = "third" }
        #expect(begin == .limitReached("tasksPerOwnerMax", 2))
        _ = try client.submit(["true"])
        let submit = try client.refusal(of: Tasks.Submit.self) {
            $0.work.name = "second"
            $0.work.command = ["true"]
        }
        #expect(submit == .limitReached("queueDepthPerOwnerMax", 1))
        let name = try client.refusal(of: Tasks.Begin.self) {
            $0.name = String(repeating: "n", count: 256)
        }
        #expect(name == .limitReached("nameBytesMax", 255))
    }

    @Test("connections over the limit are closed, with the limit in the log")
    func clientLimits() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "limits.clientsPerOwnerMax = 3")
        var clients: [VarlinkClient] = []
        // The connection that saw the daemon serve is closed, and the daemon may not know yet.
        try eventually("three are let in") {
            let client = try daemon.connect()
            if (try? client.ask(SystemdService.Ping.self)) != nil { clients.append(client) }
            return clients.count == 3
        }
        #expect(throws: ClientError.disconnected) {
            try daemon.connect().ask(SystemdService.Ping.self)
        }
        try daemon.waitForLog("clientsPerOwnerMax")
        clients.removeLast()
        try eventually("there is room again") {
            (try? daemon.connect().ask(SystemdService.Ping.self)) != nil
        }
    }

    @Test("a list has what its filters let through, with and without more")
    func list() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let good = try client.submit(["true"]) { $0.name = "a" }
        let bad = try client.submit(["false"]) { $0.name = "b" }
        _ = try client.ended(bad)
        let running = try client.submit(["sleep", "1000"]) { $0.name = "a" }
        let queued = try client.submit(["true"]) { $0.application = "org.example.app" }
        let held = try client.begin("a")
        func ids(_ fill: (inout Tasks.List.Input) -> Void) throws -> [Int]? {
            var input = Tasks.List.Input()
            fill(&input)
            let answer = try client.ask(Tasks.List.self) { $0 = input }
            #expect(answer.truncated != true)
            #expect(answer.task == nil)
            var streamed: [Int] = []
            try client.callMore(Tasks.List.self, input) { reply in
                if let task = reply.task { streamed.append(task.id) }
                return true
            }
            #expect(answer.tasks?.map(\.id) == streamed)
            return streamed
        }
        #expect(try ids { _ in } == [running, queued, held])
        #expect(try ids { $0.ended = true } == [good, bad, running, queued, held])
        #expect(try ids { $0.states = [.queued] } == [queued])
        #expect(try ids { $0.states = [.running, .ended] } == [good, bad, running, held])
        #expect(try ids { $0.name = "a" } == [running, held])
        #expect(
            try ids {
                $0.name = "a"; $0.ended = true
            } == [good, running, held])
        #expect(try ids { $0.application = "org.example.app" } == [queued])
        #expect(try ids { $0.outcomes = [.failed] } == [bad])
        #expect(
            try ids {
                $0.outcomes = [.failed, .completed]; $0.name = "a"
            } == [good])
        #expect(
            try ids {
                $0.sinceMs = 3_600_000; $0.outcomes = [.completed]
            } == [good])
        #expect(
            try ids {
                $0.sinceMs = 100 * 366 * 86_400_000; $0.states = [.ended]
            } == [good, bad])
        #expect(try ids { $0.group = "none" } == [])
        let refusal = try client.refusal(of: Tasks.List.self) { $0.sinceMs = -1 }
        #expect(refusal.refuses("sinceMs"))
    }

    @Test("1,500 tasks are listed by a thousand, or one a reply")
    func longList() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "limits.tasksPerOwnerMax = 1500")
        let client = try daemon.connect()
        for number in 0..<1500 {
            try client.send(Tasks.Begin.self, with { $0.name = "\(number)" })
        }
        for _ in 0..<1500 { _ = try client.receive(Tasks.Begin.self) }
        let answer = try client.ask(Tasks.List.self)
        #expect(answer.tasks?.count == 1000)
        #expect(answer.truncated == true)
        var names: [String] = []
        try client.callMore(Tasks.List.self, Tasks.List.Input()) { reply in
            if let task = reply.task { names.append(task.name) }
            return true
        }
        #expect(names == (0..<1500).map(String.init))
    }

    @Test("explanations name the rule and its number", arguments: ContainmentMode.available)
    func explain(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: "queue.slots = 1")
        let client = try daemon.connect()
        func explanation(_ id: Int) throws -> Tasks.Explanation {
            let found = try client.ask(Tasks.Explain.self) { $0.id = id }.explanations
            return try #require(found.first)
        }
        let budget = Tasks.Budget(ms: 100_000, grace: 1000)
        let running = try client.submit(["sleep", "1000"]) { $0.budget = budget }
        let queued = try client.submit(["false"])
        let limit = try explanation(running)
        #expect(limit.rule == "budget")
        #expect(limit.value == 100_000)
        #expect((1...99_000).contains(try #require(limit.earliestChangeMs)))
        let waiting = try explanation(queued)
        #expect(waiting.rule == "slots")
        #expect(waiting.value == 1)
        #expect((1...100_000).contains(try #require(waiting.earliestChangeMs)))
        _ = try client.ask(Tasks.Cancel.self) { $0.id = running }
        _ = try client.ended(queued)
        #expect(try explanation(running).rule == "cancel")
        #expect(try explanation(queued).rule == "exit")
        #expect(try explanation(queued).text == "its command exited with status 1")
    }

    @Test("limits, whose part is not built, are refused by their name")
    func unbuilt() throws {
        let daemon = try DaemonProcess(.supervisor)
        let refusal = try daemon.connect().refusal(of: Tasks.Submit.self) {
            $0.work.name = "test"
            $0.work.command = ["true"]
            $0.work.limits = Tasks.Limits()
        }
        #expect(refusal.refuses("work.limits"))
    }

    @Test("a launch is simulated: no time, no condition and no pause holds the task back any more")
    func simulatedLaunch() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(["true"]) {
            $0.earliestBeginMs = 3_600_000
            $0.conditions = [.idle, .externalPower]
            $0.paused = true
        }
        #expect(try client.show(id).state == .queued)
        _ = try client.ask(Tasks.SimulateLaunch.self) { $0.id = id }
        #expect(try client.ended(id).outcome == .completed)
        let late = try client.refusal(of: Tasks.SimulateLaunch.self) { $0.id = id }
        #expect(late.name == Tasks.AlreadyEnded.name)
    }
}

extension RemoteError {
    static func limitReached(_ limit: String, _ value: Int) -> RemoteError {
        RemoteError(
            name: Tasks.LimitReached.name,
            parameters: .object([("limit", .string(limit)), ("value", .integer(value))]))
    }
}
