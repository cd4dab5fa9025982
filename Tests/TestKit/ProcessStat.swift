/// What /proc/PID/stat says of a process (proc_pid_stat(5)).
package enum ProcessStat {
    /// PF_EXITING of the kernel's include/linux/sched.h.
    private static let isExiting: UInt64 = 0x4

    /// The fields behind the name, which may have spaces and parentheses in it: the first is the state, field 3 there.
    package static func fields(_ text: String) -> [Substring] {
        guard let end = text.lastIndex(of: ")") else { return [] }
        return text[text.index(after: end)...].split(separator: " ")
    }

    /// The processor time of a process and its threads so far, in clock ticks (fields 14 and 15).
    package static func processorTicks(_ text: String) -> Int? {
        let fields = fields(text)
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else {
            return nil
        }
        return user + system
    }

    /// How often it has read something, of what /proc/PID/io says (proc_pid_io(5)).
    package static func readCount(_ io: String) -> Int? {
        let line = io.split(separator: "\n").first { $0.hasPrefix("syscr:") }
        return line?.split(separator: " ").last.flatMap { Int($0) }
    }

    /// Whether it runs or will run: neither a zombie, nor on the way there. A control group is empty, and a descriptor
    /// closed, a moment before a process is a zombie.
    package static func isAlive(_ text: String) -> Bool {
        let fields = fields(text)
        guard fields.count > 6, let flags = UInt64(fields[6]) else { return false }
        return fields[0] != "Z" && fields[0] != "X" && flags & isExiting == 0
    }
}
