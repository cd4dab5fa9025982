import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("The sockets at which tasks speak to the daemon", .timeLimit(.minutes(10)))
struct NoticeSocketTests {
    private static let isRoot = geteuid() == 0
    private static let staying = "echo $NOTIFY_SOCKET; exec sleep 1000"

    @Test(
        "they are used again, one task at a time, and what was meant for one never reaches the next"
    )
    func pool() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 2")
        let client = try daemon.connect()
        var paths: Set<String> = []
        for round in 1...10 {
            let id = try client.submit(
                script: """
                    echo $NOTIFY_SOCKET; n=0
                    while [ $n -lt 5 ]; do
                        systemd-notify --no-block --status=\(round) EXTEND_TIMEOUT_USEC=190000000
                        n=$((n + 1))
                    done
                    """)
            #expect(try client.ended(id).status == "\(round)")
            let path = try daemon.noticePath(of: id)
            paths.insert(path)
            // Nobody's now.
            try Notice.send("STATUS=stray\nEXTEND_TIMEOUT_USEC=190000000", to: path)
            let next = try client.submit(["true"])
            let events = try watch(next, client)
            #expect(events.allSatisfy { $0.kind != .status && $0.kind != .extended })
            #expect(try client.ended(next).status == nil)
        }
        #expect(paths.count <= 2)
        let both = try [1, 2].map { _ in try client.submit(script: Self.staying) }
        let own = try both.map { try daemon.noticePath(of: $0) }
        #expect(Set(own).count == 2)
        for (id, path) in zip(both, own) {
            #expect(try daemon.notify(path, "--status=to \(id)"))
            #expect(try client.show(id).status == "to \(id)")
        }
        #expect(daemon.noticeSockets.count == 2)
    }

    /// What is told of a task, which may have ended.
    private func watch(_ id: Int, _ client: VarlinkClient) throws -> [Tasks.Event] {
        var events: [Tasks.Event] = []
        try client.send(Tasks.Watch.self, with { $0.id = id }, more: true)
        while events.last?.kind != .ended && events.last?.task.state != .ended {
            events.append(try client.receive(Tasks.Watch.self).output.event)
        }
        return events
    }

    @Test(
        "a foreign user is kept out, also one who was let in, and root is heard",
        .enabled(if: isRoot, "only a daemon of root serves other users"))
    func foreign() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let client = try daemon.connect(as: .games)
        let id = try client.submit(script: Self.staying)
        let path = try daemon.noticePath(of: id, as: .games)
        #expect(try daemon.notify(path, "--status=own", as: .games))
        #expect(try client.show(id).status == "own")
        #expect(try !daemon.notify(path, "--status=foreign", as: .backup))
        #expect(try client.show(id).status == "own")
        #expect(chmod(path, 0o666) == 0)
        for _ in 1...5 {
            _ = try daemon.notify(path, "--status=foreign", as: .backup)
            #expect(try client.show(id).status == "own")
        }
        try daemon.waitForLog("a message to a task's socket was dropped")
        #expect(daemon.log.contains("BGTASK_OWNER=34"))
        #expect(try daemon.notify(path, "--status=by root"))
        #expect(try client.show(id).status == "by root")
    }

    @Test(
        "two users have sockets of their own, which the other cannot reach",
        .enabled(if: isRoot, "only a daemon of root serves other users"))
    func twoUsers() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let users: [TestUser] = [.games, .backup, .games, .backup]
        var paths: [[String]] = [[], []]
        for (number, user) in users.enumerated() {
            let client = try daemon.connect(as: user)
            let id = try client.submit(
                script: "echo $NOTIFY_SOCKET; systemd-notify --status=\(user)")
            #expect(try client.ended(id).status == user.name)
            paths[number % 2].append(try daemon.noticePath(of: id, as: user))
        }
        #expect(Set(paths[0]).isDisjoint(with: paths[1]))
    }

    @Test("those of a daemon that was killed are removed by the next, and all at a stop")
    func stale() throws {
        let folder = try TemporaryFolder()
        let first = try DaemonProcess(.supervisor, in: folder)
        let id = try first.connect().submit(script: Self.staying)
        #expect(try first.noticePath(of: id) == first.noticeFolder + "/1")
        try first.kill()
        #expect(Files.names(first.noticeFolder) == ["1"])
        let second = try DaemonProcess(.supervisor, in: folder)
        let client = try second.connect()
        // Its socket is there before it serves.
        _ = try client.ask(Tasks.Groups.self)
        #expect(second.noticeSockets == [])
        try eventually("what the first has left is removed") {
            Files.names(second.noticeFolder) == []
        }
        let next = try client.submit(script: "systemd-notify --status=here")
        #expect(try client.ended(next).status == "here")
        #expect(try second.stop() == .status(0))
        try eventually("it leaves nothing behind") { !Files.exists(second.noticeFolder) }
    }

    @Test("without a place for them beside its own, a user's daemon has them with its state")
    func fallback() throws {
        let folder = try TemporaryFolder()
        try Files.write("in the way", to: folder.path + "/socket.notify")
        let daemon = try DaemonProcess(.supervisor, in: folder, arguments: ["--user"])
        let client = try daemon.connect()
        let id = try client.submit(script: "echo $NOTIFY_SOCKET; systemd-notify --status=here")
        #expect(try client.ended(id).status == "here")
        #expect(try daemon.noticePath(of: id) == daemon.statePath + "/notify/1")
        #expect(try daemon.stop() == .status(0))
        #expect(Files.text(folder.path + "/socket.notify") == "in the way")
    }

    @Test(
        "without any place for them tasks run all the same, and the log says why they are mute",
        .enabled(if: isRoot, "the state folder of a user's daemon is a place"))
    func nowhere() throws {
        let folder = try TemporaryFolder.passable()
        try Files.write("in the way", to: folder.path + "/socket.notify")
        let daemon = try DaemonProcess(.supervisor, in: folder, arguments: ["--system"])
        let client = try daemon.connect()
        let id = try client.submit(script: "echo is:$NOTIFY_SOCKET")
        #expect(try client.ended(id).outcome == .completed)
        #expect(try daemon.text(of: id) == "is:\n")
        try daemon.waitForLog("tasks cannot speak to the daemon")
        #expect(daemon.log.contains("/socket.notify: Not a directory"))
    }
}
