import CTestUsers
import Glibc
import LinuxSystem
import Testing

/// The kernel lets go of what strangers have in whoever has it last.
@Suite("Waits that nobody has asked for", .timeLimit(.minutes(1)))
struct BoundedWaitsTests {
    @Test("a close that would linger for ten minutes ends soon")
    func lingering() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let (sender, receiver) = (ends[0], ends[1])
        defer { close(sender) }
        let sent = test_send_lingering(sender, nil, "x", 1, 0)
        try #require(sent >= 0)
        defer { close(sent) }
        let areOpen = await withCheckedContinuation { continuation in
            let closing: @Sendable () -> Void = {
                var areOpen: [Bool] = []
                try? withBoundedWaits { () throws(SystemError) in
                    try? withBoundedWaits { () throws(SystemError) in _ = close(receiver) }
                    areOpen.append(Self.isOpen())
                }
                areOpen.append(Self.isOpen())
                continuation.resume(returning: areOpen)
            }
            if (try? startThread(closing)) == nil { continuation.resume(returning: []) }
        }
        // Outside no signal comes, which would interrupt something else.
        #expect(areOpen == [true, false])
    }

    /// Whether the signal that ends waits reaches this thread.
    private static func isOpen() -> Bool {
        let status = (try? contents(of: "/proc/thread-self/status")) ?? ""
        let blocked = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
        guard let digits = blocked?.split(separator: "\t").last,
            let mask = UInt64(digits, radix: 16)
        else { return false }
        return mask & 1 << (UInt64(SIGURG) - 1) == 0
    }
}
