internal import Glibc

/// A call into libsystemd or the C library that failed.
package struct SystemdError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The function that failed, such as `sd_event_add_io`.
    package let operation: String

    /// The positive errno(3) number.
    package let errno: Int32

    /// What the call was about, such as "descriptor 7"; empty where the operation says it all.
    package let subject: String

    package init(operation: String, errno: Int32, subject: String = "") {
        self.operation = operation
        self.errno = errno
        self.subject = subject
    }

    package var description: String {
        let reason = strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
        return subject.isEmpty ? "\(operation): \(reason)" : "\(operation) (\(subject)): \(reason)"
    }

    /// Throws where libsystemd answered with a negative errno.
    ///
    /// - Returns: `result`, which is 0 or more.
    @discardableResult
    static func check(
        _ result: Int32,
        _ operation: String,
        subject: @autoclosure () -> String = ""
    ) throws(SystemdError) -> Int32 {
        guard result < 0 else { return result }
        throw SystemdError(operation: operation, errno: -result, subject: subject())
    }
}
