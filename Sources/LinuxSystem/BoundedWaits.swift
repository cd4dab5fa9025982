internal import CLinux

/// Bounds what a thread that serves others waits for in the kernel without having asked for it: to let go of what strangers have
/// mapped, when it has looked at one of their processes that ended meanwhile (`clinux_waits.h`).
package enum BoundedWaits {
    /// From now on nothing that a signal ends holds up the calling thread for much longer than 20 ms between ``enter()`` and
    /// ``leave()``.
    ///
    /// - Throws: as of timer_create(2): EAGAIN where there is no room for a timer.
    package static func begin() throws(SystemError) {
        let error = clx_bound_waits()
        guard error == 0 else { throw SystemError(operation: "timer_create", errno: error) }
    }

    /// The thread begins something that should not wait.
    package static func enter() { clx_waits_begin() }

    /// The thread is about to wait for what it has asked for.
    package static func leave() { clx_waits_end() }
}
