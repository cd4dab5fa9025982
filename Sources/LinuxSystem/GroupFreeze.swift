internal import CLinux
internal import Glibc

/// Freezes a group (cgroup.freeze), kills the processes of some audit sessions in it, and thaws it.
///
/// A frozen process cannot fork, so none is missed. It lasts some milliseconds. `FreezeRecord` makes sure that the
/// group is thawed even if this process ends meanwhile.
struct GroupFreeze {
    /// How long to wait for processes that do not freeze, such as those in a file system that hangs.
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

    /// The group to freeze so that a process stays where it is. A user may move processes within their slice, and so
    /// it is the whole slice; so it is where the group's name cannot be read.
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

    /// Kills the processes of the sessions that descend from this process. They are looked for among all processes and
    /// not by group: a user may make as many groups as they like, as deep as they like.
    ///
    /// - Parameter record: freezes the group, and writes that down.
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
        // In a group that is gone nobody is left to be frozen.
        while let state = try? group.state(), !state.isFrozen {
            let left = (end - MonotonicClock.now()) / 1_000_000
            if left <= 0 { return }
            var events = pollfd(fd: group.eventsDescriptor, events: Int16(POLLPRI), revents: 0)
            poll(&events, 1, Int32(clamping: left))
        }
    }
}
