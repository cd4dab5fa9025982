import Foundation
import TaskAPI
import TestKit
import Testing
import Varlink

/// A program of its own uses the library: tests that wait would keep its tasks from their threads.
@Suite("BackgroundTaskScheduler", .timeLimit(.minutes(15)))
struct BackgroundTaskSchedulerTests {
    private func start(_ scenario: String, at socket: String) throws -> Program {
        try Program(
            Programs.path("task-scheduler-check"), [scenario, socket], takesInput: true)
    }

    /// How many connections the daemon has besides the one that asks.
    private func connectionCount(_ client: VarlinkClient) throws -> Int {
        let counters = try client.call(Manager.Statistics.self, Empty()).counters
        return (counters.first { $0.name == "bgtaskd_connections" }?.value ?? 0) - 1
    }

    /// Asks until there are so many.
    private func waitForConnections(_ count: Int, _ client: VarlinkClient) throws {
        let isSo = try (0..<1_000_000).contains { _ in try connectionCount(client) == count }
        #expect(isSo)
    }

    private func client(_ daemon: Daemon) throws -> VarlinkClient {
        try VarlinkClient(address: daemon.socket, timeout: .seconds(300))
    }

    @Test("has a command run, and tells all about it until it is forgotten")
    func command() throws {
        let daemon = try Daemon()
        let text = try start("command", at: daemon.socket).waitForEnd().text
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.prefix(2) == ["1 true", "sh failed 3"])
        // The two streams are two pipes, and nothing orders them.
        #expect(
            Set(lines.dropFirst(2).prefix(2)) == ["stdout: [\"hello\"]", "stderr: [\"world\"]"])
        #expect(
            Array(lines.dropFirst(4)) == [
                "history [1] []", "again 3", "cleaned 0",
                "bgtaskd refuses this: NoSuchTask ({\"id\":1})",
            ], "\(text)")
    }

    @Test("tells why a command waits, and stops it")
    func queued() throws {
        let daemon = try Daemon()
        #expect(
            try start("queued", at: daemon.socket).waitForEnd().text == """
                listed true, pausedTask
                explained ["pausedTask"]
                in time false
                cancelled, cancelled by user \(getuid()): for a test

                """)
    }

    @Test("waits and watches on over a restart of the daemon, and says so")
    func restarted() throws {
        let daemon = try Daemon()
        let program = try start("restarted", at: daemon.socket)
        #expect(program.waitForOutput("present queued"))
        try waitForConnections(2, client(daemon))
        try daemon.restart()
        #expect(program.waitForOutput("reconnected\npresent queued\n"))
        var input = Tasks.Cancel.Input()
        input.id = 1
        _ = try client(daemon).call(Tasks.Cancel.self, input)
        #expect(program.waitForEnd().text == "ended ended\nwaited: cancelled\n")
    }

    @Test("ends what waits when its Swift task is cancelled, with its connection")
    func cancelled() throws {
        let daemon = try Daemon()
        let client = try client(daemon)
        let program = try start("cancelled", at: daemon.socket)
        #expect(program.waitForOutput("watches"))
        try waitForConnections(2, client)
        program.say("\n")
        #expect(
            program.waitForOutput(
                "wait: nobody waits any more\nwatch: success([\"present\"])\nleft\n"))
        try waitForConnections(0, client)
        program.say("\n")
        #expect(program.waitForEnd().status == 0)
    }

    @Test("two thousand calls at once share a connection")
    func many() throws {
        let daemon = try Daemon()
        var input = Tasks.Begin.Input()
        input.name = "shown"
        let client = try client(daemon)
        _ = try client.call(Tasks.Begin.self, input)
        #expect(try start("many", at: daemon.socket).waitForEnd().text == "shown 2000\n")
        let counters = try client.call(Manager.Statistics.self, Empty()).counters
        let accepted = try #require(
            counters.first { $0.name == "bgtaskd_connections_accepted_total" })
        #expect(accepted.value < 100)
    }

    @Test("a submission that may have been taken is not sent again")
    func submittedOnce() throws {
        let service = try DroppingService()
        let program = try start("submit", at: service.path)
        #expect(try service.takeCall().contains("org.bgtaskd.Tasks.Submit"))
        #expect(
            program.waitForEnd().text
                == "bgtaskd does not answer: the service closed the connection\n")
        #expect(!service.hasConnection)
    }

    @Test("a question whose answer did not come is asked again, once")
    func askedAgain() throws {
        let service = try DroppingService()
        let program = try start("show", at: service.path)
        #expect(try service.takeCall().contains("org.bgtaskd.Tasks.Show"))
        #expect(try service.takeCall().contains("org.bgtaskd.Tasks.Show"))
        #expect(
            program.waitForEnd().text
                == "bgtaskd does not answer: the service closed the connection\n")
        #expect(!service.hasConnection)
    }

    @Test("without a daemon it says so")
    func alone() throws {
        #expect(
            try start("submit", at: "/nonexistent/socket").waitForEnd().text
                == "no bgtaskd at /nonexistent/socket: No such file or directory\n")
    }
}

/// A service that takes a call and closes the connection without an answer.
private final class DroppingService {
    let path = NSTemporaryDirectory() + "bgtaskd-dropping-" + UUID().uuidString
    private let listener: Int32

    struct Failed: Error { let errno: Int32 }

    init() throws {
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(listener, 8) == 0 else { throw Failed(errno: errno) }
    }

    deinit {
        close(listener)
        unlink(path)
    }

    /// Waits for a connection and a call over it, and closes it.
    func takeCall() throws -> String {
        guard isReadable(within: 60_000) else { throw Failed(errno: ETIMEDOUT) }
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { throw Failed(errno: errno) }
        defer { close(connection) }
        var call: [UInt8] = []
        var byte: UInt8 = 0
        while read(connection, &byte, 1) == 1, byte != 0 { call.append(byte) }
        return String(decoding: call, as: UTF8.self)
    }

    /// Whether somebody has connected whose call was not taken.
    var hasConnection: Bool { isReadable(within: 0) }

    private func isReadable(within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, milliseconds) == 1
    }
}
