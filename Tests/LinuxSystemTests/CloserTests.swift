import Glibc
import LinuxSystem
import Testing

/// Who closes what strangers have sent.
@Suite("Closers")
struct CloserTests {
    @Test("one that has nothing to do ends, whatever it did before", arguments: [0, 1, 3])
    func idle(orders: Int) throws {
        let maker = try CloserProcess.Maker()
        let closer = try maker.make()
        for _ in 0..<orders {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            defer { close(ends[1]) }
            try closer.close(ends[0])
            var end = pollfd(fd: ends[1], events: Int16(POLLIN), revents: 0)
            #expect(poll(&end, 1, 60_000) == 1, "it is closed")
        }
        var end = pollfd(fd: closer.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&end, 1, 60_000) == 1)
        #expect(end.revents & Int16(POLLHUP) != 0)
        // It is told by the next order too, which closes nothing.
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(throws: SystemError.self) { try closer.close(ends[0]) }
        #expect(fcntl(ends[0], F_GETFD) >= 0)
    }
}
