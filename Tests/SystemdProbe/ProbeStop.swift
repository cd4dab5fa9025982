import Glibc
import Systemd

/// `stop-kind system|user`: a service that says at SIGTERM what kind of stop it is, in one line, and ends.
enum ProbeStop {
    static func run(isUser: Bool) throws -> Int32 {
        let loop = try EventLoop()
        try loop.addSignal(SIGTERM) { _ in
            StopKind.ask(scope: isUser ? .user : .system, loop: loop, limit: .seconds(60)) { kind in
                print(kind)
                loop.exit(0)
            }
        }
        try ServiceNotifier().ready(status: "")
        return try loop.run()
    }
}
