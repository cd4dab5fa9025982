import Glibc
import TaskAPI
import Testing
import Varlink

/// Whoever has the same done to a command again and again keeps nobody else's from starting.
@Suite(
    "A flood of orders",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct OrderFloodTests {
    /// In each round so many more than may wait for an executor.
    private static let (rounds, pairs) = (5, 10_000)

    /// Calls that pause and resume a command, answered or not.
    private static func calls(_ id: Int) -> String {
        [true, false].map { isPaused in
            #"{"method":"org.bgtaskd.Tasks.Change","parameters":{"id":\#(id),"paused":\#(isPaused)},"oneway":true}"#
                + "\0"
        }.joined()
    }

    @Test(
        "of pauses and signals keeps nobody's command from starting",
        arguments: ContainmentMode.available)
    func pauses(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let client = try daemon.connect(as: .games)
        let other = try daemon.connect(as: .backup)
        let id = try client.submit(["sleep", "1000"])
        try eventually("it runs") { try client.show(id).pid != nil }
        let socket = try TestUser.games.connect(to: daemon.socketPath)
        let flood = RawConnection(adopting: socket)
        let calls = Array(Self.calls(id).utf8)
        for _ in 0..<Self.rounds {
            for _ in 0..<Self.pairs { try #require(try flood.send(calls)) }
            #expect(try other.ended(other.submit(["true"])).outcome == .completed)
        }
        #expect(!daemon.log.contains("is behind with its orders"), "\(daemon.log)")
        #expect(try client.show(id).state == .running)
    }
}
