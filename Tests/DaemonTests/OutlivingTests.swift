import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// Commands that bgtask-executor runs go on while one daemon follows another.
@Suite(
    "Commands outlive the daemon",
    .enabled(if: ContainmentMode.whyNoCgroup == nil, "takes cgroups"))
struct OutlivingTests {
    private typealias Pair = OutlivingPair
    typealias Ending = OutlivingPair.Ending

    /// Has a script run that waits for a file first; it runs when this returns.
    private func submitGated(
        _ script: String, to daemon: DaemonProcess
    ) throws -> (id: Int, gate: String) {
        let gate = daemon.folder.path + "/gate"
        let client = try daemon.connect()
        let id = try client.submit(
            script: "until [ -e \(gate) ]; do sleep 0.05; done; \(script)")
        try eventually("it runs") { try client.show(id).state == .running }
        return (id, gate)
    }

    /// What says that it is there, and goes on.
    private static let forEver = "echo up; while :; do sleep 0.05; done"

    /// The process of a task, once its program runs.
    private func process(of id: Int, _ daemon: DaemonProcess) throws -> pid_t {
        try eventually("its program runs") { !daemon.taskProcesses(of: id).isEmpty }
        return try #require(daemon.taskProcesses(of: id).first)
    }

    /// What a file has in it, once that is so much.
    private func waitForText(_ wanted: String, in path: String) throws {
        try eventually("\(path) has \(wanted); it has \(Files.text(path))") {
            Files.text(path).contains(wanted)
        }
    }

    @Test("they go on, and end once, with what they have printed", arguments: Ending.allCases)
    func goOn(ending: Ending) throws {
        var pair = try Pair()
        let gate = pair.daemon.folder.path + "/gate"
        let client = try pair.daemon.connect()
        let script = "echo first; until [ -e \(gate) ]; do sleep 0.05; done; echo last; exit 3"
        let id = try client.submit(script: script)
        try pair.daemon.waitForOutput("first", of: id)
        let process = try self.process(of: id, pair.daemon)
        try pair.end(ending)
        #expect(kill(process, 0) == 0)
        try pair.follow()
        try pair.daemon.waitForLog("commands of an earlier daemon go on")
        let task = try pair.daemon.connect().show(id)
        #expect(task.state == .running && task.attempt == 1)
        try Files.write("", to: gate)
        let ended = try pair.daemon.connect().ended(id)
        #expect(ended.outcome == .failed && ended.exit?.status == 3)
        let text = try pair.daemon.text(of: id)
        // What a daemon had read that was killed is lost.
        #expect(ending == .killed ? text.hasSuffix("last\n") : text == "first\nlast\n")
    }

    @Test("what ends while there is no daemon is told by the next one", arguments: Ending.allCases)
    func endMeanwhile(ending: Ending) throws {
        var pair = try Pair()
        let (id, gate) = try submitGated("echo done; exit 0", to: pair.daemon)
        let process = try self.process(of: id, pair.daemon)
        try pair.end(ending)
        try Files.write("", to: gate)
        try eventually("it has ended") { kill(process, 0) != 0 }
        try pair.follow()
        #expect(try pair.daemon.connect().ended(id).outcome == .completed)
        #expect(try pair.daemon.text(of: id) == "done\n")
    }

    @Test("their handler and their limit come without a daemon too", arguments: Ending.allCases)
    func timesMeanwhile(ending: Ending) throws {
        // Where the machine was too slow for the daemon to be gone before the handler fires, once more with more time.
        for seconds in [3, 15, 75] where try isTimely(ending, seconds: seconds) { return }
        Issue.record("the machine is too slow")
    }

    /// - Returns: whether the handler had not fired before the daemon was gone.
    private func isTimely(_ ending: Ending, seconds: Int) throws -> Bool {
        var pair = try Pair()
        let folder = pair.daemon.folder.path
        let client = try pair.daemon.connect()
        let script = "trap 'echo warned >> \(folder)/warned' TERM; \(Self.forEver)"
        let id = try client.submit(script: script) {
            $0.budget = Tasks.Budget(ms: seconds * 1000 + 1500, grace: 1500)
            $0.expiration = Tasks.ExpirationHandler(
                signal: "SIGTERM", command: ["touch", folder + "/handler"])
        }
        try eventually("it is up, or over") {
            try pair.daemon.text(of: id).contains("up") || client.show(id).state == .ended
        }
        let process = pair.daemon.taskProcesses(of: id).first
        try pair.end(ending)
        guard let process, !Files.exists(folder + "/warned"), kill(process, 0) == 0 else {
            return false
        }
        try waitForText("warned", in: folder + "/warned")
        try eventually("the handler's command has run") { Files.exists(folder + "/handler") }
        try eventually("it was killed at its limit") { kill(process, 0) != 0 }
        try pair.follow()
        let task = try pair.daemon.connect().ended(id)
        #expect(task.outcome == .overrun)
        #expect(Files.text(folder + "/warned") == "warned\n")
        return true
    }

