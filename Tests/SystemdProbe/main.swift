// A program for the tests of Systemd: what needs an environment or a service manager of its own.
import Glibc
import Systemd

do {
    switch CommandLine.arguments.dropFirst().first {
    case "notify": try sayEverything()
    case "listen": try printSockets()
    case "destination": print(JournalDestination.standard())
    case "serve": exit(try ProbeService().run())
    case "trap":
        // With a second thread, as the daemon has them.
        let journal = try JournalWriter(to: .standard(), identifier: "systemd-probe")
        print(trap(Array(CommandLine.arguments.dropFirst(2))), journal)
    case "stop-kind":
        exit(try ProbeStop.run(isUser: CommandLine.arguments.dropFirst(2).first == "user"))
    case "unit": exit(try ProbeManager.run(Array(CommandLine.arguments.dropFirst(2))))
    default:
        print("usage: systemd-probe notify|listen|destination|serve|stop-kind|trap|unit")
        exit(64)
    }
} catch {
    print("error: \(error)")
    exit(1)
}

/// Ends by a trap, as an error in the program would.
@inline(never)
func trap(_ words: [String]) -> String {
    words[words.count]
}

/// Sends each kind of notification once.
func sayEverything() throws {
    let notifier = ServiceNotifier()
    try notifier.ready(status: "first\nREADY=0\u{1b}[31m")
    try notifier.status("second")
    try notifier.status("second")
    try notifier.reloading()
    try notifier.extendTimeout(microseconds: 7_000_000)
    try notifier.stopping(status: String(repeating: "é", count: 4_000))
    print("inherited: \(ServiceEnvironment.forChild(of: environment()).sorted())")
}

/// Prints the sockets that were passed, and what is left of the environment.
func printSockets() throws {
    for socket in try ListenDescriptor.take() {
        let flags = fcntl(socket.descriptor, F_GETFD)
        print("\(socket.descriptor) \(socket.name) cloexec=\(flags & FD_CLOEXEC != 0)")
    }
    print("left: \(environment().filter { $0.hasPrefix("LISTEN_") })")
}

/// environ(7).
func environment() -> [String] {
    var found: [String] = []
    var next = environ
    while let assignment = next.pointee {
        found.append(String(cString: assignment))
        next += 1
    }
    return found
}
