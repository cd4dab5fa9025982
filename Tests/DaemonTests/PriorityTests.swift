import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("Who goes first")
struct PriorityTests {
    @Test(
        "23: higher priority first, then first come, also in the next daemon",
        arguments: [nil, true, false])
    func order(crashes: Bool?) throws {
        var daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        let blocker = try client.submit(script: daemon.waits(for: "blocker")) {
            $0.priority = -1000
            $0.budget = Tasks.Budget(ms: 180_000, grace: 60_000)
        }
        try client.waitForBegin(of: blocker)
        let priorities = [0, 5, -3, 5, 1000, -1000, nil, -3]
        let folder = daemon.folder.path
        let ids = try priorities.map { priority in
            try client.submit(script: "echo $BGTASK_ID >> order") {
                $0.priority = priority
                $0.directory = folder
            }
        }
        #expect(try ids.map { try client.show($0).priority } == priorities.map { $0 ?? 0 })
        if let crashes {
            daemon = try daemon.successor("queue.slots = 1", crashes: crashes)
        } else {
            try daemon.letGo("blocker")
        }
        let last = try daemon.connect()
        for id in ids { #expect(try last.ended(id).outcome == .completed) }
        let ran = Files.text(folder + "/order").split(separator: "\n").compactMap { Int($0) }
        #expect(ran == [4, 1, 3, 0, 6, 2, 7, 5].map { ids[$0] })
    }

    @Test(
        "200 queued tasks of one user delay another's first by the length of one of them",
        .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
    func fairness() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor, settings: "queue.slots = 1")
        let root = try daemon.connect()
        let games = try daemon.connect(as: .games)
        let backup = try daemon.connect(as: .backup)
        let ids = try (0..<200).map { number in
            try games.submit(script: number == 0 ? daemon.waits(for: "first") : ":") {
                $0.priority = 1000
            }
        }
        try games.waitForBegin(of: ids[0])
        let watcher = try daemon.connect()
        try watcher.watchAll(beside: root, all: true)

        let first = try backup.submit(["true"]) { $0.priority = -1000 }
        try daemon.letGo("first")
        let before = try watcher.events { $0.kind == .began && $0.task.id == first }
        #expect(before.filter { $0.kind == .began }.map(\.task.id) == [first])

        // And once more, while theirs come and go.
        #expect(try backup.ended(first).outcome == .completed)
        let second = try backup.submit(["true"])
        let between = try watcher.events { $0.kind == .began && $0.task.id == second }
        let waits = between.drop { $0.kind != .queued || $0.task.id != second }
        #expect(waits.count { $0.kind == .began } <= 2, "\(waits.map(\.task.id))")
        for id in ids { #expect(try games.ended(id).outcome == .completed) }
    }

    @Test(
        "who has fewer tasks in slots goes next, and a user alone has all that one owner may have",
        .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
    func turns() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: "queue.slots = 3\nqueue.slotsPerOwnerMax = 3")
        let games = try daemon.connect(as: .games)
        let backup = try daemon.connect(as: .backup)
        func submit(_ client: VarlinkClient, _ name: String) throws -> Int {
            try client.submit(script: daemon.waits(for: name))
        }
        let (g, b) = (
            try (0..<5).map { try submit(games, "g\($0)") },
            try (0..<3).map { try submit(backup, "b\($0)") }
        )
        for id in g[..<3] { try games.waitForBegin(of: id) }
        // Where both have as many, it is the turn of who was served longest ago.
        let steps = [
            ("g0", backup, b[0]), ("g1", games, g[3]), ("b0", backup, b[1]), ("g2", games, g[4]),
            ("g3", backup, b[2]),
        ]
        for (done, client, next) in steps {
            #expect(try client.show(next).waiting == "slots")
            try daemon.letGo(done)
            try client.waitForBegin(of: next)
        }
    }
}
