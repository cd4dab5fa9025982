import TestKit
import Testing

extension SystemTests {
    /// A user can put a socket of their own in the place of their service manager's.
    @Suite("Adopted units and a service manager that is none")
    final class AdoptionStrangerTests {
        private let stage = AdoptionStage.userScope

        deinit {
            try? stage.end()
        }

        /// Answers whoever connects with a descriptor that lingers for ten minutes in who lets go of it.
        private static let manager = """
            import array, os, socket, struct
            path = os.environ["XDG_RUNTIME_DIR"] + "/systemd/private"
            os.unlink(path)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            listener.listen()
            kept = []
            while True:
                peer = listener.accept()[0]
                server = socket.create_server(("127.0.0.1", 0))
                stuck = socket.create_connection(server.getsockname())
                kept += [peer, server.accept()[0]]
                stuck.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 600))
                stuck.setblocking(False)
                try:
                    while True: stuck.send(bytes(65536))
                except BlockingIOError: pass
                rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [stuck.fileno()]))
                peer.sendmsg([b"OK 0123456789abcdef0123456789abcdef\\r\\n"], [rights])
                stuck.close()
            """

        @Test("what it sends with its answer keeps nobody waiting but who asked for it")
        func descriptors() throws {
            try stage.begin()
            let processID = try stage.processID()
            let file = "/run/count/manager.py"
            try Installation.succeed(
                Installation.shell("cat >\(file) <<'END'\n\(Self.manager)\nEND"))
            try Installation.succeed(
                BoxUser.shell(
                    "inode=$(stat -c %i $XDG_RUNTIME_DIR/systemd/private);"
                        + " systemd-run --user --quiet python3 \(file);"
                        + " until [ \"$(stat -c %i $XDG_RUNTIME_DIR/systemd/private)\" != $inode ]; do sleep 0.05; done"
                ))
            let adopted = try stage.call("app adopt \(AdoptionStage.application) \(processID)")
            #expect(adopted.status != 0, "\(adopted)")
            let control = Programs.path("bgtaskctl")
            for _ in 1...3 {
                let listed = try Installation.shell("timeout 100 \(control) --system list")
                #expect(listed.status == 0, "\(listed)")
            }
            let restarts = try Installation.shell(
                "systemctl show -P NRestarts bgtaskd.service; systemctl stop bgtaskd.service; echo stopped"
            )
            #expect(restarts.output == "0\nstopped\n", "\(restarts)")
        }
    }
}
