internal import CLinux
internal import Glibc

/// A stray: a process that descends from this one and lives outside of the tree of the tasks' groups.
///
/// The service manager moves those that ask it to: `systemd-run --scope`, and pam_systemd for su(1) and
/// runuser(1). Its parents tell whose it is; once they are gone it has become a child of this process.
struct Stray: Sendable, Hashable {
    let processID: Int32
    /// Clock ticks since boot: with the number it names one process for ever.
    let startTime: UInt64
    /// The group that it was found in.
    let group: String
    /// The child of this process that it descends from, or that it is.
    let top: Int32
    /// The group of that child.
    let topGroup: String
    /// What the audit knows it by, which it cannot change.
    var session: AuditSession?

    /// Signals this very process, and no other that has its number by now.
    ///
    /// - Returns: whether it got the signal.
    @discardableResult
    func signal(_ number: Int32) -> Bool {
        var process = clx_process()
        process.pid = processID
        process.start_time = startTime
        return clx_process_signal(&process, number) == 0
    }

    /// The real uid; `nil` where it is gone.
    var user: UInt32? { try? realUser(of: processID) }
}

/// What one look at /proc has found below this process. The look reads every process of the machine, and so it
/// is taken on a thread of its own.
struct StrayScan: Sendable {
    private(set) var strays: [Stray] = []
    /// The groups of tasks in which somebody lives, those included that are about to be gone.
    private(set) var inhabited: Set<String> = []

    init() {}

    /// - Parameters:
    ///   - tree: the name of the tree of groups.
    ///   - ownGroup: the name of this process's own group: what lives there is no task's.
    ///   - executor: a child of this process that looks after what descends from it.
    init(tree: String, ownGroup: String, sparing executor: Int32? = nil) throws(SystemError) {
        var groups: [Int32: String] = [:]
        func group(of processID: Int32) throws(SystemError) -> String? {
            if let known = groups[processID] { return known }
            guard let name = try groupName(of: processID) else { return nil }
            groups[processID] = name
            return name
        }
        for (process, top) in try ProcessTable().living(below: getpid()) where top != executor {
            guard let name = try group(of: process.pid), name != ownGroup else { continue }
            if let task = Self.taskGroup(of: name, in: tree) {
                inhabited.insert(task)
            } else if name != tree {
                strays.append(
                    Stray(
                        processID: process.pid, startTime: process.start_time, group: name,
                        top: top, topGroup: try group(of: top) ?? "",
                        session: try AuditSession.of(process.pid)))
            }
        }
    }

    /// The name of the task's group that a group is or is below: `/bgtaskd-0f3c…/task-1`.
    static func taskGroup(of name: String, in tree: String) -> String? {
        name.rest(behind: tree + "/")?.parts(between: "/").first.map { tree + "/" + $0 }
    }
}

/// In place of the name of a group that is longer than the kernel tells (PATH_MAX), as who may make groups below
/// one may have it.
let unreadableGroup = "(unreadable)"

/// The cgroup v2 group of a process, as /proc/PID/cgroup shows it; `nil` where the process is gone.
///
/// - Throws: where there is no room to read it.
func groupName(of processID: Int32) throws(SystemError) -> String? {
    let text: String
    do {
        text = try readText("/proc/\(processID)/cgroup", countMax: 16_384)
    } catch {
        if error.isShortage { throw error }
        return error.errno == ENOENT || error.errno == ESRCH ? nil : unreadableGroup
    }
    return unifiedGroup(in: text).map { String($0.rest(before: " (deleted)") ?? $0) }
}
