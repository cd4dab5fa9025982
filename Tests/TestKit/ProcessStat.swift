/// What /proc/PID/stat says of a process (proc_pid_stat(5)).
package enum ProcessStat {
    /// PF_EXITING of the kernel's include/linux/sched.h.
    private static let isExiting: UInt64 = 0x4

    /// Whether it runs or will run: neither a zombie, nor on the way there. A control group is empty, and a descriptor
    /// closed, a moment before a process is a zombie.
    package static func isAlive(_ text: String) -> Bool {
        guard let end = text.lastIndex(of: ")") else { return false }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 6, let flags = UInt64(fields[6]) else { return false }
        return fields[0] != "Z" && fields[0] != "X" && flags & isExiting == 0
    }
}
