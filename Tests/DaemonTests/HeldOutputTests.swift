import Glibc
import TaskAPI
import Testing

/// Whoever reads, asks or closes a pipe whose lock a stranger holds waits in the kernel, whatever signal comes.
@Suite(
    "Output that its user holds",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct HeldOutputTests {
    /// Opens the output of a process, where that can be, and holds its lock: nothing ever comes from where it copies. What
    /// has become of that is said.
    private static let holder = """
        import os, socket, sys
        try:
            output = os.open(f'/proc/{sys.argv[1]}/fd/1', os.O_WRONLY)
        except OSError as error:
            print(error.strerror, flush=True)
            sys.exit()
        ends = socket.socketpair()
        calls = {'x86_64': '275', 'aarch64': '76'}[os.uname().machine]
        if os.fork() == 0:
            while open(f'/proc/{os.getppid()}/syscall').read().split()[0] != calls: pass
            print('held', flush=True)
        else:
            os.splice(ends[0].fileno(), output, 4096)
        """

    private func hold(_ process: Int, _ folder: TemporaryFolder, _ number: Int) throws -> Child {
        let said = folder.path + "/said-\(number)"
        let user = TestUser.games
        let child = try Child(
            "/usr/bin/setpriv",
            [
                "--reuid=\(user.user)", "--regid=\(user.group)", "--clear-groups",
                "python3", "-c", Self.holder, "\(process)",
            ], output: said)
        try eventually("it holds the output, or cannot") { Files.text(said).hasSuffix("\n") }
        return child
    }

    @Test("costs nobody else anything, and not its own end", arguments: ContainmentMode.available)
    func held(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let client = try daemon.connect(as: .games)
        let other = try daemon.connect(as: .backup)
        var holders: [Child] = []
        for number in 1...3 {
            let id = try client.submit(script: "echo up; exec sleep 1000")
            try daemon.waitForOutput("up", of: id, as: .games)
            let process = try #require(try client.show(id).pid)
            holders.append(try hold(process, daemon.folder, number))
            _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
            #expect(try client.ended(id).outcome == .cancelled)
            #expect(try other.ended(other.submit(["true"])).outcome == .completed)
        }
        #expect(try daemon.stop() == .status(0))
        withExtendedLifetime(holders) {}
    }
}
