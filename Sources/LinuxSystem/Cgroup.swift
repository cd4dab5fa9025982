internal import CLinux
internal import Glibc

/// One group of the cgroup v2 hierarchy and what is below it.
final class Cgroup {
    let folder: String
    /// As /proc/PID/cgroup shows it.
    let name: String
    /// The folder, for clone3(2).
    private let folderDescriptor: OwnedDescriptor
    /// Its cgroup.events file, EPOLLPRI after each change until it is read.
    private let eventsFile: OwnedDescriptor

    /// Whether it was ever killed. Such a group cannot be used again: from Linux 6.13 on a process
    /// cloned into it is killed at once (its kill sequence is compared with that of the group
    /// that the caller of clone3 is in; seen on 6.18).
    private(set) var wasKilled = false

    /// What the tasks of the group use.
    private let meter: GroupMeter

    /// What cgroup.events says.
    struct State: Equatable {
        /// Whether a living process is in the group or below; zombies do not count.
        var isPopulated = false
        var isFrozen = false

        init() {}

        fileprivate init(of file: Int32, in folder: String) throws(SystemError) {
            try systemCall("read", folder + "/cgroup.events") {
                clx_group_events(file, &isPopulated, &isFrozen)
            }
        }
    }

    /// Opens a group, which is made where it is missing.
    init(folder: String, name: String, makes: Bool) throws(SystemError) {
        if makes, mkdir(folder, 0o755) != 0, errno != EEXIST {
            throw SystemError(operation: "mkdir", errno: errno, subject: folder)
        }
        self.folder = folder
        self.name = name
        folderDescriptor = try .open(folder, flags: O_RDONLY | O_DIRECTORY)
        eventsFile = try .open(
            "cgroup.events",
            flags: O_RDONLY,
            relativeTo: folderDescriptor.rawValue
        )
        meter = GroupMeter(folder: folderDescriptor.rawValue)
    }

    var descriptor: Int32 { folderDescriptor.rawValue }
    var eventsDescriptor: Int32 { eventsFile.rawValue }

    /// Reads the state and, with it, takes the readiness away: what changes afterwards makes the
    /// file ready again, so that nothing falls between (kernfs_generic_poll).
    func state() throws(SystemError) -> State {
        try State(of: eventsFile.rawValue, in: folder)
    }

    /// Reads the state and leaves the readiness alone, which belongs to the open file.
    func stateNow() throws(SystemError) -> State {
        let file = try OwnedDescriptor.open(
            "cgroup.events", flags: O_RDONLY, relativeTo: descriptor)
        return try State(of: file.rawValue, in: folder)
    }

    /// A task begins in the group: what is used from now on is its own.
    func beginTask() { meter.begin() }

    /// What the task has used so far; `nil` where it cannot be read.
    func readUse() -> ProcessUse? { meter.read() }

    /// The processes of the task are gone.
    ///
    /// - Returns: what they used.
    func endTask() -> ProcessUse? { meter.end() }

    /// Lets the counts begin anew for another task.
    ///
    /// - Returns: whether they do; where not, the next task needs another group.
    func prepareForNext() -> Bool { meter.prepareForNext() }

    /// Sends SIGKILL to every process in the group and below, also to those being forked
    /// (cgroup.kill, Linux 5.14). Returns before they are gone.
    func kill() throws(SystemError) {
        wasKilled = true
        try writeText("1", to: "cgroup.kill", relativeTo: descriptor)
    }

    /// Kills all processes in the group and below, and waits until they are gone.
    ///
    /// - Returns: how many there were.
    /// - Throws: ETIMEDOUT where some are still there after that time.
    func killAndWait(millisecondsMax: Int64) throws(SystemError) -> Int {
        let found = try processIDs().count
        do {
            try kill()
            try waitUntilEmpty(millisecondsMax: millisecondsMax)
        } catch {
            // A group that the service manager has removed meanwhile is empty.
            guard error.errno == ENODEV || error.errno == ENOENT, access(folder, F_OK) != 0 else {
                throw error
            }
        }
        return found
    }

    private func waitUntilEmpty(millisecondsMax: Int64) throws(SystemError) {
        let deadline = MonotonicClock.now() + millisecondsMax * 1_000_000
        while try state().isPopulated {
            let left = (deadline - MonotonicClock.now()) / 1_000_000
            guard left > 0 else {
                throw SystemError(
                    operation: "kill",
                    errno: ETIMEDOUT,
                    subject: folder,
                    detail: "processes are still there after SIGKILL"
                )
            }
            var events = pollfd(fd: eventsDescriptor, events: Int16(POLLPRI), revents: 0)
            poll(&events, 1, Int32(clamping: left))
        }
    }

