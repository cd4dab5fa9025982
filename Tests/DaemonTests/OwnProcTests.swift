import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// Whoever looks up a name of /proc lets go of what somebody has mounted on it for the process that had that number before. So
/// nothing is looked up where others mount.
@Suite(
    "What is mounted on /proc holds up nobody who has a mount of it",
    .enabled(if: geteuid() == 0, "only root mounts on /proc"),
    .enabled("the build folder must be open to other users") { try isBuildFolderOpen() })
struct OwnProcTests {
    private static let submit = """
        import json, socket, sys
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(sys.argv[1])
        work = {"name": "hidden", "command": ["true"]}
        call = {"method": "org.bgtaskd.Tasks.Submit", "parameters": {"work": work}}
        peer.sendall(json.dumps(call).encode() + bytes(1))
        answer = b""
        while not answer.endswith(bytes(1)):
            part = peer.recv(65536)
            if not part: sys.exit(1)
            answer += part
        print(answer.decode())
        """

    @Test("a caller", arguments: ContainmentMode.available)
    func caller(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let flag = daemon.folder.path + "/go"
        let (output, errors) = (daemon.folder.path + "/output", daemon.folder.path + "/errors")
        let wait = "until [ -e \(flag) ]; do sleep 0.02; done; exec \"$@\""
        // A program of Swift's reads its arguments in /proc/self.
        let command =
            ["/usr/bin/setpriv"] + TestUser.games.privileges
            + ["/usr/bin/python3", "-c", Self.submit, daemon.socketPath]
        let child = try Child(
            "/bin/sh", ["-c", wait, "sh"] + command, output: output, error: errors)
        let hidden = try HiddenProcess(child.processID)
        try Files.write("", to: flag)
        #expect(try child.waitForEnd() == .status(0), "\(Files.text(errors))")
        #expect(Files.text(output).contains("\"id\""), "\(Files.text(output))")
        withExtendedLifetime(hidden) {}
    }

    @Test("what a command has left behind, without control groups")
    func descendant() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let client = try daemon.connect(as: .games)
        let flag = daemon.folder.path + "/go"
        let id = try client.submit(
            script: "setsid sleep 1000 & echo $!; until [ -e \(flag) ]; do sleep 0.02; done")
        var left: pid_t?
        try eventually("it says who is left") {
            left = pid_t(try daemon.text(of: id, as: .games).dropLast())
            return left != nil
        }
        let process = try #require(left)
        let hidden = try HiddenProcess(process)
        try Files.write("", to: flag)
        #expect(try client.ended(id).outcome == .completed)
        hidden.show()
        #expect(!Processes.isAlive(process))
    }
}