    @Test("a handler that has fired does not fire again under the next daemon")
    func onceOnly() throws {
        var pair = try Pair()
        let folder = pair.daemon.folder.path
        let client = try pair.daemon.connect()
        let script = """
            trap 'echo warned >> \(folder)/warned' TERM; echo up
            until [ -e \(folder)/gate ]; do sleep 0.05; done
            """
        let id = try client.submit(script: script) {
            $0.budget = Tasks.Budget(ms: 600_000, grace: 500_000)
        }
        try pair.daemon.waitForOutput("up", of: id)
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        try waitForText("warned", in: folder + "/warned")
        for ending in Ending.allCases {
            try pair.end(ending)
            try pair.follow()
            #expect(try pair.daemon.connect().show(id).state == .expiring)
        }
        try Files.write("", to: folder + "/gate")
        #expect(try pair.daemon.connect().ended(id).outcome == .expired)
        #expect(Files.text(folder + "/warned") == "warned\n")
    }

    @Test("the next daemon extends, warns, cancels and pauses what an earlier one has started")
    func orders() throws {
        var pair = try Pair()
        let folder = pair.daemon.folder.path
        let client = try pair.daemon.connect()
        let script = "trap 'echo $0 >> \(folder)/warned' TERM; \(Self.forEver)"
        let ids = try ["one", "two"].map { name in
            try client.submit(["sh", "-c", script, name]) {
                $0.budget = Tasks.Budget(ms: 60_000, grace: 3000)
            }
        }
        for id in ids { try pair.daemon.waitForOutput("up", of: id) }
        try pair.end(.killed)
        try pair.follow()
        let next = try pair.daemon.connect()
        let left = try next.ask(Tasks.Extend.self) { $0.id = ids[0] }.remaining
        #expect(left.hardMs ?? 0 > 50_000)
        _ = try next.ask(Tasks.SimulateExpiration.self) { $0.id = ids[0] }
        _ = try next.ask(Tasks.Cancel.self) { $0.id = ids[1] }
        #expect(try next.ended(ids[0]).outcome == .overrun)
        #expect(try next.ended(ids[1]).outcome == .cancelled)
        #expect(Set(Files.text(folder + "/warned").split(separator: "\n")) == ["one", "two"])
    }

    @Test("a cancel goes on over a daemon that is killed in its grace")
    func cancelMeanwhile() throws {
        var pair = try Pair()
        let client = try pair.daemon.connect()
        let id = try client.submit(script: "trap : TERM; echo up; while :; do sleep 0.05; done") {
            $0.budget = Tasks.Budget(ms: 600_000, grace: 3000)
        }
        try pair.daemon.waitForOutput("up", of: id)
        _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        try pair.end(.killed)
        try pair.follow()
        #expect(try pair.daemon.connect().ended(id).outcome == .cancelled)
    }

    @Test("what waits in a full pipe is read by the next daemon", arguments: Ending.allCases)
    func fullPipe(ending: Ending) throws {
        var pair = try Pair()
        let (id, gate) = try submitGated("seq 1 40000; echo end", to: pair.daemon)
        try pair.end(ending)
        try Files.write("", to: gate)
        try pair.follow()
        #expect(try pair.daemon.connect().ended(id).outcome == .completed)
        let text = try pair.daemon.text(of: id)
        #expect(text == (1...40000).map { "\($0)\n" }.joined() + "end\n")
    }

