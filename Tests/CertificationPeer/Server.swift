import Glibc
import Varlink

/// Serves the certification on a Unix socket, any number of clients in one loop.
struct Server {
    private let listener: Int32
    private var peers: [Int32: ServerConnection] = [:]
    private var service = CertificationService()

    init?(path: String) {
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        guard listener >= 0, name.count < MemoryLayout.size(ofValue: address.sun_path) else {
            return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        unlink(path)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(listener, 16) == 0 else { return nil }
    }

    /// Serves until the process ends.
    mutating func run() {
        while true {
            var requests = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            for (descriptor, peer) in peers {
                var events: Int16 = peer.wantsInput ? Int16(POLLIN) : 0
                if peer.pendingOutputCount > 0 { events |= Int16(POLLOUT) }
                requests.append(pollfd(fd: descriptor, events: events, revents: 0))
            }
            guard poll(&requests, nfds_t(requests.count), -1) > 0 else { continue }
            for request in requests where request.revents != 0 {
                if request.fd == listener { accept() } else { serve(request.fd) }
            }
        }
    }

    private mutating func accept() {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        peers[descriptor] = ServerConnection()
    }

    private mutating func serve(_ descriptor: Int32) {
        guard var peer = peers.removeValue(forKey: descriptor) else { return }
        guard exchange(descriptor, &peer) else {
            close(descriptor)
            return
        }
        peers[descriptor] = peer
    }

    /// Reads, answers and writes; `false` where the connection is over.
    private mutating func exchange(_ descriptor: Int32, _ peer: inout ServerConnection) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16384)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 || count < 0 && errno == EAGAIN else { return false }
        do throws(ProtocolViolation) {
            try buffer.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
                let raw = UnsafeRawBufferPointer(bytes)
                try peer.receive(UnsafeRawBufferPointer(rebasing: raw[..<max(count, 0)]))
            }
            while let call = try peer.nextCall() { service.answer(call, on: &peer) }
        } catch {
            say("closed: \(error)", to: STDERR_FILENO)
            return false
        }
        guard peer.pendingOutputCount > 0 else { return true }
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        let sent = peer.withPendingOutput { send(descriptor, $0.baseAddress, $0.count, flags) }
        guard sent > 0 || errno == EAGAIN else { return false }
        peer.sent(max(sent, 0))
        return true
    }
}
