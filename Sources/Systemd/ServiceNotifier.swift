internal import CSystemd
internal import Glibc

/// Tells the service manager how we are, in the words of sd_notify(3).
///
/// Does nothing where NOTIFY_SOCKET is unset, so that callers need not ask. Nothing waits for a manager
/// that stands still: what finds no room is kept, and goes with the next message.
package final class ServiceNotifier {
    private var socket: ManagerSocket?
    /// Assignments that found no room, the oldest first; each name once.
    private var unsent: [String] = []

    /// Whether something is to be sent again, by ``flush()`` or with the next message.
    package var hasUnsent: Bool { !unsent.isEmpty }

    /// The last status sent, so that an unchanged one costs nothing.
    private var status = ""

    /// PID 1 throws a datagram away that is over 4096 bytes; the rest is for the other assignments.
    private static let statusBytesMax = 3_072

    private let path: String?

    /// - Parameter path: the manager's socket, as NOTIFY_SOCKET names it; `nil`: there is none.
    package init(path: String? = getenv("NOTIFY_SOCKET").map { String(cString: $0) }) {
        self.path = path
    }

    /// Says that the service does its work: after the start, and after ``reloading()``.
    ///
    /// - Throws: ``SystemdError`` as of sd_notify(3).
    package func ready(status: String? = nil) throws(SystemdError) {
        try send(["READY=1"], status: status)
    }

    /// Replaces the sentence that `systemctl status` shows.
    ///
    /// Control characters become spaces, since a newline would begin another assignment; what is
    /// over 3072 bytes is cut.
    ///
    /// - Throws: ``SystemdError`` as of sd_notify(3).
    package func status(_ status: String) throws(SystemdError) {
        try send([], status: status)
    }

    /// Says that the service begins to end.
    ///
    /// - Throws: ``SystemdError`` as of sd_notify(3).
    package func stopping(status: String? = nil) throws(SystemdError) {
        try send(["STOPPING=1"], status: status)
    }

    /// Says that the settings are being read again; ``ready(status:)`` ends it.
    ///
    /// - Throws: ``SystemdError`` as of sd_notify(3).
    package func reloading(status: String? = nil) throws(SystemdError) {
        let now = EventLoop.monotonicNanoseconds() / 1_000
        try send(["RELOADING=1", "MONOTONIC_USEC=\(now)"], status: status)
    }

    /// Asks for the present start or stop to end at most `microseconds` from now.
    ///
    /// Must come before the limit that it extends, and again before its own.
    ///
    /// - Throws: ``SystemdError`` as of sd_notify(3).
    package func extendTimeout(microseconds: UInt64) throws(SystemdError) {
        try send(["EXTEND_TIMEOUT_USEC=\(microseconds)"], status: nil)
    }

    /// Says that the service is alive: twice in each interval of the unit's WatchdogSec=. Where it finds no
    /// room it is not kept, since the next beat is as good.
    ///
    /// - Throws: ``SystemdError`` as of sd_notify(3).
    package func watchdog() throws(SystemdError) {
        _ = try managerSocket()?.send("WATCHDOG=1")
    }

    /// Sends again what found no room.
    ///
    /// - Throws: ``SystemdError`` as of sd_notify(3).
    package func flush() throws(SystemdError) {
        try send([], status: nil)
    }

    private func send(_ assignments: [String], status: String?) throws(SystemdError) {
        for assignment in assignments { keep(assignment) }
        if let status = status.map(Self.clean), status != self.status {
            keep("STATUS=\(status)")
            self.status = status
        }
        guard hasUnsent else { return }
        let lines = unsent
        unsent = []
        guard let socket = try managerSocket() else { return }
        // One that fails is not sent again: nobody listens there.
        if case .full = try socket.send(lines.joined(separator: "\n")) { unsent = lines }
    }

    /// A newer value takes the place of one that was not sent.
    private func keep(_ assignment: String) {
        let name = assignment.prefix { $0 != "=" }
        unsent.removeAll { $0.prefix { $0 != "=" } == name }
        if assignment == "READY=1" {
            // Of a reload that was never told there is no end to tell.
            unsent.removeAll { $0.hasPrefix("RELOADING=") || $0.hasPrefix("MONOTONIC_USEC=") }
        }
        unsent.append(assignment)
    }

    private func managerSocket() throws(SystemdError) -> ManagerSocket? {
        if socket == nil, let path { socket = try ManagerSocket(path: path) }
        return socket
    }

    /// One line without control characters, cut between two characters.
    static func clean(_ status: String) -> String {
        var clean = String.UnicodeScalarView()
        var bytes = 0
        for scalar in status.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= statusBytesMax else { break }
            clean.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        return String(clean)
    }
}
