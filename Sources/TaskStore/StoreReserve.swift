internal import Glibc

/// Room on the disk that nobody else takes: a file beside the database. It is given up where the disk is full, since
/// what is to make room there has to be written first.
struct StoreReserve {
    private let path: String
    /// What it takes; 0 while there is none.
    private(set) var bytes: Int

    private static let bytesMax = 4_194_304
    /// It takes this part of the file system at most, and no part of a disk that has less than so many times as much left.
    private static let (part, roomMin) = (16, 4)

    /// - Parameter database: the path of that.
    init(beside database: String) {
        path = database + "-reserve"
        var status = stat()
        bytes = lstat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Takes the room, where there is none yet.
    ///
    /// - Parameter isBack: whether it is just what was given up, and nothing came of that; else only where the disk has
    ///   plenty.
    mutating func take(back isBack: Bool) {
        guard bytes == 0, let space = DiskSpace(of: path) else { return }
        var wanted = min(space.total / Self.part, Self.bytesMax)
        if isBack { wanted = min(wanted, space.left) }
        guard wanted > 0, isBack || space.left / Self.roomMin >= wanted else { return }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = Glibc.open(path, flags, 0o600)
        guard file >= 0 else { return }
        defer { Glibc.close(file) }
        if posix_fallocate(file, 0, off_t(wanted)) == 0 { bytes = wanted } else { unlink(path) }
    }

    mutating func giveUp() {
        guard bytes > 0 else { return }
        unlink(path)
        bytes = 0
    }
}

/// What the file system of a file has, in bytes.
struct DiskSpace {
    let total: Int
    /// What is left for who is not root.
    let left: Int

    /// What of the past a full disk does not cost: who fills it for others is not to empty everybody's history.
    var keptPast: Int { min(total / 64, 16_777_216) }

    /// `nil` where it does not say.
    init?(of path: String) {
        var status = statvfs()
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard statvfs(folder, &status) == 0 else { return nil }
        let size = Int(clamping: status.f_frsize)
        total = Int(clamping: status.f_blocks).multipliedReportingOverflow(by: size).partialValue
        left = Int(clamping: status.f_bavail).multipliedReportingOverflow(by: size).partialValue
    }
}
