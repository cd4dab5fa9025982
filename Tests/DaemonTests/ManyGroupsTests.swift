import BudgetCore
import Glibc
import LinuxSystem
import TaskAPI
import Testing
import Varlink

@Suite("Callers in many groups")
struct ManyGroupsTests {
    /// Connects a number of times as the user games with all the groups that there may be, says how many of the
    /// connections are answered, then connects as anybody does.
    private static let script = """
        import os, socket, sys, time
        def connect():
            server = socket.socket(socket.AF_UNIX)
            server.connect(sys.argv[1])
            return server
        def ask(server):
            try:
                server.sendall(b'{"method":"io.systemd.service.Ping","parameters":{}}' + bytes(1))
                return server.recv(65536).endswith(bytes(1))
            except OSError: return False
        os.setgroups(range(100000, 165536))
        os.setresgid(60, 60, 60)
        os.setresuid(5, 5, 0)
        servers = [connect() for _ in range(int(sys.argv[2]))]
        answered = sum([ask(server) for server in servers])
        for server in servers: server.close()
        os.seteuid(0)
        os.setgroups([])
        os.seteuid(5)
        until = time.monotonic() + 60
        while not ask(connect()):
            if time.monotonic() > until: sys.exit(100)
        sys.exit(answered)
        """

    @Test(
        "their lists of groups count among what is kept for the connections of their user",
        .enabled(if: geteuid() == 0, "only root has so many groups"))
    func buffers() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: "limits.bufferBytesPerOwnerMax = 1048576")
        // A list takes 256 KiB: eight are twice what may be kept.
        let child = try Child("/usr/bin/python3", ["-c", Self.script, daemon.socketPath, "12"])
        let ending = try child.waitForEnd()
        #expect(ending == .status(7) || ending == .status(8), "\(ending); \(daemon.log)")
        try daemon.waitForLog("twice bufferBytesPerOwnerMax (1048576)")
    }
}
