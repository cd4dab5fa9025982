import Glibc

/// A connection on which anything may be sent, and where an answer may never come.
final class FuzzedConnection {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private(set) var isClosed = false

    /// Takes over a connected socket.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Sends a message; what comes back meanwhile is kept.
    func send(frame text: String) {
        var rest = (Array(text.utf8) + [0])[...]
        while !rest.isEmpty, !isClosed {
            let count = rest.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                if wait(for: POLLIN | POLLOUT, milliseconds: 10_000) & Int16(POLLIN) != 0 {
                    receive()
                }
            } else if errno != EINTR {
                isClosed = true
            }
        }
    }

    /// The next message; `nil` where none comes in that time, or the connection ends.
    func nextFrame(milliseconds: Int32) -> [UInt8]? {
        while true {
            if let end = received.firstIndex(of: 0) {
                defer { received.removeFirst(end + 1) }
                return Array(received[..<end])
            }
            if isClosed || wait(for: POLLIN, milliseconds: milliseconds) == 0 { return nil }
            receive()
        }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            received += buffer[..<count]
        } else if count == 0 || errno != EAGAIN && errno != EINTR {
            isClosed = true
        }
    }

    private func wait(for events: Int32, milliseconds: Int32) -> Int16 {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&request, 1, milliseconds) > 0 ? request.revents : 0
    }
}
