internal import CExecutor
internal import CLinux
internal import Glibc

/// The state folder of a bgtask-executor that ends with its daemon, in the state folder of that.
package struct ExecutorFolder {
    /// How long an executor may take for its end by itself, and for its end when it is killed.
    private static let timeoutMilliseconds = 5000
    /// How long its supervisors may take, which kill all that is theirs when it is gone.
    private static let supervisorsMilliseconds = 2000
    private static let pauseMilliseconds = 20

    package let path: String

    /// - Parameter stateFolder: the daemon's, which the caller has locked.
    package init(stateFolder: String) {
        path = stateFolder + "/executor"
    }

    /// Waits until the executor of an earlier daemon has ended, which it does when it has killed all that it ran, and until
    /// its supervisors have. One that does not end is killed with all below it.
    ///
    /// - Returns: the processes that did not end when they were killed.
    package func waitForEarlier() throws(SystemError) -> Leftovers {
        let lock: OwnedDescriptor
        do {
            lock = try .open(lockPath, flags: O_RDWR | O_NOFOLLOW)
        } catch {
            if error.errno == ENOENT { return Leftovers() }
            throw error
        }
        var killed: [Int32] = []
        if let holder = try waitForHolder(of: lock.rawValue) {
            // One that this process does not see, as in another pid namespace, has no number of its own (fcntl(2)).
            guard holder > 0 else { throw inUse(by: holder) }
            killed = try killAll(below: [holder])
            if try self.holder(of: lock.rawValue) == holder { kill(holder, SIGKILL) }
            if let other = try waitForHolder(of: lock.rawValue) {
                throw inUse(by: other)
            }
        }
        if try !waitForSupervisors(lock.rawValue) {
            killed += try killAll(below: try supervisors(lock.rawValue))
            // It is theirs for as long as they are there.
            try systemCall("unlink", lockPath) { unlink(lockPath) }
        }
        return Leftovers(unkillable: Set(killed).filter(Self.isUninterruptible).sorted())
    }

    /// Whether a process is in a wait that no signal ends.
    private static func isUninterruptible(_ processID: Int32) -> Bool {
        (try? ProcessStat(of: processID))?.state == "D"
    }

    private func inUse(by holder: Int32) -> SystemError {
        SystemError(
            operation: "lock", errno: EWOULDBLOCK, subject: path,
            detail: holder > 0
                ? "in use by process \(holder)" : "in use by another machine or container")
    }

    private var lockPath: String { path + "/lock" }

    /// Waits until no executor has the lock.
    ///
    /// - Returns: who has it still.
    private func waitForHolder(of lock: Int32) throws(SystemError) -> Int32? {
        for _ in 0..<(Self.timeoutMilliseconds / Self.pauseMilliseconds) {
            guard try holder(of: lock) != nil else { return nil }
            poll(nil, 0, Int32(Self.pauseMilliseconds))
        }
        return try holder(of: lock)
    }

    private func holder(of lock: Int32) throws(SystemError) -> Int32? {
        var wanted = Glibc.flock()
        wanted.l_type = Int16(F_WRLCK)
        wanted.l_whence = Int16(SEEK_SET)
        try systemCall("fcntl", lockPath) { fcntl(lock, F_GETLK, &wanted) }
        return wanted.l_type == Int16(F_UNLCK) ? nil : wanted.l_pid
    }

    /// Waits until no supervisor has its own lock on the same file.
    ///
    /// - Returns: whether that came about.
    private func waitForSupervisors(_ lock: Int32) throws(SystemError) -> Bool {
        for _ in 0..<(Self.supervisorsMilliseconds / Self.pauseMilliseconds) {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 {
                flock(lock, LOCK_UN)
                return true
            }
            guard errno == EWOULDBLOCK else {
                throw SystemError(operation: "lock", errno: errno, subject: lockPath)
            }
            poll(nil, 0, Int32(Self.pauseMilliseconds))
        }
        return false
    }

    private func supervisors(_ lock: Int32) throws(SystemError) -> Set<Int32> {
        var wanted = stat()
        try systemCall("fstat", lockPath) { fstat(lock, &wanted) }
        let place = EXECUTOR_LOCK_OF_SUPERVISORS
        return Set(
            try ProcessTable().processIDs.filter { processID in
                var status = stat()
                return processID != getpid()
                    && clx_proc_stat("/proc/\(processID)/fd/\(place)", &status) == 0
                    && status.st_ino == wanted.st_ino && status.st_dev == wanted.st_dev
            })
    }

    /// Kills what is below processes that do not do so themselves.
    ///
    /// - Returns: what was there at the last look.
    private func killAll(below holders: Set<Int32>) throws(SystemError) -> [Int32] {
        var left: [Int32] = []
        // What is started meanwhile is found by the next look.
        for _ in 0..<10 {
            left = try ProcessTable().kill(descendantsOf: holders)
            if left.isEmpty { break }
            poll(nil, 0, Int32(Self.pauseMilliseconds))
        }
        return left
    }
}
