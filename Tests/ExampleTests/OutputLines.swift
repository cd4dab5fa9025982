import Glibc

/// The lines that programs write into a named pipe, which outlives them.
final class OutputLines {
    let path: String
    private let descriptor: Int32
    private var unread: [UInt8] = []

    enum Failure: Error {
        case noPipe(errno: Int32)
        /// Nothing was written for a minute.
        case nothingWritten
    }

    init(path: String) throws {
        self.path = path
        guard mkfifo(path, 0o600) == 0 else { throw Failure.noPipe(errno: errno) }
        // Open for writing as well, so that it has no end when a program has one.
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure.noPipe(errno: errno) }
    }

    deinit { close(descriptor) }

    /// Waits for the next line.
    func next() throws -> String {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            try readMore()
        }
    }

    /// Waits for so many lines.
    func next(_ count: Int) throws -> [String] {
        try (0..<count).map { _ in try next() }
    }

    private func readMore() throws {
        var pipe = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&pipe, 1, 60_000) > 0 else { throw Failure.nothingWritten }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { throw Failure.nothingWritten }
        unread += bytes[..<count]
    }
}
