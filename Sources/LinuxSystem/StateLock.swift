internal import CLinux
internal import Glibc

/// Keeps a state folder to one process, for as long as this value lives (flock(2)).
///
/// The kernel lets go of the lock when the process ends, however it ends, so that no stale lock
/// ever needs to be cleared away. The file stays.
package struct StateLock: ~Copyable {
    private let file: OwnedDescriptor

    /// How long to wait for processes of a dead owner that still hold the locks.
    private static let timeoutMilliseconds = 5000
    private static let pauseMilliseconds = 20

    /// Locks `folder/lock`, which is made where it is missing, and writes the caller's pid in it.
    ///
    /// Children of an owner that was killed may have the lock for a moment longer; they are waited for.
    ///
    /// - Throws: EWOULDBLOCK, with the pid of the owner in words, where another process has it.
    package init(folder: String) throws(SystemError) {
        let path = folder + "/lock"
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        let file = try OwnedDescriptor.open(path, flags: flags, mode: 0o600)
        let descriptor = file.rawValue
        var milliseconds = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let error = errno
            guard error == EWOULDBLOCK else {
                throw SystemError(operation: "lock", errno: error, subject: folder)
            }
            let owner = Self.owner(descriptor, path)
            guard let owner, Self.isDead(owner), milliseconds < Self.timeoutMilliseconds
            else { throw Self.heldError(folder, owner) }
            poll(nil, 0, Int32(Self.pauseMilliseconds))
            milliseconds += Self.pauseMilliseconds
        }
        try systemCall("truncate", path) { ftruncate(descriptor, 0) }
        try writeText("\(getpid())\n", of: descriptor, path)
        self.file = file
    }

    /// A zombie holds nothing any more, though it can be signalled.
    private static func isDead(_ processID: Int32) -> Bool {
        do throws(SystemError) {
            return try OwnedDescriptor.process(processID).waitReadable(milliseconds: 0)
        } catch {
            return error.errno == ESRCH
        }
    }

    /// The pid in the file.
    private static func owner(_ descriptor: Int32, _ path: String) -> Int32? {
        guard let text = try? readText(of: descriptor, path, countMax: 32) else { return nil }
        return Int32(text.prefix { $0.isNumber })
    }

    private static func heldError(_ folder: String, _ owner: Int32?) -> SystemError {
        SystemError(
            operation: "lock",
            errno: EWOULDBLOCK,
            subject: folder,
            detail: "in use by " + (owner.map { "process \($0)" } ?? "another process")
        )
    }
}
