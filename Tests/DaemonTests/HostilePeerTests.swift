import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("A hostile user beside another one", .serialized, .enabled(if: geteuid() == 0))
struct HostilePeerTests {
    /// Somebody else's work, each step of which is answered.
    private func expectServed(_ daemon: DaemonProcess, pairs: Int = 100) throws {
        let client = try daemon.connect(as: .backup)
        for _ in 0..<pairs {
            let id = try client.begin()
            #expect(try client.ask(Tasks.End.self) { $0.id = id }.outcome == .completed)
        }
    }

    @Test("5,000 connections of one user leave the other served, and are refused beyond the limit")
    func connections() throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let count = min(5000, Int(clamping: limit.rlim_max) - 500)
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let flood = try (0..<count).map { _ in try RawConnection(daemon, as: .games) }
        try expectServed(daemon)
        try daemon.waitForLog("clientsPerOwnerMax")
        let root = try daemon.connect()
        try eventually("the rest is refused") {
            let open = try root.counter("connections") ?? 0
            let taken = try root.counter("connections_accepted_total") ?? 0
            return open <= 1024 + 2 && taken >= 1024
        }
        daemon.expectBounded()
        withExtendedLifetime(flood) {}
    }

    @Test("users who take all connections leave some to root, and the first to each other")
    func reserve() throws {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: "limits.clientsMax = 8")
        var flood: [VarlinkClient] = []
        // The connection that saw the daemon serve may still be counted.
        try eventually("eight are served") {
            let client = try daemon.connect(as: .games)
            if (try? client.ask(SystemdService.Ping.self)) != nil { flood.append(client) }
            return flood.count == 8
        }
        let first = try daemon.connect(as: .backup)
        try first.ask(SystemdService.Ping.self)
        let refused = try daemon.connect(as: .backup)
        #expect(throws: ClientError.self) { try refused.ask(SystemdService.Ping.self) }
        try first.ask(SystemdService.Ping.self)
        try daemon.connect().ask(SystemdService.Ping.self)
        try daemon.waitForLog("clientsMax (8)")
        withExtendedLifetime(flood) {}
    }

    @Test("1,000 halves of messages are bounded, and leave the other served")
    func halves() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let filler = String(repeating: "a", count: 150_000)
        let half = #"{"method":"org.bgtaskd.Tasks.Begin","parameters":{"name":""# + filler
        let flood = try (0..<1000).map { _ in try RawConnection(daemon, as: .games) }
        for connection in flood { connection.sendWithoutWaiting(half) }
        try expectServed(daemon)
        daemon.expectBounded()
        withExtendedLifetime(flood) {}
    }

    @Test("a message that is too long or too deep closes its own connection alone")
    func monsters() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let long = try RawConnection(daemon, as: .games)
        try long.send(String(repeating: " ", count: 17 << 20))
        #expect(try long.readToEnd().isEmpty)
        let deep = try RawConnection(daemon, as: .games)
        let depth = String(repeating: "[", count: 1000)
        try deep.send(frame: #"{"method":"a.b.C","parameters":{"a":\#(depth)"#)
        #expect(try deep.readToEnd().isEmpty)
        try daemon.waitForLog("a client broke the protocol", count: 2)
        try expectServed(daemon)
        daemon.expectBounded()
    }

    @Test("200 watchers that never read are cut off, in bounded memory")
    func watchers() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let watch = callText(Tasks.Watch.name, .object([]), flags: ",\"more\":true")
        let flood = try (0..<200).map { _ in try RawConnection(daemon, as: .games) }
        for connection in flood { try connection.send(frame: watch) }
        let busy = try daemon.connect(as: .games)
        for _ in 0..<10_000 {
            // Numbers are reserved on a disk that others are busy with too.
            var id: Int?
            try eventually("it begins") {
                do {
                    id = try busy.begin("a task with a name of some length")
                } catch let error as ClientError where "\(error)".contains("are reserved on disk") {
                    return false
                }
                return true
            }
            try busy.ask(Tasks.End.self) { $0.id = id ?? 0 }
        }
        try daemon.waitForLog("a client that did not read was disconnected")
        #expect(try daemon.connect().counter("slow_readers_total") == 200)
        try expectServed(daemon)
        daemon.expectBounded()
        withExtendedLifetime(flood) {}
    }

    @Test("an owner's answers that nobody reads are bounded together")
    func unreadAnswers() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let call = callText(Manager.Describe.name, .object([])) + "\0"
        let calls = String(repeating: call, count: 500)
        let flood = try (0..<500).map { _ in try RawConnection(daemon, as: .games) }
        for connection in flood { connection.sendWithoutWaiting(calls) }
        try expectServed(daemon)
        daemon.expectBounded()
        withExtendedLifetime(flood) {}
    }

    @Test("deep pipelines of many connections do not hold up another's single calls")
    func pipelines() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        // Calls that are short to send and long to answer.
        let call = callText(Manager.Describe.name, .object([]), flags: ",\"oneway\":true") + "\0"
        let perConnection = 1000
        let calls = String(repeating: call, count: perConnection)
        let flood = try (0..<100).map { _ in try RawConnection(daemon, as: .games) }
        for connection in flood { try connection.send(calls) }
        try expectServed(daemon, pairs: 10)
        let taken = try #require(try daemon.connect().counter("calls_total"))
        #expect(taken < flood.count * perConnection, "all were taken before the other was done")
    }
}
