internal import Glibc

/// The file of a store, and the lock on the folder that it is in.
///
/// A lock of our own, since that of SQLite would keep sqlite3(1) from reading too. On the folder, since
/// closing any descriptor of the database's file would let go of SQLite's locks on it (fcntl(2)).
struct StoreFile: ~Copyable {
    private let folder: Int32

    /// Locks the folder of `path`, and makes the file where it is missing, for its owner alone.
    init(_ path: String) throws(StoreError) {
        let name = Self.folderName(of: path)
        let folder = Glibc.open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Self.error("open", name, errno) }
        do throws(StoreError) {
            try Self.lock(folder, path)
            try Self.make(path, in: folder)
        } catch {
            Glibc.close(folder)
            throw error
        }
        self.folder = folder
    }

    /// Unlocks, and not only by closing: a child between its start and its execve(2) has a copy of the
    /// descriptor, and would keep the lock for that long.
    deinit {
        flock(folder, LOCK_UN)
        Glibc.close(folder)
    }

    /// The bytes of a database with its write-ahead log.
    static func size(of path: String) -> Int {
        size(ofDatabase: path) + size(ofDatabase: path + "-wal")
    }

    /// The bytes of a database alone; 0 where there is none.
    static func size(ofDatabase path: String) -> Int {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Makes a file where it is missing, for its owner alone, and does not lock its folder.
    static func makeMissing(_ path: String) throws(StoreError) {
        let name = folderName(of: path)
        let folder = Glibc.open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw error("open", name, errno) }
        defer { Glibc.close(folder) }
        try make(path, in: folder)
    }

    private static func folderName(of path: String) -> String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return path[..<end].isEmpty ? (path.hasPrefix("/") ? "/" : ".") : String(path[..<end])
    }

    private static func lock(_ folder: Int32, _ path: String) throws(StoreError) {
        guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw error("lock", path, errno) }
            throw StoreError(
                cause: .locked, operation: "open", path: path,
                text: "another daemon works with this folder; give each its own --state-dir")
        }
    }

    private static func make(_ path: String, in folder: Int32) throws(StoreError) {
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw StoreError(
                    cause: .foreign, operation: "open", path: path,
                    text: "not a regular file; move it away to start with an empty store")
            }
            // SQLite would open it for reading alone, and say so at the first write.
            guard access(path, R_OK | W_OK) == 0 else { throw error("open", path, errno) }
            return
        }
        guard errno == ENOENT else { throw error("stat", path, errno) }
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw error("create", path, errno) }
        Glibc.close(file)
        guard fsync(folder) == 0 else { throw error("sync", path, errno) }
    }

    private static func error(_ operation: String, _ path: String, _ number: Int32) -> StoreError {
        let cause: StoreError.Cause =
            switch number {
            case ENOSPC, EDQUOT: .diskFull
            case EROFS, EACCES, EPERM: .readOnly
            case EIO: .inputOutput
            default: .other
            }
        let text = strerror(number).map { String(cString: $0) } ?? "error \(number)"
        return StoreError(cause: cause, operation: operation, path: path, text: text)
    }
}
