internal import CLinux
internal import Glibc

/// One group of the cgroup v2 hierarchy and what is below it.
package final class Cgroup {
    let folder: String
    /// As /proc/PID/cgroup shows it.
    let name: String
    /// The folder, for clone3(2).
    private let folderDescriptor: OwnedDescriptor
    /// Its cgroup.events file, EPOLLPRI after each change until it is read.
    private let eventsFile: OwnedDescriptor

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
    package init(folder: String, name: String, makes: Bool) throws(SystemError) {
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

    /// Sends SIGKILL to every process in the group and below, also to those being forked
    /// (cgroup.kill, Linux 5.14). Returns before they are gone.
    func kill() throws(SystemError) {
        try writeText("1", to: "cgroup.kill", relativeTo: descriptor)
    }

    /// Kills all processes in the group and below, and waits until they are gone, at most that long. It gives up earlier
    /// where none of them can end, as in a file system that does not answer.
    ///
    /// - Returns: how many there were, and those that are still there.
    package func killAndWait(millisecondsMax: Int64) throws(SystemError) -> Leftovers {
        var leftovers = Leftovers(count: try processIDs().count)
        do {
            try kill()
            leftovers.unkillable = try waitUntilEmpty(millisecondsMax: millisecondsMax)
        } catch {
            // A group that the service manager has removed meanwhile is empty.
            guard error.errno == ENODEV || error.errno == ENOENT, access(folder, F_OK) != 0 else {
                throw error
            }
        }
        return leftovers
    }

    /// - Returns: the processes that are still there.
    private func waitUntilEmpty(millisecondsMax: Int64) throws(SystemError) -> [Int32] {
        let deadline = MonotonicClock.now() + millisecondsMax * 1_000_000
        var looksWithoutHope = 0
        var before: [Int32] = []
        while try state().isPopulated {
            let left = (deadline - MonotonicClock.now()) / 1_000_000
            guard left > 0, looksWithoutHope < Self.looksWithoutHopeMax else {
                return try processIDs()
            }
            var events = pollfd(fd: eventsDescriptor, events: Int16(POLLPRI), revents: 0)
            poll(&events, 1, Int32(clamping: min(left, Self.lookMilliseconds)))
            let processes = try processIDs()
            let isHopeless = !processes.isEmpty && processes == before
            looksWithoutHope = isHopeless ? looksWithoutHope + 1 : 0
            before = processes
        }
        return []
    }

    /// While killed processes are waited for: how often they are looked at, and how often they must have been the same to be
    /// given up: those are in an uninterruptible wait.
    private static let lookMilliseconds: Int64 = 100
    private static let looksWithoutHopeMax = 20

    /// Asks for the freeze or the thaw of the group and all below; done when `state` says so.
    func setFrozen(_ frozen: Bool) throws(SystemError) {
        try writeText(frozen ? "1" : "0", to: "cgroup.freeze", relativeTo: descriptor)
    }

    /// Whether a process is in the group or below.
    func holds(_ processID: Int32) -> Bool {
        guard let group = try? groupName(of: processID) else { return false }
        return group == name || group.rest(behind: name + "/") != nil
    }

    /// The processes in the group and below; zombies are left out.
    func processIDs() throws(SystemError) -> [Int32] {
        var processIDs: [Int32] = []
        for folder in try Self.foldersBelow(folder) {
            let text: String
            do {
                text = try readText(folder + "/cgroup.procs", countMax: 1 << 24)
            } catch {
                // The task that made it has removed it meanwhile.
                if error.errno == ENOENT || error.errno == ENODEV { continue }
                throw error
            }
            processIDs += text.split(separator: "\n").compactMap { Int32($0) }
        }
        return processIDs
    }

    /// Removes the groups that a task made below this one.
    package func removeSubgroups() throws(SystemError) {
        // Each folder below has a link to this one; a look into it would read all its files.
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_nlink == 2 { return }
        for folder in try Self.foldersBelow(folder).dropFirst().reversed() {
            try systemCall("rmdir", folder) { rmdir(folder) }
        }
    }

    /// Removes the group itself, which must be empty.
    package func remove() throws(SystemError) {
        try systemCall("rmdir", folder) { rmdir(folder) }
    }

    /// A task may make groups below its own, and must not hold the daemon up with too many.
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
