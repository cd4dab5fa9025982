import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

@Suite("The output of ended tasks over a restart")
struct KeptOutputTests {
    /// Why nothing is answered; `nil` where something is.
    private func refusal(_ id: Int, of daemon: DaemonProcess) throws -> RemoteError? {
        do {
            _ = try daemon.output(of: id)
            return nil
        } catch ClientError.remote(let error) {
            return error
        }
    }

    /// Whether the output was lost with the daemon; `nil` where something is answered.
    private func isLost(_ id: Int, of daemon: DaemonProcess) throws -> Bool? {
        guard let refusal = try refusal(id, of: daemon) else { return nil }
        #expect(refusal.name == Tasks.OutputGone.name)
        let gone = try refusal.decode(Tasks.OutputGone.self)
        #expect(gone.id == id)
        return gone.lostWithDaemon
    }

    /// Waits until the disk has the output of all that have ended: it is written before the next ends are.
    private func waitForDisk(_ client: VarlinkClient) throws {
        for _ in 0..<2 { _ = try client.ended(client.submit(["true"])) }
    }

    @Test(
        "is there, of both streams and in pieces, also of what the stop ended",
        .timeLimit(.minutes(5)))
    func restart() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let short = try client.submit(script: "echo out; echo err >&2; echo more")
        let long = try client.submit(["seq", "1", "60000"])
        let silent = try client.submit(["true"])
        for id in [short, long, silent] { _ = try client.ended(id) }
        let running = try client.submit(script: "echo begun; exec sleep 1000")
        let cancelled = try client.submit(["echo", "never"])
        _ = try client.ask(Tasks.Cancel.self) { $0.id = cancelled }
        try daemon.waitForOutput("begun", of: running)
        let before = try daemon.output(of: long)
        #expect(try daemon.stop() == .status(0))

        let next = try DaemonProcess(.supervisor, in: daemon.folder)
        #expect(try next.text(of: short) == "out\nmore\n")
        #expect(try next.text(of: short, stream: "stderr") == "err\n")
        let after = try next.output(of: long)
        #expect(after.map(\.text).joined() == before.map(\.text).joined())
        #expect(after.allSatisfy { $0.dropped == nil })
        #expect(after.last?.next == before.last?.next)
        for id in [silent, cancelled] { #expect(try next.text(of: id) == "") }
        #expect(try next.text(of: running) == "begun\n")
        #expect(try next.connect().show(running).outcome == .interrupted)
    }

    @Test(
        "of a time ago is passed over, by this daemon and by later ones", arguments: [false, true])
    func since(isRestarted: Bool) throws {
        let earlier = try DaemonProcess(.supervisor)
        let id = try earlier.connect().submit(
            script: "echo first; \(earlier.waits(for: "on")); echo second; exec sleep 1000")
        try earlier.waitForOutput("first", of: id)
        // What is printed within two seconds may be told as one.
        let start = ContinuousClock.now
        func passed() -> Int { Int((ContinuousClock.now - start).components.seconds) }
        try eventually("four seconds are over") { passed() >= 4 }
        try earlier.letGo("on")
        try earlier.waitForOutput("second", of: id)
        let daemon = isRestarted ? try earlier.successor("", crashes: false) : earlier
        let client = try daemon.connect()
        func text(_ sinceMs: Int) throws -> String {
            var text = ""
            try client.callMore(
                Tasks.Output.self,
                with {
                    $0.id = id
                    $0.sinceMs = sinceMs
                }
            ) {
                text += $0.text
                return true
            }
            return text
        }
        #expect(try text(3_600_000) == "first\nsecond\n")
        // Since a time between the two; a machine that stands still meanwhile asks for less.
        try eventually("the second is told without the first") {
            let told = try text((passed() - 3) * 1000)
            #expect(!told.contains("first"))
            return told == "second\n"
        }
    }

