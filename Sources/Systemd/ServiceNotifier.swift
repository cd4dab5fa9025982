internal import CSystemd

/// Tells the service manager how we are: sd_notify(3).
///
/// Does nothing where NOTIFY_SOCKET is unset, so that callers need not ask. The variable stays in
/// our environment, since sd-event's watchdog reads it there; ``ServiceEnvironment`` keeps it from
/// children.
package final class ServiceNotifier {
    /// The last status sent, so that an unchanged one costs nothing.
    private var status = ""

    /// PID 1 throws a datagram away that is over 4096 bytes; the rest is for the other assignments.
    private static let statusBytesMax = 3_072

    package init() {}

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

    private func send(_ assignments: [String], status: String?) throws(SystemdError) {
        var lines = assignments
        let clean = status.map(Self.clean)
        if let clean, clean != self.status {
            lines.append("STATUS=\(clean)")
        }
        guard !lines.isEmpty else { return }
        try SystemdError.check(sd_notify(0, lines.joined(separator: "\n")), "sd_notify")
        if let clean {
            self.status = clean
        }
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
