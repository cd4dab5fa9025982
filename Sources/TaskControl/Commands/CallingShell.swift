package import Glibc

/// Finds the process on whose behalf bgtaskctl was called, to which a task can belong that outlives bgtaskctl.
///
/// That is the parent, but for one case: in `id=$(bgtaskctl begin …)` a shell may fork itself for the parentheses,
/// and that fork ends with bgtaskctl. The fork is recognised by the pipe that it has as its standard output, as
/// bgtaskctl has, and by the address of its stack, which is its parent's as long as it has executed nothing.
enum CallingShell {
    /// Parentheses within parentheses are followed this far.
    private static let depthMax = 16

    static func processID() -> pid_t {
        let output = ProcessFile.output(of: getpid())
        var shell = getppid()
        guard let output, output.hasPrefix("pipe:") else { return shell }
        for _ in 0..<depthMax {
            guard ProcessFile.output(of: shell) == output,
                let fork = ProcessFile.stack(of: shell), fork.parent > 1, fork.start != 0,
                let parent = ProcessFile.stack(of: fork.parent), parent.start == fork.start
            else { break }
            shell = fork.parent
        }
        return shell
    }
}

/// Reads what /proc says of a process; `nil` where it may not be known (proc_pid_stat(5)).
package enum ProcessFile {
    /// What standard output is, such as `pipe:[1234]`.
    static func output(of process: pid_t) -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = readlink("/proc/\(process)/fd/1", &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// The parent, and where the stack starts; that is 0 where the caller may not know it.
    static func stack(of process: pid_t) -> (parent: pid_t, start: UInt)? {
        let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return stack(from: buffer[..<count])
    }

    /// The second field is the program's name in parentheses, and may have any byte in it.
    package static func stack(from line: ArraySlice<UInt8>) -> (parent: pid_t, start: UInt)? {
        guard let nameEnd = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = line[(nameEnd + 1)...].split(separator: UInt8(ascii: " "))
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 25, let parent = pid_t(fields[1]), let start = UInt(fields[25]) else {
            return nil
        }
        return (parent, start)
    }
}
