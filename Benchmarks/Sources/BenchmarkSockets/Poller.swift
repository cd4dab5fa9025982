internal import CEpoll
internal import Glibc

/// Waits for any of many sockets to have something to read; kept until the program ends.
public struct Poller {
    private let epoll: Int32
    private let events: UnsafeMutableBufferPointer<epoll_event>

    /// - Parameter batch: how many sockets one wait names at most.
    public init(batch: Int) throws {
        epoll = epoll_create1(0)
        guard epoll >= 0 else { throw SocketError(failed: "epoll_create") }
        events = .allocate(capacity: batch)
        events.initialize(repeating: epoll_event())
    }

    /// Watches a socket until it is closed; `token` names it.
    public func add(_ descriptor: Int32, token: Int) throws {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = UInt64(token)
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            throw SocketError(failed: "epoll_ctl")
        }
    }

    /// Waits so many milliseconds at most, and tells how many sockets are ready.
    public func wait(milliseconds: Int32) throws -> Int {
        let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)
        guard count >= 0 else {
            if errno == EINTR { return 0 }
            throw SocketError(failed: "epoll_wait")
        }
        return Int(count)
    }

    /// The token of a socket that the last wait found.
    public func token(at index: Int) -> Int {
        Int(events[index].data.u64)
    }
}
