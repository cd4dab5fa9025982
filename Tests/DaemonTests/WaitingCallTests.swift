import Glibc
import TaskAPI
import Testing
import Varlink

/// A daemon whose user database does not answer until a test lets it: its passwd(5) is a pipe.
private final class DaemonWithSlowDatabase {
    let daemon: DaemonProcess
    private let pipe: String

    static let user = TestUser.nameless(1500)

    init() throws {
        let folder = try TemporaryFolder.passable()
        pipe = folder.path + "/passwd"
        guard mkfifo(pipe, 0o644) == 0 else { throw NeverHappened(description: "mkfifo: \(errno)") }
        try Files.write("", to: folder.path + "/subuid")
        daemon = try DaemonProcess(
            // The test's own process is in another mount namespace.
            .supervisor, settings: "access.confinedUsers = [1500]", in: folder,
            arguments: ["--system"], environment: ["BGTASKD_SUBUID_FILE=\(folder.path)/subuid"],
            within: [
                "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                "mount --bind \(pipe) /etc/passwd && exec \"$0\" \"$@\"",
            ])
    }

    /// Lets the look-up that goes on find nothing.
    func answer() throws {
        try eventually("a user is looked up") {
            let descriptor = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(descriptor) }
            return descriptor >= 0
        }
    }
}

@Suite(
    "Calls that wait for the user database",
    .enabled(if: geteuid() == 0, "only a daemon of root looks users up"))
struct WaitingCallTests {
    private static func submit(_ work: inout Tasks.Submit.Input) {
        work.work.name = "test"
        work.work.command = ["true"]
    }

    @Test("they are forgotten with the client that hangs up, and others are answered all the same")
    func forgotten() throws {
        let slow = try DaemonWithSlowDatabase()
        let daemon = slow.daemon
        let waiting = try daemon.connect(as: DaemonWithSlowDatabase.user)
        try waiting.send(Tasks.Submit.self, with(Self.submit))
        let probe = try daemon.connect(as: .root)
        var asked = 0
        func waitForCalls(_ count: Int) throws {
            try eventually("\(count) calls have been taken") {
                asked += 1
                return try probe.counter("calls_total") ?? 0 >= count + asked
            }
        }
        try waitForCalls(1)
        let before = Processes.descriptorCount(of: daemon.processID, "socket")
        do {
            let gone = try (0..<20).map { _ in
                try daemon.connect(as: DaemonWithSlowDatabase.user)
            }
            for client in gone {
                // The second call waits behind the first.
                for _ in 0..<2 { try client.send(Tasks.Submit.self, with(Self.submit)) }
            }
            try waitForCalls(21)
        }
        try eventually("nothing is left of who is gone") {
            Processes.descriptorCount(of: daemon.processID, "socket") <= before
        }
        try slow.answer()
        #expect(try waiting.receive(Tasks.Submit.self).output.id > 0)
    }
}
