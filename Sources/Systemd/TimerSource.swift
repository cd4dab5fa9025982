internal import CSystemd
internal import Glibc

/// What a timer goes by (clock_gettime(2)).
package enum TimerClock: Sendable {
    /// CLOCK_MONOTONIC: it stands still while the machine sleeps.
    case monotonic
    /// CLOCK_BOOTTIME: it goes on meanwhile, and does not wake the machine.
    case bootTime

    var identifier: clockid_t {
        switch self {
        case .monotonic: CLOCK_MONOTONIC
        case .bootTime: CLOCK_BOOTTIME
        }
    }
}

/// A one-shot timer; see ``EventLoop/addTimer(priority:handler:)``.
package final class TimerSource: EventSource {
    private var handler: (() throws -> Void)?

    /// The instant libsystemd knows, in µs; `nil` while disarmed.
    private var armedAt: UInt64?

    init(handler: @escaping () throws -> Void) {
        self.handler = handler
    }

    /// Calls the handler once at `instant` or right after it, never before.
    ///
    /// Rounded up to the µs that sd-event counts in. A past instant fires on the next turn. Arming
    /// again moves the timer; to the same instant it costs nothing.
    ///
    /// - Parameter instant: ns of the timer's clock.
    /// - Throws: ``SystemdError`` as of sd_event_source_set_time(3): EINVAL after ``remove()``,
    ///   ESTALE after the loop's end.
    package func arm(atNanoseconds instant: UInt64) throws(SystemdError) {
        let microseconds = Self.microseconds(roundingUp: instant)
        guard armedAt != microseconds else { return }
        try SystemdError.check(
            sd_event_source_set_time(pointer, microseconds),
            "sd_event_source_set_time"
        )
        if armedAt == nil {
            try SystemdError.check(
                sd_event_source_set_enabled(pointer, Int32(SD_EVENT_ONESHOT)),
                "sd_event_source_set_enabled"
            )
        }
        armedAt = microseconds
    }

    /// Calls the handler once at `instant`, or before where the timer is armed for before.
    ///
    /// For a handler that looks anew at what is due. Deadlines that only move later then cost nothing: the timer fires
    /// early once, and is armed again.
    ///
    /// - Throws: as `arm(atNanoseconds:)`.
    package func arm(noLaterThanNanoseconds instant: UInt64) throws(SystemdError) {
        if let armedAt, armedAt <= Self.microseconds(roundingUp: instant) { return }
        try arm(atNanoseconds: instant)
    }

    /// Takes the instant back: no call until armed again.
    package func disarm() {
        guard armedAt != nil else { return }
        armedAt = nil
        // Switching a source off cannot fail, not even after the loop's end.
        sd_event_source_set_enabled(pointer, Int32(SD_EVENT_OFF))
    }

    /// The first µs that is not before `instant`, in ns.
    package static func microseconds(roundingUp instant: UInt64) -> UInt64 {
        instant / 1_000 + (instant.isMultiple(of: 1_000) ? 0 : 1)
    }

    func fire() -> Int32 {
        // One-shot: sd-event has switched the source off before it calls.
        armedAt = nil
        guard let handler else { return 0 }
        return dispatch(handler)
    }

    override func releaseHandler() {
        handler = nil
        armedAt = nil
    }
}
