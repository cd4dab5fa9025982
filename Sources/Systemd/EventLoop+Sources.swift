internal import CSystemd
internal import Glibc

extension EventLoop {
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
}
