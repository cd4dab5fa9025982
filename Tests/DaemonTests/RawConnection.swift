import Glibc
import JSON
import TestKit
import Varlink

/// A connection on which a test sends what no client would.
final class RawConnection {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private var isAtEnd = false

    init(_ daemon: DaemonProcess) throws {
        descriptor = try Self.connect(to: daemon.socketPath)
    }

    /// Connects to a socket.
    ///
    /// - Returns: the connected socket, which is the caller's to close.
    static func connect(to path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let result = withSocketAddress(path) { Glibc.connect(descriptor, $0, $1) }
        guard result == 0 else {
            defer { close(descriptor) }
            throw NeverHappened(description: "connect: \(errno)")
        }
        return descriptor
    }

    /// Takes over a connected socket.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Connects as another user.
    convenience init(_ daemon: DaemonProcess, as user: TestUser) throws {
        self.init(adopting: try user.connect(to: daemon.socketPath))
    }

    deinit { close(descriptor) }

    /// Sends all bytes, taking in what comes back so that neither side waits for the other.
    ///
    /// - Returns: whether the daemon took them all.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) throws -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                if try wait(for: POLLIN | POLLOUT) & Int16(POLLIN) != 0 { receiveOnce() }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Sends what the socket takes now, and no more.
    func sendWithoutWaiting(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends a text as a whole message.
    @discardableResult
    func send(frame text: String) throws -> Bool { try send(Array(text.utf8) + [0]) }

    /// Says that nothing more is sent.
    func endInput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next message; `nil` where the daemon has closed the connection.
    func nextFrame() throws -> [UInt8]? {
        while true {
            if let end = received.firstIndex(of: 0) {
                defer { received.removeFirst(end + 1) }
                return Array(received[..<end])
            }
            if isAtEnd { return nil }
            _ = try wait(for: POLLIN)
            receiveOnce()
        }
    }

    /// Whether a whole message has come.
    func hasFrame() throws -> Bool {
        receiveOnce()
        return received.contains(0)
    }

    /// The next message, read as a reply.
    func nextReply() throws -> JSONValue? {
        guard let frame = try nextFrame() else { return nil }
        return try JSONDocument(parsing: frame).value(at: 0)
    }

    /// Reads until the daemon closes the connection.
    ///
    /// - Returns: the messages that came before.
    func readToEnd() throws -> [[UInt8]] {
        while !isAtEnd {
            _ = try wait(for: POLLIN)
            receiveOnce()
        }
        return received.split(separator: 0).map(Array.init)
    }

    private func receiveOnce() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            received += buffer[..<count]
        } else if count == 0 || errno != EAGAIN && errno != EINTR {
            isAtEnd = true
        }
    }

    private func wait(for events: Int32) throws -> Int16 {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        guard poll(&request, 1, 60_000) != 0 else {
            throw NeverHappened(description: "the daemon neither answered nor closed")
        }
        return request.revents
    }
}

/// The text of a call.
func callText(_ method: String, _ parameters: JSONValue, flags: String = "") -> String {
    "{\"method\":\"\(method)\",\"parameters\":\(parameters.text)\(flags)}"
}
