internal import CSystemd
internal import Glibc

/// The loop of one thread, over sd-event(3).
///
/// Dispatches one source a turn, the highest ``EventPriority`` first. Handlers run on the thread
/// that calls ``run()``; nothing here may be touched from another. Handlers that capture the loop
/// keep it alive until they are removed.
package final class EventLoop {
    private let event: OpaquePointer

    /// Keeps the sources, which libsystemd knows by address only.
    private var sources: [ObjectIdentifier: EventSource] = [:]

    /// What a handler threw first.
    private var failure: (any Error)?

    /// - Throws: ``SystemdError`` as of sd_event_new(3): EMFILE, ENOMEM.
    package init() throws(SystemdError) {
        var event: OpaquePointer?
        try SystemdError.check(sd_event_new(&event), "sd_event_new")
        guard let event else {
            throw SystemdError(operation: "sd_event_new", errno: ENOMEM)
        }
        self.event = event
    }

    deinit {
        for source in sources.values {
            source.loop = nil
            source.remove()
        }
        sd_event_unref(event)
    }

    /// Dispatches sources until ``exit(_:)``, then those of ``addExit(priority:handler:)``.
    ///
    /// A loop runs once; after its end it stays ended.
    ///
    /// - Returns: the code given to ``exit(_:)``.
    /// - Throws: the first error that a handler threw, or ``SystemdError`` as of sd_event_loop(3).
    package func run() throws -> Int32 {
        let code = sd_event_loop(event)
        if let failure {
            throw failure
        }
        return try SystemdError.check(code, "sd_event_loop")
    }

    /// Ends ``run()`` after the present handler; repeated, the last code counts.
    ///
    /// - Parameter code: the exit status, 0 to 255.
    package func exit(_ code: Int32) {
        precondition((0...255).contains(code), "an exit status is 0 to 255")
        // Fails after the end only, when there is nothing left to end.
        sd_event_exit(event, code)
    }

    /// Lets the loop feed systemd's watchdog, at half the interval that the unit asks for.
    ///
    /// The loop is what does the work, so a loop that is stuck is restarted. Not sd_event_set_watchdog(3),
    /// which waits for a manager that stands still.
    ///
    /// - Parameter beat: tells the manager, and must not wait.
    /// - Returns: whether the unit asks for a watchdog at all (WatchdogSec=).
    /// - Throws: ``SystemdError`` as of sd_watchdog_enabled(3) and sd_event_add_time(3).
    @discardableResult
    package func enableWatchdog(
        _ beat: @escaping () throws -> Void
    ) throws(SystemdError) -> Bool {
        var interval: UInt64 = 0
        let isEnabled = try SystemdError.check(
            sd_watchdog_enabled(0, &interval), "sd_watchdog_enabled")
        guard isEnabled > 0 else { return false }
        let half = max(interval / 2, 1) * 1000
        var timer: TimerSource?
        timer = try addTimer(priority: .health) {
            try timer?.arm(atNanoseconds: EventLoop.monotonicNanoseconds() + half)
            try beat()
        }
        try timer?.arm(atNanoseconds: EventLoop.monotonicNanoseconds())
        return true
    }

    /// The time now, in ns of CLOCK_MONOTONIC: the clock that ``TimerSource`` counts on.
    package static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    // MARK: - Sources

    /// Calls `handler` while `descriptor` is in one of the states `events`.
    ///
    /// The descriptor stays the caller's; remove the source before it is closed.
    ///
    /// - Throws: ``SystemdError`` as of sd_event_add_io(3): EPERM for a file epoll cannot watch,
    ///   EEXIST where the loop watches the descriptor already.
    @discardableResult
    package func addDescriptor(
        _ descriptor: Int32,
        events: DescriptorEvents,
        priority: EventPriority,
        handler: @escaping (DescriptorEvents) throws -> Void
    ) throws(SystemdError) -> DescriptorSource {
        let source = DescriptorSource(handler: handler)
        try adopt(
            source,
            priority: priority.rawValue,
            operation: "sd_event_add_io",
            subject: "descriptor \(descriptor)"
        ) { event, pointer in
            sd_event_add_io(
                event,
                &pointer,
                descriptor,
                events.rawValue,
                { _, _, seen, userData in
                    DescriptorSource.from(userData)?.fire(DescriptorEvents(rawValue: seen)) ?? 0
                },
                source.userData
            )
        }
        return source
    }

    /// Adds a timer, disarmed.
    ///
    /// Its accuracy is 1 µs: for libsystemd 0 means 250 ms, and 1 ms is used up in full.
    ///
    /// - Throws: ``SystemdError`` as of sd_event_add_time(3).
    package func addTimer(
        on clock: TimerClock = .monotonic,
        priority: EventPriority = .timers,
        handler: @escaping () throws -> Void
    ) throws(SystemdError) -> TimerSource {
        let source = TimerSource(handler: handler)
        try adopt(source, priority: priority.rawValue, operation: "sd_event_add_time") {
            event,
            pointer in
            let added = sd_event_add_time(
                event,
                &pointer,
                clock.identifier,
                UInt64.max,
                1,
                { _, _, userData in TimerSource.from(userData)?.fire() ?? 0 },
                source.userData
            )
            // A new timer is armed, at the infinite instant given.
            return added < 0 ? added : sd_event_source_set_enabled(pointer, Int32(SD_EVENT_OFF))
        }
        return source
    }

    /// Blocks `signal` in the calling thread and calls `handler` for each receipt.
    ///
    /// Call it before other threads start: they inherit the mask, and a signal that one thread
    /// leaves open is taken there. Children inherit the mask as well; whoever starts them resets it.
    ///
    /// - Throws: ``SystemdError`` as of sd_event_add_signal(3): EINVAL for SIGKILL and SIGSTOP.
    @discardableResult
    package func addSignal(
        _ signal: Int32,
        handler: @escaping (SignalSource.Received) throws -> Void
    ) throws(SystemdError) -> SignalSource {
        let source = SignalSource(handler: handler)
        try adopt(
            source,
            priority: EventPriority.signals.rawValue,
            operation: "sd_event_add_signal",
            subject: "signal \(signal)"
        ) { event, pointer in
            sd_event_add_signal(
                event,
                &pointer,
                signal | Int32(SD_EVENT_SIGNAL_PROCMASK),
                { _, info, userData in
                    guard let info = info?.pointee else { return 0 }
                    let received = SignalSource.Received(
                        number: Int32(info.ssi_signo),
                        processID: Int32(bitPattern: info.ssi_pid),
                        userID: info.ssi_uid
                    )
                    return SignalSource.from(userData)?.fire(received) ?? 0
                },
                source.userData
            )
        }
        return source
    }

    /// Calls `handler` once on the next turn, and again after each ``DeferredSource/schedule()``.
    ///
    /// - Throws: ``SystemdError`` as of sd_event_add_defer(3).
    @discardableResult
    package func addDefer(
        priority: EventPriority,
        handler: @escaping () throws -> Void
    ) throws(SystemdError) -> DeferredSource {
        try addDeferred(sd_event_add_defer, "sd_event_add_defer", priority.rawValue, handler)
    }

    /// Calls `handler` after every turn: after each dispatched source and before the next one.
    ///
    /// The call is a turn of its own for libsystemd, with one look at epoll; what costs less than
    /// that is cheaper at the end of the handlers themselves.
    ///
    /// - Throws: ``SystemdError`` as of sd_event_add_post(3).
    @discardableResult
    package func addPost(
        handler: @escaping () throws -> Void
    ) throws(SystemdError) -> DeferredSource {
        try addDeferred(sd_event_add_post, "sd_event_add_post", EventPriority.afterTurn, handler)
    }

    /// Calls `handler` once when the loop ends, also when it ends with an error.
    ///
    /// - Throws: ``SystemdError`` as of sd_event_add_exit(3).
    @discardableResult
    package func addExit(
        priority: EventPriority = .background,
        handler: @escaping () throws -> Void
    ) throws(SystemdError) -> DeferredSource {
        try addDeferred(sd_event_add_exit, "sd_event_add_exit", priority.rawValue, handler)
    }

    private typealias AddDeferred = (
        OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, sd_event_handler_t?,
        UnsafeMutableRawPointer?
    ) -> Int32

    private func addDeferred(
        _ add: AddDeferred,
        _ operation: String,
        _ priority: Int64,
        _ handler: @escaping () throws -> Void
    ) throws(SystemdError) -> DeferredSource {
        let source = DeferredSource(handler: handler)
        try adopt(source, priority: priority, operation: operation) { event, pointer in
            add(
                event,
                &pointer,
                { _, userData in DeferredSource.from(userData)?.fire() ?? 0 },
                source.userData
            )
        }
        return source
    }

    // MARK: - What sources need

    /// Creates a source of libsystemd for `source` by calling `create`, ranks it, and keeps it.
    private func adopt(
        _ source: EventSource,
        priority: Int64,
        operation: String,
        subject: @autoclosure () -> String = "",
        create: (OpaquePointer, inout OpaquePointer?) -> Int32
    ) throws(SystemdError) {
        var pointer: OpaquePointer?
        try SystemdError.check(create(event, &pointer), operation, subject: subject())
        source.pointer = pointer
        source.loop = self
        sources[ObjectIdentifier(source)] = source
        let ranked = sd_event_source_set_priority(pointer, priority)
        if ranked < 0 {
            source.remove()
            try SystemdError.check(ranked, "sd_event_source_set_priority", subject: subject())
        }
    }

    /// Lets go of a removed source.
    func forget(_ source: EventSource) {
        sources[ObjectIdentifier(source)] = nil
    }

    /// Ends the loop with what a handler threw; the first error is kept.
    func fail(with error: any Error) {
        if failure == nil {
            failure = error
        }
        sd_event_exit(event, EXIT_FAILURE)
    }
}
