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
        try setStatusFlags { $0 | O_NONBLOCK }
    }

    /// Makes reads and writes wait. (Of the open file, as above.)
    package func setBlocking() throws(SystemError) {
        try setStatusFlags { $0 & ~O_NONBLOCK }
    }

    private func setStatusFlags(_ change: (Int32) -> Int32) throws(SystemError) {
        let number = rawValue
        let flags = try systemCall("fcntl", "\(number)") { fcntl(number, F_GETFL) }
        let changed = change(flags)
        try systemCall("fcntl", "\(number)") { fcntl(number, F_SETFL, changed) }
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
                // What is said of processes is looked up where nobody has mounted anything (`clinux_proc.h`).
                folder == nil && path.hasPrefix("/proc/")
                    ? clx_proc_open(path, flags)
                    : openat(folder ?? AT_FDCWD, path, flags | O_CLOEXEC, mode)
            }
        )
    }

    /// Opens a folder for paths below it alone (O_PATH).
    ///
    /// - Throws: ELOOP where a link is on the way and none may be.
    package static func folder(
        _ path: String, followsLinks: Bool
    ) throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(try systemCall("open", path) { clx_open_folder(path, followsLinks) })
    }

    /// An eventfd(2): non-blocking, close-on-exec, its counter at 0.
    package static func event() throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(
            try systemCall("eventfd") {
                eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            }
        )
    }

    /// Adds one to the counter of an eventfd(2), which makes it readable.
    package func countEvent() {
        var one: UInt64 = 1
        // Fails on a full counter only, and that is readable.
        _ = Glibc.write(rawValue, &one, MemoryLayout<UInt64>.size)
    }

    /// Takes the counter of an eventfd(2), or what has expired of a timer, back to 0; waits for an event where the descriptor does.
    package func takeEvents() {
        var count: UInt64 = 0
        _ = Glibc.read(rawValue, &count, MemoryLayout<UInt64>.size)
    }

    /// A timer (timerfd_create(2)) on CLOCK_MONOTONIC: non-blocking, close-on-exec, not armed.
    static func timer() throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(
            try systemCall("timerfd_create") {
                timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
            })
    }

    /// Has a timer expire once, after so long, whatever was to come before; 0: not at all. What was expired and not taken is gone.
    func arm(nanoseconds: Int) {
        var times = itimerspec()
        times.it_value.tv_sec = nanoseconds / 1_000_000_000
        times.it_value.tv_nsec = nanoseconds % 1_000_000_000
        timerfd_settime(rawValue, 0, &times, nil)
    }

    /// Waits for the descriptor to be readable, so long at most.
    ///
    /// - Returns: whether it is.
    package func waitReadable(milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, milliseconds) > 0
    }

    /// Waits for this descriptor or another to be readable, so long at most; -1: however long it takes.
    package func waitReadable(or other: Int32?, milliseconds: Int32) throws(SystemError) {
        // poll(2) passes over negative ones.
        var wanted = [rawValue, other ?? -1].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        try systemCall("poll") { poll(&wanted, nfds_t(wanted.count), milliseconds) }
    }

    /// A pidfd(2) of a running process; readable when it has ended.
    package static func process(_ processID: Int32) throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(
            try systemCall("pidfd_open", "\(processID)") { clx_pidfd_open(processID) }
        )
    }
}
