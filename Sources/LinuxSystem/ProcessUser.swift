internal import CLinux
internal import Glibc

/// The effective uid of a process: that of its folder in /proc, which holds nothing of it.
///
/// - Throws: where it is gone.
package func effectiveUser(of process: Int32) throws(SystemError) -> UInt32 {
    var status = stat()
    let path = "/proc/\(process)"
    try systemCall("stat", path) { clx_proc_stat(path, &status) }
    return status.st_uid
}

/// The group of whoever has none that counts here: `nogroup` in most databases, kernel.overflowgid in the kernel
/// (proc_sys_kernel(5)).
package func overflowGroup() -> UInt32 {
    let text = (try? readText("/proc/sys/kernel/overflowgid")) ?? ""
    return UInt32(text.prefix { $0.isNumber }) ?? 65_534
}

/// What fs.suid_dumpable is set to (proc_sys_fs(5)); `nil` where it cannot be read.
package func suidDumpable() -> Int? {
    guard let text = try? readText("/proc/sys/fs/suid_dumpable") else { return nil }
    return Int(text.prefix { $0.isNumber })
}
