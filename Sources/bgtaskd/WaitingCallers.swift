internal import Glibc
internal import LinuxSystem
internal import Systemd

/// Those whose calls have started a daemon, or have come meanwhile.
///
/// Where it does not serve, they would wait for ever, and their connections would have the service manager start
/// it again and again.
struct WaitingCallers {
    /// Of which several can be kept.
    private final class Socket {
        let listener: UnixListener

        init(_ listener: consuming UnixListener) {
            self.listener = listener
        }
    }

    private let sockets: [Socket]

    /// - Parameter inherited: what the service manager passed; it stays the caller's.
    init(_ inherited: [ListenDescriptor]) {
        sockets = inherited.compactMap { socket in
            let copy = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { return nil }
            return try? Socket(UnixListener(inherited: OwnedDescriptor(copy)))
        }
    }

    /// Closes their connections, by which they know that nobody answers.
    func sendAway() {
        // What they have sent is let go of by a process that the service manager does not wait for.
        let closer: any DescriptorCloser = (try? CloserProcess.Maker()) ?? LeftOpen()
        for socket in sockets { socket.listener.sendAway(closer) }
    }

    /// Where there can be no such process, only those wait on who have sent a descriptor.
    private final class LeftOpen: DescriptorCloser {
        func close(_ descriptor: consuming OwnedDescriptor, of user: UInt32) {
            _ = descriptor.take()
        }

        func remove(_ path: String) {}
    }
}
