internal import CSystemd

/// Something that an ``EventLoop`` waits for.
///
/// The loop keeps a source alive until ``remove()``, so a caller may drop the handle at once.
package class EventSource {
    /// The sd_event_source; `nil` once removed.
    var pointer: OpaquePointer?

    /// The loop that dispatches this source; gone with the loop.
    weak var loop: EventLoop?

    init() {}

    /// Whether ``remove()`` was called, or the loop is gone.
    package var isRemoved: Bool { pointer == nil }

    /// Ends the watch: the handler is never called again, and what it captured is released.
    ///
    /// Safe inside the source's own handler and inside another's, and safe to repeat. A watched
    /// descriptor stays open; close it after this call, not before (epoll(7)).
    package func remove() {
        guard let pointer else { return }
        let loop = self.loop
        self.pointer = nil
        sd_event_source_disable_unref(pointer)
        releaseHandler()
        loop?.forget(self)
    }

    /// Drops the closure, so that no cycle survives the removal.
    func releaseHandler() {}

    /// What libsystemd hands back to the callback; valid while the loop knows the source.
    var userData: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// The source behind a callback's user data.
    static func from(_ userData: UnsafeMutableRawPointer?) -> Self? {
        userData.map { Unmanaged<Self>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Calls `body`; what it throws ends the loop with that error.
    ///
    /// - Returns: 0 always, since a negative number would only switch the source off.
    func dispatch(_ body: () throws -> Void) -> Int32 {
        let loop = self.loop
        do {
            try body()
        } catch {
            loop?.fail(with: error)
        }
        return 0
    }
}

/// A descriptor of the loop; see ``EventLoop/addDescriptor(_:events:priority:handler:)``.
package final class DescriptorSource: EventSource {
    private var handler: ((DescriptorEvents) throws -> Void)?

    init(handler: @escaping (DescriptorEvents) throws -> Void) {
        self.handler = handler
    }

    /// Watches for `events` from now on; an empty set leaves errors and hang-ups only.
    ///
    /// - Throws: ``SystemdError`` as of sd_event_source_set_io_events(3).
    package func watch(for events: DescriptorEvents) throws(SystemdError) {
        try SystemdError.check(
            sd_event_source_set_io_events(pointer, events.rawValue),
            "sd_event_source_set_io_events"
        )
    }

    func fire(_ events: DescriptorEvents) -> Int32 {
        guard let handler else { return 0 }
        return dispatch { try handler(events) }
    }

    override func releaseHandler() {
        handler = nil
    }
}

/// A signal of the loop; see ``EventLoop/addSignal(_:handler:)``.
package final class SignalSource: EventSource {
    /// What the kernel says about a received signal (signalfd(2)).
    package struct Received: Sendable, Equatable {
        package let number: Int32
        /// The sender's process, or 0 where the kernel sent it.
        package let processID: Int32
        package let userID: UInt32
    }

    private var handler: ((Received) throws -> Void)?

    init(handler: @escaping (Received) throws -> Void) {
        self.handler = handler
    }

    func fire(_ received: Received) -> Int32 {
        guard let handler else { return 0 }
        return dispatch { try handler(received) }
    }

    override func releaseHandler() {
        handler = nil
    }
}

/// Work without an event of its own: after a turn, at the exit, or on the next turn.
package final class DeferredSource: EventSource {
    private var handler: (() throws -> Void)?

    init(handler: @escaping () throws -> Void) {
        self.handler = handler
    }

    /// Asks for one more call on the next turn; of use for ``EventLoop/addDefer(priority:handler:)``.
    ///
    /// Several requests before that turn make one call.
    ///
    /// - Throws: ``SystemdError`` as of sd_event_source_set_enabled(3), such as ESTALE after the end.
    package func schedule() throws(SystemdError) {
        try SystemdError.check(
            sd_event_source_set_enabled(pointer, Int32(SD_EVENT_ONESHOT)),
            "sd_event_source_set_enabled"
        )
    }

    func fire() -> Int32 {
        guard let handler else { return 0 }
        return dispatch(handler)
    }

    override func releaseHandler() {
        handler = nil
    }
}