    @Test("an attempt that fails while there is no daemon is followed by the next one")
    func retry() throws {
        var pair = try Pair()
        let folder = pair.daemon.folder.path
        let client = try pair.daemon.connect()
        let script = """
            echo x >> \(folder)/attempts
            until [ -e \(folder)/gate ]; do sleep 0.05; done
            [ $BGTASK_ATTEMPT = 2 ]
            """
        let id = try client.submit(script: script) {
            $0.retry = Tasks.Retry(attempts: 3, delay: 1)
        }
        try waitForText("x", in: folder + "/attempts")
        let process = try self.process(of: id, pair.daemon)
        try pair.end(.killed)
        try Files.write("", to: folder + "/gate")
        try eventually("it has ended") { kill(process, 0) != 0 }
        try pair.follow()
        let task = try pair.daemon.connect().ended(id)
        #expect(task.outcome == .completed && task.attempt == 2)
        #expect(Files.text(folder + "/attempts") == "x\nx\n")
    }

    @Test("an executor that is killed takes its commands along, and the next one serves")
    func executorKilled() throws {
        let pair = try Pair()
        let client = try pair.daemon.connect()
        let ids = try (0..<3).map { _ in try client.submit(["sleep", "1000"]) }
        for id in ids {
            try eventually("it runs") { try client.show(id).state == .running }
        }
        try pair.executor.kill()
        try pair.daemon.waitForLog("the connection to bgtask-executor is lost")
        try pair.executor.start()
        for id in ids { #expect(try client.ended(id).outcome == .interrupted) }
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
    }

    @Test("an executor that is stopped ends its commands in their grace, and the end is told")
    func executorStopped() throws {
        let pair = try Pair()
        let client = try pair.daemon.connect()
        let id = try client.submit(script: "trap 'exit 7' TERM; \(Self.forEver)") {
            $0.budget = Tasks.Budget(ms: 600_000, grace: 60_000)
        }
        try pair.daemon.waitForOutput("up", of: id)
        let stubborn = try client.submit(script: "trap : TERM; \(Self.forEver)") {
            $0.budget = Tasks.Budget(ms: 600_000, grace: 1000)
        }
        try pair.daemon.waitForOutput("up", of: stubborn)
        #expect(try pair.executor.stop() == 0)
        try pair.executor.start()
        let task = try client.ended(id)
        #expect(task.exit?.status == 7 && task.outcome == .interrupted)
        #expect(task.reason == "bgtask-executor is stopping")
        #expect(try client.ended(stubborn).outcome == .interrupted)
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
    }

    @Test("commands of a daemon that does not come back have their grace, and the next one says so")
    func abandoned() throws {
        var pair = try Pair()
        try pair.daemon.rewrite(settings: "daemon.absenceMax = \"1s\"")
        #expect(
            try pair.daemon.connect().ask(Manager.Reload.self).changed == ["daemon.absenceMax"])
        let folder = pair.daemon.folder.path
        let client = try pair.daemon.connect()
        let script = "trap 'echo warned > \(folder)/warned; exit 0' TERM; \(Self.forEver)"
        let id = try client.submit(script: script) {
            $0.budget = Tasks.Budget(ms: 600_000, grace: 60_000)
        }
        try pair.daemon.waitForOutput("up", of: id)
        let process = try self.process(of: id, pair.daemon)
        try pair.end(.killed)
        try waitForText("warned", in: folder + "/warned")
        try eventually("it has ended") { kill(process, 0) != 0 }
        try pair.follow()
        let task = try pair.daemon.connect().ended(id)
        #expect(task.outcome == .interrupted)
        #expect(task.reason == "the daemon was away for longer than daemon.absenceMax")
    }

