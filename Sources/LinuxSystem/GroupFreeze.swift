internal import CLinux
internal import Glibc

/// Has a group stand still (cgroup.freeze), kills in it whoever is of some audit sessions, and lets it go on.
///
/// Who stands still cannot fork, so that nobody is missed. It lasts some milliseconds; `FreezeRecord` sees to it
/// that the group goes on where this process ends meanwhile.
struct GroupFreeze {
    /// How long those are waited for that do not come to stand still, as in a file system that hangs.
    private static let timeoutMilliseconds: Int64 = 100

    private let group: Cgroup

    /// - Returns: `nil` for a group that is not there, and for those that this process depends on.
    init?(_ name: String) {
        guard name.rest(behind: "/")?.isEmpty == false, name.rest(behind: "/..") == nil,
            let own = try? groupName(of: getpid()), own != name,
            own.rest(behind: name + "/") == nil,
            let folder = try? CgroupHierarchy.folder(ofGroup: name),
            let group = try? Cgroup(folder: folder, name: name, makes: false)
        else { return nil }
        self.group = group
    }

    /// What has to stand still for a process to stay in a group: the whole slice of a user, who may move it
    /// within; also where the group cannot be read.
    static func place(of group: String, user: UInt32) -> String {
        if group == unreadableGroup { return "/user.slice/user-\(user).slice" }
        var place = ""
        for part in group.parts(between: "/") {
            place += "/" + part
            let user = part.rest(behind: "user-")?.rest(before: ".slice")
            if user?.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
                == true
            {
                return place
            }
        }
        return group
    }

    /// Kills those of the sessions that descend from this process, in whatever group they are: their number and depth
    /// is theirs to choose.
    ///
    /// - Parameter record: holds the group, and knows of it.
    func kill(_ sessions: Set<AuditSession>, _ record: FreezeRecord) {
        if record.freeze(group.folder) { waitUntilStill() }
        defer { record.thaw() }
        for process in (try? ProcessTable().living(below: getpid())) ?? [] {
            guard let session = try? AuditSession.of(process.process.pid),
                sessions.contains(session)
            else { continue }
            withUnsafePointer(to: process.process) { _ = clx_process_signal($0, SIGKILL) }
        }
    }

    private func waitUntilStill() {
        let end = MonotonicClock.now() + Self.timeoutMilliseconds * 1_000_000
        // A group that is gone has nobody who moves.
        while let state = try? group.state(), !state.isFrozen {
            let left = (end - MonotonicClock.now()) / 1_000_000
            if left <= 0 { return }
            var events = pollfd(fd: group.eventsDescriptor, events: Int16(POLLPRI), revents: 0)
            poll(&events, 1, Int32(clamping: left))
        }
    }
}
