import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// A daemon whose disk fails, and a service manager that listens to it.
private struct FaultyService {
    let folder: TemporaryFolder
    let manager: NotifySocket
    let daemon: DaemonProcess
    let client: VarlinkClient

    init(_ settings: String, in folder: TemporaryFolder) throws {
        self.folder = folder
        manager = try NotifySocket(in: folder)
        daemon = try DaemonProcess(
            .supervisor, settings: settings, in: folder,
            environment: ["NOTIFY_SOCKET=\(manager.path)"])
        client = try daemon.connect()
    }

    /// A task that ends with a status once it is let go.
    func submitWaiting(_ name: String, status: Int) throws -> Int {
        let script = "while ! [ -e \(folder.path)/go-\(name) ]; do sleep 0.05; done; exit \(status)"
        return try client.submit(script: script) { $0.name = name }
    }

    func letGo(_ name: String) throws {
        try Files.write("", to: folder.path + "/go-\(name)")
    }

    func refusedSubmission(_ name: String = "refused") throws -> String {
        var work = Tasks.Work()
        work.name = name
        work.command = ["touch", folder.path + "/\(name)"]
        let refusal = try client.refusal(of: Tasks.Submit.self) { $0.work = work }
        #expect(refusal.name == Tasks.NotAccepting.name)
        return try refusal.decode(Tasks.NotAccepting.self).reason
    }

    /// What bgtaskctl prints.
    func control(_ arguments: String...) throws -> String {
        let output = folder.path + "/control"
        unlink(output)
        let child = try Child(
            Programs.path("bgtaskctl"),
            ["--socket", daemon.socketPath] + arguments, output: output, error: output)
        #expect(try child.waitForEnd() == .status(0))
        return Files.text(output)
    }

    /// Whether what waits is said to wait for the store, also by bgtaskctl.
    func expectWaitsForStore(_ id: Int, _ reason: String) throws {
        #expect(try client.show(id).waiting == "store")
        let explained = try client.ask(Tasks.Explain.self) { $0.id = id }.explanations
        #expect(explained.first?.rule == "store")
        #expect(explained.first?.text.contains(reason) == true)
        let told = try control("explain", "\(id)")
        #expect(told.contains("store") && told.contains(reason), "\(told)")
        let listed = try control("list", "--json").split(separator: "\n")
        #expect(listed.contains { $0.contains("waits") && $0.contains(#""waiting":"store""#) })
    }
}

