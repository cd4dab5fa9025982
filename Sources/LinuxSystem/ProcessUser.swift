internal import CLinux
internal import Glibc

/// Whether a user could signal a process (kill(2)), so that it is the user's own; of root's alone those that have root's rights are.
/// Nothing is read that the kernel would hold something for.
///
/// - Parameter descriptor: the process's pidfd.
package func isOwn(_ process: Int32, _ descriptor: borrowing OwnedDescriptor, of user: UInt32)
    -> Bool
{
    guard clx_pidfd_send_signal_as(user, descriptor.rawValue, 0) == 0 else { return false }
    var status = stat()
    return user != 0 || geteuid() != 0
        || (clx_proc_stat("/proc/\(process)", &status) == 0 && status.st_uid == 0)
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
