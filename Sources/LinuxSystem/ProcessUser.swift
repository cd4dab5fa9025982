internal import CLinux
internal import Glibc

/// The user of a process: its effective uid, or where that is root's the real one. Nothing of a user's is held for that.
///
/// - Returns: `nil` where it is gone.
package func user(ofProcess process: Int32) -> UInt32? {
    let user = clx_process_user(process)
    return user == .max ? nil : user
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
