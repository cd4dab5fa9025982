internal import CLinux
internal import Glibc

/// A file descriptor that is closed when its owner lets go of it.
package struct OwnedDescriptor: ~Copyable {
    /// The number, borrowed: valid for as long as this value lives.
    package let rawValue: Int32

    /// Takes over an open descriptor.
    package init(_ rawValue: Int32) {
        self.rawValue = rawValue
    }

    deinit {
        _ = Glibc.close(rawValue)
    }

    /// Gives the descriptor away; whoever takes it closes it.
    package consuming func take() -> Int32 {
        let number = rawValue
        discard self
        return number
    }

    /// A second descriptor of the same open file; close-on-exec.
    package func duplicate() throws(SystemError) -> OwnedDescriptor {
        let number = rawValue
        return OwnedDescriptor(
            try systemCall("dup", "\(number)") { fcntl(number, F_DUPFD_CLOEXEC, 0) }
        )
    }

    /// Makes reads and writes answer EAGAIN where they would wait. (Of the open file, so that
    /// it is true of every duplicate as well.)
    package func setNonBlocking() throws(SystemError) {
        let number = rawValue
        let flags = try systemCall("fcntl", "\(number)") { fcntl(number, F_GETFL) }
        try systemCall("fcntl", "\(number)") { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    }

    /// Keeps the descriptor from programs that this process executes.
    package func setCloseOnExec() throws(SystemError) {
        let number = rawValue
        try systemCall("fcntl", "\(number)") { fcntl(number, F_SETFD, FD_CLOEXEC) }
    }
}

extension OwnedDescriptor {
    /// Opens a file, close-on-exec. `flags` and `mode` as in open(2).
    package static func open(
        _ path: String,
        flags: Int32,
        mode: UInt32 = 0,
        relativeTo folder: Int32? = nil
    ) throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(
            try systemCall("open", path) {
                openat(folder ?? AT_FDCWD, path, flags | O_CLOEXEC, mode)
            }
        )
    }

    /// An eventfd(2): non-blocking, close-on-exec, its counter at 0.
    package static func event() throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(
            try systemCall("eventfd") {
                eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            }
        )
    }

    /// A pidfd(2) of a running process; readable when it has ended.
    package static func process(_ processID: Int32) throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(
            try systemCall("pidfd_open", "\(processID)") { clx_pidfd_open(processID) }
        )
    }
}
