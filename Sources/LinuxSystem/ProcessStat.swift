internal import Glibc

/// What /proc/PID/task/TID/stat says of a process (proc_pid_stat(5)).
///
/// The name before these fields, in parentheses, is the process's own choice. It may hold parentheses and
/// blanks, and a scalar that makes one `Character` with the parenthesis behind it; so bytes are looked at.
package struct ProcessStat: Equatable {
    /// Of its first thread.
    package let state: Character
    package let parent: Int32
    /// Clock ticks since boot.
    package let startTime: Int64

    /// - Returns: `nil` for what is no such text.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard let nameEnd = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = Substring(bytes[bytes.index(after: nameEnd)...]).parts(between: " ")
        // The first of these is the third of all.
        guard fields.count > 19, let state = fields[0].first, let parent = Int32(fields[1]),
            let startTime = Int64(fields[19])
        else { return nil }
        self.state = state
        self.parent = parent
        self.startTime = startTime
    }

    /// An instant in clock ticks since boot, on CLOCK_BOOTTIME in nanoseconds.
    static func nanoseconds(ofTicks ticks: Int64) -> Int64 {
        let perSecond = Int64(max(sysconf(Int32(_SC_CLK_TCK)), 1))
        return ticks.multipliedReportingOverflow(by: max(1_000_000_000 / perSecond, 1))
            .partialValue
    }

    /// Reads what is said of its first thread: for the whole process the kernel would go through all threads. Of strangers
    /// `ProcessReaders` tells.
    ///
    /// - Throws: ENOENT or ESRCH where there is no such process.
    package init(of processID: Int32) throws(SystemError) {
        let path = "/proc/\(processID)/task/\(processID)/stat"
        let text = try withBoundedWaits { () throws(SystemError) in
            try readText(path, countMax: 4096)
        }
        guard let stat = ProcessStat(text) else {
            throw SystemError(operation: "read", errno: EINVAL, subject: path)
        }
        self = stat
    }
}