    @Test(
        "of attempts under an earlier daemon is said to be lost, and not passed over",
        arguments: [false, true])
    func attempts(crashes: Bool) throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let silent = try client.submit(["false"]) {
            $0.retry = Tasks.Retry(attempts: 2, delay: 3_600_000)
        }
        let id = try client.submit(script: "echo cannot; exit 1") {
            $0.retry = Tasks.Retry(attempts: 2, delay: 3_600_000)
        }
        for id in [silent, id] {
            try eventually("its first attempt is over") { try client.show(id).attempt == 2 }
        }
        #expect(try daemon.text(of: id) == "cannot\n")
        #expect(try daemon.text(of: silent) == "")
        let next = try daemon.successor("", crashes: crashes)
        #expect(try isLost(id, of: next) == true)
    }

    @Test("goes on from where a reader was", arguments: [false, true])
    func position(isRestarted: Bool) throws {
        var daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(["seq", "1", "60000"])
        _ = try client.ended(id)
        if isRestarted {
            #expect(try daemon.stop() == .status(0))
            daemon = try DaemonProcess(.supervisor, in: daemon.folder)
        }
        let all = try daemon.output(of: id)
        let text = all.map(\.text).joined()
        for piece in [all[0], all[all.count / 2], all[all.count - 1]] {
            let next = try #require(piece.next)
            var rest = ""
            try daemon.connect().callMore(
                Tasks.Output.self,
                with {
                    $0.id = id
                    $0.from = next
                }
            ) {
                #expect($0.dropped == nil)
                rest += $0.text
                return true
            }
            #expect(rest.utf8.count == text.utf8.count - next)
            #expect(text.hasSuffix(rest))
        }
    }

    @Test("of what ran when the daemon was killed is lost, and of what had ended before is not")
    func killed() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let ended = try client.submit(["echo", "kept"])
        _ = try client.ended(ended)
        let running = try client.submit(script: "echo begun; exec sleep 1000")
        try daemon.waitForOutput("begun", of: running)
        try waitForDisk(client)
        try daemon.kill()

        let next = try DaemonProcess(.supervisor, in: daemon.folder)
        #expect(try next.text(of: ended) == "kept\n")
        #expect(try isLost(running, of: next) == true)
        let told = next.folder.path + "/told"
        let logs = try Child(
            Programs.path("bgtaskctl"), ["--socket", next.socketPath, "logs", "\(running)"],
            output: told, error: told)
        #expect(try logs.waitForEnd() == .status(1))
        #expect(
            Files.text(told)
                == "bgtaskctl: the output of task \(running) was lost with the daemon; "
                + "bgtaskctl logs \(running) --journal may have it\n")
    }

    @Test("is read from the disk where memory has let it go")
    func evicted() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "limits.outputTotalBytesMax = 1000")
        let client = try daemon.connect()
        let first = try client.submit(["echo", "hello"])
        _ = try client.ended(first)
        _ = try client.ended(client.submit(script: "seq 1 200"))
        try eventually("the disk has it") { try daemon.text(of: first) == "hello\n" }
    }

    @Test("of who has too much goes, the oldest first")
    func bounds() throws {
        let settings = "store.outputBytesMax = 100000"
        let daemon = try DaemonProcess(.supervisor, settings: settings)
        let client = try daemon.connect()
        let ids = try print(20_000, times: 12, client)
        #expect(try daemon.stop() == .status(0))
        let next = try DaemonProcess(.supervisor, settings: settings, in: daemon.folder)
        for id in ids.prefix(6) { #expect(try isLost(id, of: next) == false) }
        for id in ids.suffix(3) { #expect(try next.text(of: id).utf8.count == 20_000) }
    }

    @Test(
        "goes with its task, which the history forgets",
        .enabled(if: DatabaseVisitor.isThere, "there is no sqlite3"))
    func forgotten() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let ids = try print(20_000, times: 12, client)
        try daemon.rewrite(settings: "store.historyMax = 3")
        _ = try client.ask(Manager.Reload.self)
        try eventually("the history is within its bounds") {
            try refusal(ids[0], of: daemon)?.name == Tasks.NoSuchTask.name
        }
        for id in ids.suffix(3) { #expect(try daemon.text(of: id).utf8.count == 20_000) }
        #expect(try daemon.stop() == .status(0))
        #expect(try query("SELECT count(*) FROM outputs", "output", of: daemon) == "3\n")
        #expect(try query("SELECT count(*) FROM chunks", "output", of: daemon) == "6\n")

        // As where a crash came between the two.
        _ = try query("DELETE FROM tasks WHERE id = \(ids[11])", "tasks", of: daemon)
        let next = try DaemonProcess(.supervisor, in: daemon.folder)
        #expect(try refusal(ids[11], of: next)?.name == Tasks.NoSuchTask.name)
        #expect(try next.text(of: ids[10]).utf8.count == 20_000)
        _ = try print(1, times: 2, next.connect())
        #expect(try next.stop() == .status(0))
        #expect(
            try query("SELECT task FROM outputs WHERE task <= \(ids[11])", "output", of: next)
                == "\(ids[9])\n\(ids[10])\n")
    }

    /// The tasks of commands that print so many bytes each, once they have ended.
    private func print(_ bytes: Int, times: Int, _ client: VarlinkClient) throws -> [Int] {
        try (0..<times).map { _ in
            let id = try client.submit(script: "head -c \(bytes) /dev/zero | tr '\\0' x")
            #expect(try client.ended(id).outcome == .completed)
            return id
        }
    }

    /// What sqlite3(1) says of a database of a daemon that does not run.
    private func query(
        _ sql: String, _ database: String, of daemon: DaemonProcess
    ) throws -> String {
        let told = daemon.folder.path + "/rows"
        unlink(told)
        let child = try Child(
            "/usr/bin/sqlite3", [daemon.statePath + "/\(database).db", sql], output: told,
            error: told)
        #expect(try child.waitForEnd() == .status(0))
        return Files.text(told)
    }

    @Test("is not kept where the setting is 0, from a reload on, or where nothing is")
    func none() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let first = try client.submit(["echo", "first"])
        _ = try client.ended(first)
        try daemon.rewrite(settings: "store.outputBytesMax = 0")
        _ = try client.ask(Manager.Reload.self)
        let second = try client.submit(["echo", "second"])
        _ = try client.ended(second)
        #expect(try daemon.text(of: second) == "second\n")
        #expect(try daemon.stop() == .status(0))
        let next = try DaemonProcess(
            .supervisor, settings: "store.outputBytesMax = 0", in: daemon.folder)
        for id in [first, second] { #expect(try isLost(id, of: next) == false) }

        let memory = try DaemonProcess(.supervisor, settings: "store.durability = \"memory\"")
        let other = try memory.connect()
        let id = try other.submit(["echo", "kept"])
        _ = try other.ended(id)
        #expect(try memory.text(of: id) == "kept\n")
        let silent = try other.submit(["true"])
        _ = try other.ended(silent)
        #expect(try memory.text(of: silent) == "")
        #expect(!Files.exists(memory.statePath + "/output.db"))
    }

    @Test(
        "is its owner's and the operators', and nobody else's",
        .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
    func users() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: "store.outputBytesMax = 200000")
        let bob = try daemon.connect(as: .backup)
        let bobs = try bob.submit(["echo", "secret"])
        _ = try bob.ended(bobs)
        let alice = try daemon.connect(as: .games)
        _ = try print(50_000, times: 20, alice)
        #expect(try daemon.stop() == .status(0))
        let next = try DaemonProcess(
            .supervisor, in: daemon.folder, arguments: ["--system"])
        #expect(try next.text(of: bobs, as: .backup) == "secret\n")
        for user in [TestUser.games, .root] {
            do {
                _ = try next.output(of: bobs, as: user)
                Issue.record("\(user) was answered")
            } catch ClientError.remote(let error) {
                #expect(error.name == Tasks.NoSuchTask.name)
            }
        }
        var text = ""
        try next.connect().callMore(
            Tasks.Output.self,
            with {
                $0.id = bobs
                $0.all = true
            }
        ) {
            text += $0.text
            return true
        }
        #expect(text == "secret\n")
    }

    @Test(
        "that finds no room on the disk is said to once, and costs nothing else",
        .enabled(
            if: SmallDisk.refusal == nil,
            "no file system can be mounted: \(SmallDisk.refusal ?? "")"))
    func fullDisk() throws {
        let disk = try SmallDisk()
        let daemon = try DaemonProcess(.supervisor, in: disk.folder)
        let client = try daemon.connect()
        let text = "output of ended tasks cannot be kept"
        let large = try print(1_000_000, times: 2, client)
        try daemon.waitForLog(text)
        let small = try print(1000, times: 1, client)
        try waitForDisk(client)
        try daemon.expectSaidOnce(text)
        _ = try print(1_000_000, times: 1, client)
        try daemon.waitForLog(text, count: 2)
        #expect(try daemon.stop() == .status(0))
        let next = try DaemonProcess(.supervisor, in: disk.folder)
        #expect(try next.text(of: small[0]).utf8.count == 1000)
        for id in large { #expect(try isLost(id, of: next) == false) }
        #expect(!next.log.contains("tasks cannot be stored"))
    }

    @Test("in a file that is damaged is said to be, and the daemon serves")
    func damaged() throws {
        let folder = try TemporaryFolder()
        mkdir(folder.path + "/state", 0o700)
        try Files.write("this is not a database", to: folder.path + "/state/output.db")
        let daemon = try DaemonProcess(.supervisor, in: folder)
        try daemon.waitForLog("output of ended tasks cannot be kept")
        let client = try daemon.connect()
        let id = try client.submit(["echo", "hello"])
        #expect(try client.ended(id).outcome == .completed)
        #expect(try daemon.text(of: id) == "hello\n")
        #expect(try daemon.stop() == .status(0))
        #expect(Files.text(folder.path + "/state/output.db") == "this is not a database")
    }
}
