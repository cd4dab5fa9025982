internal import CSystemd
internal import Glibc

/// A connection of sd-bus(3) that never waits by itself: whoever holds it drives it.
package final class BusConnection {
    private let bus: OpaquePointer

    /// - Parameter pointer: a reference that is given up to this value.
    init(_ pointer: OpaquePointer) {
        bus = pointer
    }

    deinit {
        // Without sd_bus_flush(3), which may wait.
        sd_bus_close_unref(bus)
    }

    /// Whether it is connected, or on the way there.
    var isOpen: Bool { sd_bus_is_open(bus) > 0 }

    /// Whether the other side has accepted us, so that messages are sent.
    var isReady: Bool { sd_bus_is_ready(bus) > 0 }

    /// A call of a method, without its parameters.
    func newCall(
        of method: String, at path: String, interface: String
    ) throws(SystemdError) -> BusMessage {
        var message: OpaquePointer?
        try SystemdError.check(
            sd_bus_message_new_method_call(
                bus, &message, "org.freedesktop.systemd1", path, interface, method),
            "sd_bus_message_new_method_call")
        guard let message else {
            throw SystemdError(operation: "sd_bus_message_new_method_call", errno: ENOMEM)
        }
        return BusMessage(message)
    }

    /// Puts a call into the queue, without a limit of time.
    ///
    /// - Parameter handler: called with the answer from inside ``process()``, unless what is returned is
    ///   gone by then. It must not close the connection.
    func send(
        _ call: BusMessage, handler: @escaping (ReceivedMessage) -> Void
    ) throws(SystemdError) -> BusSlot {
        let slot = BusSlot(handler)
        try SystemdError.check(
            sd_bus_call_async(
                bus, &slot.pointer, call.pointer,
                { message, userData, _ in BusSlot.receive(message, userData) },
                slot.userData, UInt64.max),
            "sd_bus_call_async")
        return slot
    }

    /// Calls `handler` for each signal of the service manager's own object.
    func watch(
        _ signal: String, handler: @escaping (ReceivedMessage) -> Void
    ) throws(SystemdError) -> BusSlot {
        let slot = BusSlot(handler)
        try SystemdError.check(
            sd_bus_match_signal_async(
                bus, &slot.pointer, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                "org.freedesktop.systemd1.Manager", signal,
                { message, userData, _ in BusSlot.receive(message, userData) },
                nil, slot.userData),
            "sd_bus_match_signal_async")
        return slot
    }

    /// Does the next thing that there is to do, of connecting, writing and reading.
    ///
    /// - Returns: whether there was anything.
    func process() throws(SystemdError) -> Bool {
        try SystemdError.check(sd_bus_process(bus, nil), "sd_bus_process") > 0
    }

    /// Waits for something to do, at most until `instant`, in ns of CLOCK_MONOTONIC.
    func wait(untilNanoseconds instant: UInt64) throws(SystemdError) {
        let now = EventLoop.monotonicNanoseconds()
        guard now < instant else { return }
        let waited = sd_bus_wait(bus, (instant - now) / 1_000 + 1)
        if waited != -EINTR { try SystemdError.check(waited, "sd_bus_wait") }
    }

    // MARK: - For a loop

    var descriptor: Int32 { sd_bus_get_fd(bus) }

    /// What ``descriptor`` is to be watched for until the next ``process()``.
    var events: DescriptorEvents {
        DescriptorEvents(rawValue: UInt32(clamping: max(0, sd_bus_get_events(bus))))
    }

    /// When ``process()`` is due, whatever the descriptor says; in ns of CLOCK_MONOTONIC.
    var instant: UInt64 {
        var microseconds = UInt64.max
        guard sd_bus_get_timeout(bus, &microseconds) >= 0 else { return UInt64.max }
        let (nanoseconds, isTooLarge) = microseconds.multipliedReportingOverflow(by: 1_000)
        return isTooLarge ? UInt64.max : nanoseconds
    }
}

/// What waits for messages of a ``BusConnection``; its handler is not called after its end.
final class BusSlot {
    fileprivate var pointer: OpaquePointer?
    private let handler: (ReceivedMessage) -> Void

    fileprivate init(_ handler: @escaping (ReceivedMessage) -> Void) {
        self.handler = handler
    }

    deinit {
        // It holds the connection as well: a slot that is left behind would leak that too.
        sd_bus_slot_unref(pointer)
    }

    fileprivate var userData: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    fileprivate static func receive(
        _ message: OpaquePointer?, _ userData: UnsafeMutableRawPointer?
    ) -> Int32 {
        guard let message, let userData else { return 0 }
        // Keeps the object alive while the handler runs, which may drop the last other reference.
        let slot = Unmanaged<BusSlot>.fromOpaque(userData).takeUnretainedValue()
        slot.handler(ReceivedMessage(pointer: message))
        return 0
    }
}

extension EventLoop {
    /// The instant that comes `limit` from now, in ns of CLOCK_MONOTONIC.
    static func monotonicNanoseconds(after limit: Duration) -> UInt64 {
        let (seconds, attoseconds) = limit.components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !isTooLong else { return UInt64.max }
        let nanoseconds = UInt64(clamping: whole) + UInt64(clamping: attoseconds / 1_000_000_000)
        return monotonicNanoseconds() + nanoseconds
    }
}
