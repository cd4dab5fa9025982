internal import CLinux
internal import Glibc

/// What to wait for on a descriptor, or what happened on it (epoll_ctl(2)).
@usableFromInline
package struct Readiness: OptionSet, Equatable, Sendable {
    @usableFromInline
    package let rawValue: UInt32

    // Inlinable, because each event is asked and asks for several.
    @inlinable
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    @inlinable
    package static func == (one: Readiness, other: Readiness) -> Bool {
        one.rawValue == other.rawValue
    }

    @inlinable
    package func isDisjoint(with other: Readiness) -> Bool { rawValue & other.rawValue == 0 }

    package static let input = Readiness(rawValue: EPOLLIN.rawValue)
    package static let output = Readiness(rawValue: EPOLLOUT.rawValue)
    /// Told when it begins, and not again for as long as it lasts.
    package static let onceEach = Readiness(rawValue: EPOLLET.rawValue)
    /// An exceptional condition: a change of a cgroup's file, a pressure trigger.
    package static let priority = Readiness(rawValue: EPOLLPRI.rawValue)
    /// The peer has shut its writing down.
    package static let peerClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)
    /// Always reported, asked for or not.
    package static let error = Readiness(rawValue: EPOLLERR.rawValue)
    /// Always reported, asked for or not.
    package static let hangUp = Readiness(rawValue: EPOLLHUP.rawValue)
}

/// A reused array of events. `count` says how many of the last `poll` it holds.
package struct EpollBatch: ~Copyable {
    fileprivate let buffer: UnsafeMutableBufferPointer<epoll_event>
    package fileprivate(set) var count = 0

    /// - Parameter capacity: how many events one poll takes at most; 1 or more.
    package init(capacity: Int) {
        buffer = .allocate(capacity: max(capacity, 1))
        buffer.initialize(repeating: epoll_event())
    }

    deinit {
        buffer.deallocate()
    }

    /// The token that the descriptor was added with, and what is ready on it.
    package subscript(index: Int) -> (token: UInt64, readiness: Readiness) {
        precondition(index < count, "the batch has no such event")
        let event = buffer[index]
        return (event.data.u64, Readiness(rawValue: event.events))
    }
}

/// An epoll(7) instance, level-triggered.
package struct Epoll: ~Copyable {
    private let instance: OwnedDescriptor

    package init() throws(SystemError) {
        instance = OwnedDescriptor(
            try systemCall("epoll_create") { epoll_create1(Int32(EPOLL_CLOEXEC)) }
        )
    }

    /// Readable while events are pending, so that it can be a source of another loop.
    package var descriptor: Int32 { instance.rawValue }

    /// Watches a descriptor until it is removed or the last duplicate of it is closed.
    package func add(
        _ descriptor: Int32,
        _ readiness: Readiness,
        token: UInt64
    ) throws(SystemError) {
        try control(EPOLL_CTL_ADD, descriptor, readiness, token)
    }

    /// Changes what is waited for on a descriptor, and its token.
    package func modify(
        _ descriptor: Int32,
        _ readiness: Readiness,
        token: UInt64
    ) throws(SystemError) {
        try control(EPOLL_CTL_MOD, descriptor, readiness, token)
    }

    /// Ends the watch. Events of it that are in a batch already stay there.
    package func remove(_ descriptor: Int32) throws(SystemError) {
        try control(EPOLL_CTL_DEL, descriptor, [], 0)
    }

    /// Fetches what is ready now, without waiting.
    package func poll(into batch: inout EpollBatch) throws(SystemError) {
        try wait(into: &batch, milliseconds: 0)
    }

    /// Waits until something is ready or the time is over; -1 waits without limit.
    package func wait(into batch: inout EpollBatch, milliseconds: Int32) throws(SystemError) {
        let epoll = instance.rawValue
        let buffer = batch.buffer
        batch.count = 0
        batch.count = Int(
            try systemCall("epoll_wait") {
                epoll_wait(epoll, buffer.baseAddress, Int32(buffer.count), milliseconds)
            }
        )
    }

    private func control(
        _ operation: Int32,
        _ descriptor: Int32,
        _ readiness: Readiness,
        _ token: UInt64
    ) throws(SystemError) {
        var event = epoll_event()
        event.events = readiness.rawValue
        event.data.u64 = token
        let epoll = instance.rawValue
        try systemCall("epoll_ctl", "\(descriptor)") {
            epoll_ctl(epoll, operation, descriptor, &event)
        }
    }
}
