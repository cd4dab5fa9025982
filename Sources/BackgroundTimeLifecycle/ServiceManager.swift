#if ServiceLifecycle
    internal import Glibc

    /// systemd, where it has started this process and listens (sd_notify(3)).
    enum ServiceManager {
        /// Asks it to wait so long from now before it kills this process.
        static func extendTimeout(by time: Duration) {
            let (seconds, attoseconds) = time.components
            let (microseconds, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
            guard !overflows, microseconds >= 0 else { return }
            send("EXTEND_TIMEOUT_USEC=\(microseconds + attoseconds / 1_000_000_000_000)")
        }

        /// Sends a message, if somebody is there for it and has room.
        private static func send(_ message: String) {
            guard let variable = getenv("NOTIFY_SOCKET") else { return }
            var path = Array(String(cString: variable).utf8)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let room = MemoryLayout.size(ofValue: address.sun_path)
            guard path.count > 1, path.count < room else { return }
            // An abstract name; it has no end but that of the address.
            if path[0] == UInt8(ascii: "@") { path[0] = 0 } else { path.append(0) }
            let length = MemoryLayout<sockaddr_un>.size - room + path.count
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
            let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let descriptor = socket(AF_UNIX, type, 0)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            let text = Array(message.utf8)
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                    _ = sendto(descriptor, text, text.count, flags, $0, socklen_t(length))
                }
            }
        }
    }
#endif