@Suite("A daemon whose disk fails")
struct FaultTests {
    @Test(
        "a full disk refuses what is new, lets what runs go on and end, and heals",
        .enabled(
            if: SmallDisk.refusal == nil,
            "no file system can be mounted: \(SmallDisk.refusal ?? "")"))
    func full() throws {
        let disk = try SmallDisk()
        let service = try FaultyService("queue.slots = 3", in: disk.folder)
        let client = service.client
        let failing = try service.submitWaiting("fails", status: 3)
        let expiring = try client.submit(script: "trap 'exit 0' TERM; while :; do sleep 0.05; done")
        {
            $0.budget = Tasks.Budget(ms: 53_000, grace: 50_000)
        }
        let cancelled = try client.submit(["sleep", "1000"])
        let queued = try client.submit(["true"]) { $0.name = "waits" }

        try disk.fill()
        let reason = "no space left on the disk"
        for _ in 0..<5 { #expect(try service.refusedSubmission().contains(reason)) }
        try service.manager.status {
            $0.hasPrefix("nothing new is taken in: tasks cannot be stored: \(reason)")
        }
        try service.expectWaitsForStore(queued, reason)
        let order = try client.refusal(of: Tasks.Cancel.self) { $0.id = queued }
        #expect(order.name == Tasks.NotAccepting.name)

        // What runs has its budget, its orders and its end.
        try service.letGo("fails")
        _ = try client.ask(Tasks.Cancel.self) { $0.id = cancelled }
        #expect(try client.ended(failing).exit?.status == 3)
        #expect(try client.ended(cancelled).outcome == .cancelled)
        #expect(try client.ended(expiring).outcome == .expired)
        let held = try client.begin()
        #expect(try client.ask(Tasks.End.self) { $0.id = held }.outcome == .completed)
        #expect(try client.show(queued).state == .queued)
        try service.daemon.expectSaidOnce("tasks cannot be stored")

        disk.makeRoom()
        #expect(try client.ended(queued).outcome == .completed)
        try service.daemon.expectSaidOnce("tasks are stored again")
        try service.manager.status { $0.hasPrefix("0 running, 0 queued") }
        let last = try client.submit(["true"])
        #expect(try client.ended(last).outcome == .completed)
        try expectKept(
            in: service,
            [
                (failing, .failed), (cancelled, .cancelled), (expiring, .expired),
                (queued, .completed), (last, .completed),
            ])
    }

    @Test(
        "a stop on a full disk says that ends are not recorded, and the next daemon knows no other ends",
        .enabled(
            if: SmallDisk.refusal == nil,
            "no file system can be mounted: \(SmallDisk.refusal ?? "")"))
    func stop() throws {
        let disk = try SmallDisk()
        let service = try FaultyService("queue.slots = 1", in: disk.folder)
        let id = try service.submitWaiting("fails", status: 3)
        try disk.fill()
        try service.letGo("fails")
        #expect(try service.client.ended(id).outcome == .failed)
        #expect(try service.daemon.stop() == .status(0))
        try service.daemon.expectSaidOnce("ends of tasks were not written to disk in time")
        disk.makeRoom()
        let next = try DaemonProcess(.supervisor, in: service.folder)
        // bgtask-executor may have had room to take the end down, once the daemon had given its reserve up.
        let outcome = try next.connect().ended(id).outcome
        #expect(outcome == .interrupted || outcome == .failed)
    }

    @Test(
        "a database that another program locks refuses what is new, and heals when it lets go",
        .enabled(if: DatabaseVisitor.isThere, "there is no sqlite3(1)"))
    func locked() throws {
        let service = try FaultyService("queue.slots = 1", in: TemporaryFolder())
        let client = service.client
        let failing = try service.submitWaiting("fails", status: 3)
        let queued = try client.submit(["true"]) { $0.name = "waits" }
        let visitor = DatabaseVisitor(service.daemon)
        try visitor.lock()
        let reason = "another process is writing to the database"
        for _ in 0..<3 { #expect(try service.refusedSubmission().contains(reason)) }
        try service.manager.status { $0.contains(reason) }
        try service.expectWaitsForStore(queued, reason)
        try service.letGo("fails")
        #expect(try client.ended(failing).exit?.status == 3)
        try service.daemon.expectSaidOnce("tasks cannot be stored")
        try visitor.unlock()
        #expect(try client.ended(queued).outcome == .completed)
        try expectKept(in: service, [(failing, .failed), (queued, .completed)])
    }

    @Test(
        "no submission is answered before the disk has it",
        .enabled(if: DatabaseVisitor.isThere, "there is no sqlite3(1)"))
    func notBefore() throws {
        let service = try FaultyService("queue.slots = 1", in: TemporaryFolder())
        let visitor = DatabaseVisitor(service.daemon)
        for _ in 0..<5 {
            try visitor.lock()
            let submitter = try service.daemon.connect()
            var work = Tasks.Work()
            work.name = "held up"
            work.command = ["true"]
            try submitter.send(Tasks.Submit.self, with { $0.work = work })
            // Two answers to somebody else later it is read.
            for _ in 0..<2 { try service.client.ask(SystemdService.Ping.self) }
            var early: (output: Tasks.Submit.Output, continues: Bool)?
            var isRefused = false
            do throws(ClientError) {
                early = try submitter.receiveIfReady(Tasks.Submit.self)
            } catch {
                isRefused = true
            }
            #expect(early == nil, "it is answered while the database is locked")
            try visitor.unlock()
            guard !isRefused else { continue }
            // A machine that is slow has had it refused meanwhile.
            do {
                let id = try submitter.receive(Tasks.Submit.self).output.id
                #expect(try service.client.ended(id).outcome == .completed)
            } catch ClientError.remote(let error) {
                #expect(error.name == Tasks.NotAccepting.name)
            }
            try eventually("it takes submissions again") {
                (try? service.client.submit(["true"])) != nil
            }
        }
    }

    @Test(
        "what came up behind a commit that fails is refused with it, and never runs",
        .enabled(if: DatabaseVisitor.isThere, "there is no sqlite3(1)"))
    func behindFailure() throws {
        let service = try FaultyService("queue.slots = 1", in: TemporaryFolder())
        let visitor = DatabaseVisitor(service.daemon)
        try visitor.lock()
        let submitters = try (0..<4).map { _ throws -> VarlinkClient in
            let submitter = try service.daemon.connect()
            var work = Tasks.Work()
            work.name = "behind"
            work.command = ["touch", service.folder.path + "/refused"]
            try submitter.send(Tasks.Submit.self, with { $0.work = work })
            // Two answers to somebody else later it is read, and a commit of its own.
            for _ in 0..<2 { try service.client.ask(SystemdService.Ping.self) }
            return submitter
        }
        for (index, submitter) in submitters.enumerated() {
            do {
                let id = try submitter.receive(Tasks.Submit.self).output.id
                Issue.record("\(index) is task \(id)")
            } catch ClientError.remote(let error) {
                #expect(error.name == Tasks.NotAccepting.name)
            }
            // The disk would take the others now.
            if index == 0 { try visitor.unlock() }
        }
        var kept = 0
        try eventually("it takes submissions again") {
            kept = (try? service.client.submit(["true"])) ?? 0
            return kept > 0
        }
        #expect(try service.client.ended(kept).outcome == .completed)
        try expectKept(in: service, [(kept, .completed)])
    }

    /// After kill -9 the daemon knows these ends and no others, and what was refused has never run.
    private func expectKept(
        in service: FaultyService, _ wanted: [(id: Int, outcome: Tasks.Outcome)]
    ) throws {
        try service.daemon.kill()
        let next = try DaemonProcess(.supervisor, in: service.folder)
        let client = try next.connect()
        let listed = try client.ask(Tasks.List.self) { $0.ended = true }.tasks ?? []
        #expect(listed.map(\.id) == wanted.map(\.id).sorted())
        for (id, outcome) in wanted { #expect(try client.show(id).outcome == outcome) }
        #expect(!Files.exists(service.folder.path + "/refused"))
    }
}
