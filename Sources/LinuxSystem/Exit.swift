internal import CLinux

/// How a process ended.
package enum Exit: Equatable, Sendable {
    /// It exited by itself; 0 to 255.
    case status(Int32)
    /// A signal ended it.
    case signal(Int32)

    init(_ end: clx_exit) {
        self = end.was_signalled ? .signal(end.status) : .status(end.status)
    }

    /// Reaps a child of ours, without waiting (waitid(2), P_PIDFD).
    ///
    /// - Returns: `nil` while it runs.
    /// - Throws: ECHILD where somebody else has reaped it.
    static func reap(
        _ process: borrowing OwnedDescriptor
    ) throws(SystemError) -> Exit? {
        var end = clx_exit()
        let descriptor = process.rawValue
        let reaped = try systemCall("waitid") { clx_reap_pidfd(descriptor, &end) }
        return reaped == 0 ? nil : Exit(end)
    }
}
