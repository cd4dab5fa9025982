import BudgetCore
import DaemonShell
import Glibc
import LinuxSystem
import Testing

@Suite("What confines the processes that connect")
struct PeerStandingTests {
    /// This process, as one that has connected.
    private func process() throws -> PeerProcess {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let peer = try PeerCredentials(of: ends[0])
        return try PeerProcess(of: ends[0], peer, connectedBy: BootTimeClock.now())
    }

    private func standing(at seconds: Int64) -> PeerStanding {
        PeerStanding(
            .success(ProcessConfinement()), at: instant(seconds), seenAt: seconds * 1_000_000_000)
    }

    private func instant(_ seconds: Int64) -> Instant {
        Instant(nanoseconds: seconds * 1_000_000_000)
    }

    @Test("what was seen of a process counts for a second, for all its connections from before")
    func looks() throws {
        var standings = PeerStandings()
        let process = try process()
        func isKnown(isWhole: Bool = false, acceptedAt: Int64 = 0, at seconds: Int64) -> Bool {
            standings.standing(
                of: process, isWhole: isWhole, acceptedAt: acceptedAt, at: instant(seconds)) != nil
        }
        #expect(!isKnown(at: 5))
        standings.learn(
            standing(at: 5), of: process.processID, isWhole: false, startedAt: 0, at: instant(5))
        #expect(isKnown(at: 5))
        #expect(!isKnown(isWhole: true, at: 5))
        // It may have confined itself, and then let another program connect.
        #expect(!isKnown(acceptedAt: 5_000_000_001, at: 5))
        #expect(!isKnown(at: 6))
    }

    @Test("no more are kept than can be, and old ones go")
    func bounds() throws {
        var standings = PeerStandings()
        for number in Int32(1)...1000 {
            standings.learn(
                standing(at: 0), of: number, isWhole: true, startedAt: 0, at: instant(0))
        }
        #expect(standings.count == 1000)
        standings.learn(standing(at: 1), of: 1, isWhole: true, startedAt: 0, at: instant(1))
        #expect(standings.count == 1)
        for number in Int32(1)...10_000 {
            standings.learn(
                standing(at: 1), of: number, isWhole: true, startedAt: 0, at: instant(1))
        }
        #expect(standings.count <= PeerStandings.countMax)
    }
}
