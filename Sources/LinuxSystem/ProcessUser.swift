internal import Glibc

/// The real uid of a process, from /proc/PID/status (proc(5)).
///
/// - Throws: ENOENT or ESRCH where there is no such process.
package func realUser(of processID: Int32) throws(SystemError) -> UInt32 {
    let path = "/proc/\(processID)/status"
    // It is named before its groups are.
    let bytes = try withBoundedWaits { () throws(SystemError) in
        try readBytes(path, countMax: 4096)
    }
    guard let user = ProcessStatus(bytes).realUser else {
        throw SystemError(
            operation: "read", errno: EINVAL, subject: path, detail: "it names no user")
    }
    return user
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