    /// Asks for the freeze or the thaw of the group and all below; done when `state` says so.
    func setFrozen(_ frozen: Bool) throws(SystemError) {
        try writeText(frozen ? "1" : "0", to: "cgroup.freeze", relativeTo: descriptor)
    }

    /// Sends a signal to every process in the group and below, those included that appear
    /// meanwhile.
    ///
    /// - Parameter user: where it is given, only processes with that real uid get it.
    /// - Returns: how many got it.
    func signal(_ number: Int32, ofUser user: UInt32? = nil) throws(SystemError) -> Int {
        var seen: Set<Int32> = []
        var signalled = 0
        // A group that forks for ever must not hold us up for ever.
        for _ in 0..<8 {
            let newcomers = try processIDs().filter { seen.insert($0).inserted }
            if newcomers.isEmpty { break }
            signalled += try send(number, to: newcomers, user)
        }
        return signalled
    }

    /// The processes in the group and below; zombies are left out.
    func processIDs() throws(SystemError) -> [Int32] {
        var processIDs: [Int32] = []
        for folder in try Self.foldersBelow(folder) {
            let text: String
            do {
                text = try readText(folder + "/cgroup.procs", countMax: 1 << 24)
            } catch {
                // Removed meanwhile, by the task that made it.
                if error.errno == ENOENT || error.errno == ENODEV { continue }
                throw error
            }
            processIDs += text.split(separator: "\n").compactMap { Int32($0) }
        }
        return processIDs
    }

    /// Removes the groups that a task made below this one.
    func removeSubgroups() throws(SystemError) {
        // Each folder below has a link to this one; a look into it would read all its files.
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_nlink == 2 { return }
        for folder in try Self.foldersBelow(folder).dropFirst().reversed() {
            try systemCall("rmdir", folder) { rmdir(folder) }
        }
    }

    /// Removes the group itself, which must be empty.
    func remove() throws(SystemError) {
        try systemCall("rmdir", folder) { rmdir(folder) }
    }

    /// How many processes are looked at and signalled at once.
    private static let batchMax = 256

    /// Signals processes, each only if it is in this group: the pidfd keeps the number from becoming
    /// another's between the look and the signal. One look is for a whole batch, since a group may have
    /// thousands.
    private func send(
        _ number: Int32, to processIDs: [Int32], _ user: UInt32?
    ) throws(SystemError) -> Int {
        var rest = processIDs[...]
        var signalled = 0
        while !rest.isEmpty {
            let batch = try Self.openBatch(of: &rest)
            defer { for process in batch { Glibc.close(process.descriptor) } }
            if batch.isEmpty { continue }
            let members = Set(try self.processIDs())
            for process in batch where members.contains(process.processID) {
                // One that cannot be read is gone.
                if let user, (try? realUser(of: process.processID)) != user { continue }
                if try send(number, to: process) { signalled += 1 }
            }
        }
        return signalled
    }

    /// A process, and a pidfd of it that is to be closed.
    private typealias OpenProcess = (processID: Int32, descriptor: Int32)

    /// Opens the next processes, as many as there are descriptors for; those that are gone are left out.
    private static func openBatch(
        of rest: inout ArraySlice<Int32>
    ) throws(SystemError) -> [OpenProcess] {
        var batch: [OpenProcess] = []
        while batch.count < batchMax, let processID = rest.first {
            do throws(SystemError) {
                batch.append((processID, try OwnedDescriptor.process(processID).take()))
            } catch {
                let isExhausted = error.errno == EMFILE || error.errno == ENFILE
                if isExhausted, !batch.isEmpty { return batch }
                if isExhausted { throw error }
            }
            rest.removeFirst()
        }
        return batch
    }

    private func send(_ number: Int32, to process: OpenProcess) throws(SystemError) -> Bool {
        if clx_pidfd_send_signal(process.descriptor, number) == 0 { return true }
        let error = errno
        // One that has become another user's does not keep the signal from the rest.
        if error == ESRCH || error == EPERM { return false }
        throw SystemError(operation: "kill", errno: error, subject: "\(process.processID)")
    }

    /// Who may make groups of their own below one is not to hold us up with them.
    private static let foldersMax = 4096

    /// The folder and all below it, parents first. Some may be gone before they are used.
    private static func foldersBelow(_ folder: String) throws(SystemError) -> [String] {
        var folders = [folder]
        var next = 0
        while next < folders.count {
            guard folders.count <= foldersMax else {
                throw SystemError(
                    operation: "look below", errno: E2BIG, subject: folder,
                    detail: "more than \(foldersMax) groups")
            }
            let parent = folders[next]
            next += 1
            do {
                folders += try names(inFolder: parent, foldersOnly: true).map { "\(parent)/\($0)" }
            } catch {
                if error.errno != ENOENT { throw error }
            }
        }
        return folders
    }
}