    @Test("what a command says to its socket while there is no daemon is heard by the next one")
    func notices() throws {
        var pair = try Pair()
        let script = "systemd-notify --status=meanwhile; while :; do sleep 0.05; done"
        let (id, gate) = try submitGated(script, to: pair.daemon)
        try pair.end(.killed)
        try Files.write("", to: gate)
        try pair.follow()
        let next = try pair.daemon.connect()
        try eventually("its status is known") { try next.show(id).status == "meanwhile" }
        _ = try next.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try next.ended(id).outcome == .cancelled)
    }

    @Test("an executor has commands of one state folder at a time")
    func otherFolder() throws {
        let pair = try Pair()
        let client = try pair.daemon.connect()
        let id = try client.submit(["sleep", "1000"])
        try eventually("it runs") { try client.show(id).state == .running }
        try pair.daemon.kill()
        let other = try DaemonProcess(.cgroup, arguments: pair.executor.arguments, waits: false)
        #expect(try other.child.waitForEnd() != .status(0))
        #expect(other.log.contains("it has commands of another state folder"))
    }

    @Test(
        "limits hold while the executor stands still, which tells the same when it goes on",
        arguments: [true, false])
    func limitWithoutExecutor(usesGroups: Bool) throws {
        let pair = try Pair(usesGroups: usesGroups)
        let client = try pair.daemon.connect()
        let id = try client.submit(script: Self.forEver) {
            $0.budget = Tasks.Budget(ms: 60_000, grace: 1000)
        }
        let other = try client.submit(script: Self.forEver) {
            $0.budget = Tasks.Budget(ms: 600_000, grace: 1000)
        }
        for id in [id, other] { try pair.daemon.waitForOutput("up", of: id) }
        let (process, spared) = try (
            self.process(of: id, pair.daemon), self.process(of: other, pair.daemon)
        )
        pair.executor.signal(SIGSTOP)
        defer { pair.executor.signal(SIGCONT) }
        try pair.daemon.waitForLog("was killed at its limit without bgtask-executor")
        try eventually("it is dead") { !Processes.isAlive(process) }
        #expect(Processes.isAlive(spared))
        pair.executor.signal(SIGCONT)
        let ended = try client.ended(id)
        #expect(ended.outcome == .overrun, "\(ended)")
        #expect(pair.daemon.log.matches(of: /was killed at its limit without/).count == 1)
        #expect(try client.show(other).state == .running)
    }

    @Test("a command that ends by itself while the executor stands still has ended by itself")
    func endWithoutExecutor() throws {
        let pair = try Pair()
        let client = try pair.daemon.connect()
        let gate = pair.daemon.folder.path + "/gate"
        let gated = "echo up; until [ -e \(gate) ]; do sleep 0.05; done; exit 7"
        let id = try client.submit(script: gated) {
            $0.budget = Tasks.Budget(ms: 60_000, grace: 1000)
        }
        // Its limit is later, and passes as well.
        let other = try client.submit(script: Self.forEver) {
            $0.budget = Tasks.Budget(ms: 61_000, grace: 1000)
        }
        for id in [id, other] { try pair.daemon.waitForOutput("up", of: id) }
        let process = try self.process(of: id, pair.daemon)
        pair.executor.signal(SIGSTOP)
        defer { pair.executor.signal(SIGCONT) }
        try Files.write("", to: gate)
        try eventually("it has ended") { !Processes.isAlive(process) }
        try pair.daemon.waitForLog("was killed at its limit without bgtask-executor")
        pair.executor.signal(SIGCONT)
        let ended = try client.ended(id)
        #expect(ended.outcome == .failed && ended.exit?.status == 7, "\(ended)")
        #expect(try client.ended(other).outcome == .overrun)
        #expect(pair.daemon.log.matches(of: /was killed at its limit without/).count == 1)
    }

    @Test("an executor that stands still with nothing to run is killed, and the next one serves")
    func uselessExecutor() throws {
        let pair = try Pair()
        let client = try pair.daemon.connect()
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
        pair.executor.signal(SIGSTOP)
        // It is not answered.
        let id = try client.submit(["sleep", "1000"])
        try eventually("it is killed", seconds: 120) {
            pair.daemon.log.contains("bgtask-executor stands still, and was killed")
        }
        #expect(try pair.executor.waitForEnd() == SIGKILL)
        try pair.executor.start()
        do throws(ClientError) {
            _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        } catch {
            // It may be known by now that the killed one has interrupted it.
            guard case .remote(let refusal) = error, refusal.name == Tasks.AlreadyEnded.name else {
                throw error
            }
        }
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
    }

    @Test("an executor that stands still is told of, and who waits for it waits no longer")
    func silence() throws {
        let pair = try Pair()
        let client = try pair.daemon.connect()
        let id = try client.submit(script: Self.forEver) {
            $0.budget = Tasks.Budget(ms: 60_000, grace: 3000)
        }
        try pair.daemon.waitForOutput("up", of: id)
        pair.executor.signal(SIGSTOP)
        defer { pair.executor.signal(SIGCONT) }
        let refusal = try client.refusal(of: Tasks.Extend.self) { $0.id = id }
        #expect(refusal.name == Tasks.NotAccepting.name)
        let status = try client.ask(Manager.Describe.self).executor
        #expect(status?.contains("does not answer") == true)
        pair.executor.signal(SIGCONT)
        try pair.daemon.waitForLog("bgtask-executor answers again")
        _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try client.ended(id).outcome == .cancelled)
    }
}
