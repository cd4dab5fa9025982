internal import Glibc

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
