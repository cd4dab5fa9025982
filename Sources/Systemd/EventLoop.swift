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

    // MARK: - What sources need

    /// Creates a source of libsystemd for `source` by calling `create`, ranks it, and keeps it.
    func adopt(
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
