import Glibc
import TaskAPI
import Testing

/// A message wakes all that poll the other end, one after the other, in whoever sends it.
@Suite(
    "A connection that a user polls many times over",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct PollerTests {
    /// Has a connection polled 400,000 times over, and calls until it is closed. Says how many calls were answered.
    private static let script = """
        import os, resource, select, socket, sys
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        daemon = socket.socket(socket.AF_UNIX)
        daemon.connect(sys.argv[1])
        copies = [os.dup(daemon.fileno()) for _ in range(1000)]
        polls = [select.epoll() for _ in range(400)]
        for poll in polls:
            for copy in copies: poll.register(copy, select.EPOLLIN)
        answered = 0
        try:
            while answered < 100:
                daemon.sendall(b'{"method":"org.bgtaskd.Tasks.Groups"}\\0')
                if not daemon.recv(65536): break
                answered += 1
        except OSError: pass
        print(answered, flush=True)
        """

    @Test("costs the daemon some calls at most, and then its end")
    func pollers() throws {
        let daemon = try DaemonProcess(.supervisor, in: .passable(), arguments: ["--system"])
        let said = daemon.folder.path + "/said"
        let user = TestUser.games
        let child = try Child(
            "/usr/bin/setpriv",
            [
                "--reuid=\(user.user)", "--regid=\(user.group)", "--clear-groups",
                "python3", "-c", Self.script, daemon.socketPath,
            ], output: said)
        #expect(try child.waitForEnd() == .status(0))
        let answered = try #require(Int(Files.text(said).dropLast()))
        #expect(answered < 10)
        try daemon.waitForLog("so many poll its other end")
        let other = try daemon.connect(as: .backup)
        #expect(try other.ended(other.submit(["true"])).outcome == .completed)
    }
}
