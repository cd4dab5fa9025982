internal import CLinux
internal import Glibc

/// A system call that failed: which, why, and on what.
package struct SystemError: Error, Equatable, Sendable {
    /// What was tried, in the word of the manual page: `open`, `bind`.
    package let operation: String
    /// The errno, as in errno(3).
    package let errno: Int32
    /// The path, name or number it was tried on; empty where there is none to name.
    package let subject: String
    /// Plain words that say more than the errno does, or `nil`.
    package let detail: String?

    package init(operation: String, errno: Int32, subject: String = "", detail: String? = nil) {
        self.operation = operation
        self.errno = errno
        self.subject = subject
        self.detail = detail
    }

    /// Whether there was no room: for a process or a thread, a descriptor, memory, a control group.
    package var isShortage: Bool {
        [EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, ENOBUFS].contains(errno)
    }
}

extension SystemError: CustomStringConvertible {
    /// `open /run/x: Permission denied`.
    package var description: String {
        let attempt = subject.isEmpty ? operation : "\(operation) \(subject)"
        return "\(attempt): \(detail ?? errorText(errno))"
    }
}

/// What strerror(3) says of an errno.
package func errorText(_ errno: Int32) -> String {
    String(cString: clx_error_text(errno))
}
