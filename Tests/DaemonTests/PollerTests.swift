import Glibc
import TaskAPI
import Testing

/// A message wakes all that poll the other end, one after the other, in whoever sends it.
@Suite(
    "A connection that a user polls many times over",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct PollerTests {
    /// Has a connection polled 400,000 times over.
    private static let polls = """
        import os, resource, select, socket, sys
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        daemon = socket.socket(socket.AF_UNIX)
        daemon.connect(sys.argv[1])
        copies = [os.dup(daemon.fileno()) for _ in range(1000)]
        polls = [select.epoll() for _ in range(400)]
        for poll in polls:
            for copy in copies: poll.register(copy, select.EPOLLIN | select.EPOLLOUT)

        """

    /// Calls until the connection is closed. Says how many calls were answered.
    private static let calls = """
        answered = 0
        try:
            while answered < 100:
                daemon.sendall(b'{"method":"org.bgtaskd.Tasks.Groups"}\\0')
                if not daemon.recv(65536): break
                answered += 1
        except OSError: pass
        print(answered, flush=True)
        """

    /// Sends bytes one by one, each of which is a message. Says whether the connection was closed with some unread.
    private static let bytes = """
        for _ in range(200): daemon.send(b' ')
        try:
            print('read', daemon.recv(1), flush=True)
        except ConnectionResetError: print('unread', flush=True)
        """

    /// - Returns: what the script says at its end.
    private func run(_ script: String, _ daemon: DaemonProcess) throws -> String {
        let said = daemon.folder.path + "/said"
        let user = TestUser.games
        let child = try Child(
            "/usr/bin/setpriv",
            [
                "--reuid=\(user.user)", "--regid=\(user.group)", "--clear-groups",
                "python3", "-c", Self.polls + script, daemon.socketPath,
            ], output: said)
        #expect(try child.waitForEnd() == .status(0))
        return String(Files.text(said).dropLast())
    }

    @Test("costs the daemon some calls at most, and then its end")
    func pollers() throws {
        let daemon = try DaemonProcess(.supervisor, in: .passable(), arguments: ["--system"])
        let answered = try #require(Int(run(Self.calls, daemon)))
        #expect(answered < 10)
        try daemon.waitForLog("so many poll its other end")
        let other = try daemon.connect(as: .backup)
        #expect(try other.ended(other.submit(["true"])).outcome == .completed)
    }

    @Test("costs the daemon no wake-up for each message that waits")
    func messages() throws {
        let daemon = try DaemonProcess(.supervisor, in: .passable(), arguments: ["--system"])
        #expect(try run(Self.bytes, daemon) == "unread")
        try daemon.waitForLog("so many poll its other end")
    }
}
