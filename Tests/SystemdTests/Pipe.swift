import Glibc
import Synchronization
import Systemd

/// Held while descriptors are made and while children start, so that no child of one test inherits
/// a pipe of another before it is marked close-on-exec.
let spawning = Mutex(())

/// A pipe, closed with its last reference.
final class Pipe {
    let reader: Int32
    let writer: Int32
    private var readerIsOpen = true
    private var writerIsOpen = true

    init() throws {
        var ends: [Int32] = [-1, -1]
        let made = spawning.withLock { _ in
            let made = pipe(&ends)
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            }
            return made
        }
        (reader, writer) = (ends[0], ends[1])
        guard made == 0 else {
            throw SystemdError(operation: "pipe", errno: errno)
        }
    }

    deinit {
        closeReader()
        closeWriter()
    }

    func closeReader() {
        if readerIsOpen { close(reader) }
        readerIsOpen = false
    }

    func closeWriter() {
        if writerIsOpen { close(writer) }
        writerIsOpen = false
    }

    func write(_ text: String) {
        var bytes = Array(text.utf8)
        _ = Glibc.write(writer, &bytes, bytes.count)
    }

    /// Reads what there is, once.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        _ = read(reader, &bytes, bytes.count)
    }

    /// Reads to the end: until all writers are closed.
    func readToEnd() -> [UInt8] {
        var all: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reader, &bytes, bytes.count)
            if count > 0 {
                all += bytes.prefix(count)
            } else if count == 0 || errno != EINTR {
                return all
            }
        }
    }

    /// Fills the pipe, so that the next write to it blocks.
    func fill() {
        let flags = fcntl(writer, F_GETFL)
        _ = fcntl(writer, F_SETFL, flags | O_NONBLOCK)
        var bytes = [UInt8](repeating: UInt8(ascii: "."), count: 4_096)
        while Glibc.write(writer, &bytes, bytes.count) > 0 {}
        _ = fcntl(writer, F_SETFL, flags)
    }
}
