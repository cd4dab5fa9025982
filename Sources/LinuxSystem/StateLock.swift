internal import CLinux
internal import CLinux
internal import Glibc

/// Keeps a state folder to one process, for as long as this value lives (flock(2)).
///
/// The kernel lets go of the lock when the process ends, however it ends, so that no stale lock
/// ever needs to be cleared away. The file stays.
///
/// A second lock, `folder/supervisors`, is held by the supervisors for as long as they live: the next daemon waits for
/// it, and so starts with none of their processes left. Where one of those cannot end, the file is replaced.
package struct StateLock: ~Copyable {
    private let file: OwnedDescriptor
    private let supervisors: OwnedDescriptor

    /// For supervisors: a process that inherits it holds the second lock.
    package var descriptor: Int32 { supervisors.rawValue }

    /// The processes under supervisors of an earlier daemon that could not be ended.
    package let unkillable: [Int32]

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
        var unkillable: [Int32] = []
        supervisors = try Self.lockSupervisors(folder, &unkillable)
        self.unkillable = unkillable
        self.file = file
    }

    /// Waits until no supervisor of an earlier daemon is left. Those that hold the lock after that have been
    /// killed or told to kill: nothing below them runs its program again.
    private static func lockSupervisors(
        _ folder: String, _ unkillable: inout [Int32]
    ) throws(SystemError) -> OwnedDescriptor {
        let path = folder + "/supervisors"
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        let file = try OwnedDescriptor.open(path, flags: flags, mode: 0o600)
        for _ in 0..<(timeoutMilliseconds / pauseMilliseconds) {
            if flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 { return file }
            guard errno == EWOULDBLOCK else {
                throw SystemError(operation: "lock", errno: errno, subject: path)
            }
            poll(nil, 0, Int32(pauseMilliseconds))
        }
        unkillable = processes(below: holders(of: file.rawValue))
        try systemCall("unlink", path) { unlink(path) }
        let new = try OwnedDescriptor.open(path, flags: flags, mode: 0o600)
        let descriptor = new.rawValue
        try systemCall("lock", path) { flock(descriptor, LOCK_EX | LOCK_NB) }
        return new
    }

    /// The processes besides this one that hold the second lock, by the descriptor at which supervisors have it.
    private static func holders(of file: Int32) -> Set<Int32> {
        var wanted = stat()
        guard fstat(file, &wanted) == 0, let table = try? ProcessTable() else { return [] }
        let place = CLX_SUPERVISOR_LOCK.rawValue
        return Set(
            table.processIDs.filter { processID in
                var status = stat()
                return processID != getpid() && stat("/proc/\(processID)/fd/\(place)", &status) == 0
                    && status.st_ino == wanted.st_ino && status.st_dev == wanted.st_dev
            })
    }

    private static func processes(below supervisors: Set<Int32>) -> [Int32] {
        (try? ProcessTable())?.descendants(of: supervisors) ?? []
    }

    /// A zombie holds nothing any more, though it can be signalled.
    private static func isDead(_ processID: Int32) -> Bool {
        if kill(processID, 0) != 0 { return errno == ESRCH }
        guard let state = (try? ProcessStat(of: processID))?.state else { return true }
        return state == "Z" || state == "X"
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
