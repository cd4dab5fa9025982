internal import CLinux
internal import Glibc

/// Keeps a state folder to one process, for as long as this value lives (flock(2)).
///
/// The kernel lets go of the lock when the process ends, however it ends, so that no stale lock
/// ever needs to be cleared away. The file stays.
package struct StateLock: ~Copyable {
    private let file: OwnedDescriptor

    /// Locks `folder/lock`, which is made where it is missing, and writes the caller's pid in it.
    ///
    /// - Throws: EWOULDBLOCK, with the pid of the owner in words, where another process has it.
    package init(folder: String) throws(SystemError) {
        let path = folder + "/lock"
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        let file = try OwnedDescriptor.open(path, flags: flags, mode: 0o600)
        let descriptor = file.rawValue
        do {
            try systemCall("lock", folder) { flock(descriptor, LOCK_EX | LOCK_NB) }
        } catch {
            throw error.errno == EWOULDBLOCK ? Self.heldError(folder, descriptor, path) : error
        }
        try systemCall("truncate", path) { ftruncate(descriptor, 0) }
        try writeText("\(getpid())\n", of: descriptor, path)
        self.file = file
    }

    private static func heldError(
        _ folder: String,
        _ descriptor: Int32,
        _ path: String
    ) -> SystemError {
        var owner = "another process"
        if let text = try? readText(of: descriptor, path, countMax: 32),
            let processID = Int32(text.prefix { $0.isNumber })
        {
            owner = "process \(processID)"
        }
        return SystemError(
            operation: "lock",
            errno: EWOULDBLOCK,
            subject: folder,
            detail: "in use by \(owner)"
        )
    }
}
