internal import CLinux
internal import Glibc

/// A file that becomes ready under pressure: one of the kernel's, a FIFO or a socket
/// (systemd.io/MEMORY_PRESSURE).
final class PressureFile {
    let readiness: Readiness
    private let file: OwnedDescriptor

    var descriptor: Int32 { file.rawValue }

    /// - Parameter write: what the file is told first, such as a trigger. A FIFO is told nothing, for it
    ///   would be read back.
    init(_ path: String, write text: [UInt8]) throws(SystemError) {
        var status = stat()
        try systemCall("stat", path) { stat(path, &status) }
        let type = status.st_mode & S_IFMT
        readiness = type == S_IFREG ? .priority : .input
        file = try Self.open(path, type, text)
        try Self.check(file.rawValue, readiness, path)
    }

    private static func open(
        _ path: String, _ type: mode_t, _ text: [UInt8]
    ) throws(SystemError) -> OwnedDescriptor {
        switch type {
        case S_IFSOCK:
            let file = try connect(path)
            try write(text, to: file.rawValue, path)
            return file
        case S_IFIFO:
            // Also for writing, so that it does not end with its last writer.
            return try .open(path, flags: O_RDWR | O_NONBLOCK)
        case S_IFREG:
            let access = text.isEmpty ? O_RDONLY : O_RDWR
            let file = try OwnedDescriptor.open(path, flags: access | O_NONBLOCK)
            try write(text, to: file.rawValue, path)
            return file
        default:
            throw SystemError(
                operation: "watch", errno: EINVAL, subject: path,
                detail: "this is no file, FIFO or socket")
        }
    }

    private static func connect(_ path: String) throws(SystemError) -> OwnedDescriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let connection = OwnedDescriptor(
            try systemCall("socket", path) { socket(AF_UNIX, type, 0) })
        let number = connection.rawValue
        let address = try UnixAddress(path: path)
        try systemCall("connect", path) {
            address.withPointer { Glibc.connect(number, $0, $1) }
        }
        return connection
    }

    /// In one piece: a trigger cannot be told in two.
    private static func write(
        _ bytes: [UInt8], to descriptor: Int32, _ path: String
    ) throws(SystemError) {
        if bytes.isEmpty { return }
        let count = try systemCall("write", path) { Glibc.write(descriptor, bytes, bytes.count) }
        guard count == bytes.count else {
            throw SystemError(operation: "write", errno: EIO, subject: path)
        }
    }

    /// An ordinary file is always ready, and no epoll takes it.
    private static func check(
        _ descriptor: Int32, _ readiness: Readiness, _ path: String
    ) throws(SystemError) {
        let epoll = try Epoll()
        do {
            try epoll.add(descriptor, readiness, token: 0)
        } catch {
            throw SystemError(
                operation: "watch", errno: error.errno, subject: path,
                detail: error.errno == EPERM ? "it cannot be waited for" : nil)
        }
    }
}

/// Decodes base64 with padding (RFC 4648, section 4).
///
/// - Returns: `nil` for anything else.
package func decodeBase64(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount = 0
    let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
    let padding = text.utf8.count - digits.count
    guard text.utf8.count % 4 == 0, padding <= 2,
        text.utf8.suffix(padding).allSatisfy({ $0 == UInt8(ascii: "=") })
    else { return nil }
    for digit in digits {
        guard let value = base64Value(of: digit) else { return nil }
        bits = bits << 6 | value
        bitCount += 6
        if bitCount >= 8 {
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
        }
    }
    return bytes
}

private func base64Value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
}
