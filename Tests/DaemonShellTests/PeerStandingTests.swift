import BudgetCore
import DaemonShell
import LinuxSystem
import Testing

@Suite("What confines the processes that connect")
struct PeerStandingTests {
    @Test("a process is looked at once a second for all its connections")
    func looks() throws {
        var standings = PeerStandings()
        var looks = 0
        func ask(
            _ number: Int32, isWhole: Bool = false, acceptedAt: Int64 = 0, at seconds: Int64
        ) {
            _ = standings.standing(
                of: PeerProcess.Identity(processID: number, startTime: 1), isWhole: isWhole,
                acceptedAt: acceptedAt, at: Instant(nanoseconds: seconds * 1_000_000_000),
                seenAt: seconds * 1_000_000_000
            ) { () throws(SystemError) in
                looks += 1
                return ProcessConfinement()
            }
        }
        for _ in 0..<1000 { ask(1, at: 0) }
        #expect(looks == 1)
        for number in Int32(1)...1000 { ask(number, at: 0) }
        #expect(looks == 1000)
        ask(1, isWhole: true, at: 0)
        #expect(looks == 1001)
        ask(1, at: 1)
        #expect(looks == 1002)
        #expect(standings.count == 1)
        // It may have confined itself, and then let another program connect.
        ask(1, acceptedAt: 1_000_000_001, at: 1)
        #expect(looks == 1003)
        for number in Int32(1)...10_000 { ask(number, at: 1) }
        #expect(standings.count <= PeerStandings.countMax)
    }

    @Test("the connections of one process share what was seen of it")
    func connections() throws {
        var standings = PeerStandings()
        let now = Instant(nanoseconds: 0)
        let clients = try (0..<20).map { _ in try Client.unconnected(countedFor: 1) }
        for client in clients {
            let standing = standings.standing(of: client, beyond: nil, at: now)
            #expect(throws: Never.self) { try standing.confinement.get() }
        }
        #expect(standings.count == 1)
    }
}
