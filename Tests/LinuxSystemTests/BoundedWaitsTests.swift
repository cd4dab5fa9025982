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
        let isBounded = await withCheckedContinuation { continuation in
            let closing: @Sendable () -> Void = {
                let isBounded = (try? BoundedWaits.begin()) != nil
                BoundedWaits.enter()
                close(receiver)
                BoundedWaits.leave()
                continuation.resume(returning: isBounded)
            }
            if (try? startThread(closing)) == nil { continuation.resume(returning: false) }
        }
        #expect(isBounded)
    }
}
