internal import CLinux
package import Glibc

/// The address of a Unix socket at a path (unix(7)).
package struct UnixAddress {
    /// What fits into sun_path with the NUL at its end.
    static let pathBytesMax = 107

    private var address = sockaddr_un()

    /// - Throws: ENAMETOOLONG over 107 bytes, EINVAL where the path is empty or has a NUL.
    package init(path: String) throws(SystemError) {
        let bytes = Array(path.utf8)
        guard bytes.count <= Self.pathBytesMax else {
            throw SystemError(
                operation: "bind",
                errno: ENAMETOOLONG,
                subject: path,
                detail: "a socket's path has \(Self.pathBytesMax) bytes at most,"
                    + " this one has \(bytes.count)"
            )
        }
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw SystemError(operation: "bind", errno: EINVAL, subject: path)
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    }

    /// The path that a socket is bound to; `nil` where it is bound to none.
    static func path(of descriptor: Int32) throws(SystemError) -> String? {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        try systemCall("getsockname", "\(descriptor)") {
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(descriptor, $0, &size)
                }
            }
        }
        guard address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let bytes = withUnsafeBytes(of: &address.sun_path) { $0.prefix { $0 != 0 }.map { $0 } }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
        -> Result
    {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// Which file a path led to, so that it is known again.
struct FileIdentity: Equatable {
    let device: UInt64
    let inode: UInt64
    let isSocket: Bool

    /// Does not follow a symbolic link at the end. `nil` where there is no such file.
    init?(path: String) throws(SystemError) {
        var status = stat()
        if lstat(path, &status) == 0 {
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            isSocket = status.st_mode & S_IFMT == S_IFSOCK
        } else if errno == ENOENT {
            return nil
        } else {
            throw SystemError(operation: "stat", errno: errno, subject: path)
        }
    }

    func isSameFile(as other: FileIdentity) -> Bool {
        device == other.device && inode == other.inode
    }
}
