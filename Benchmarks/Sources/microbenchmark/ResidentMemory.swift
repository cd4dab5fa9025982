internal import Glibc

/// What this process has in memory, as the kernel counts it (proc_pid_statm(5)).
enum ResidentMemory {
    static var bytes: Int {
        get throws {
            let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { throw Surprise.noStatistics }
            defer { close(file) }
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { throw Surprise.noStatistics }
            let words = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
            guard words.count > 1, let pages = Int(words[1]) else { throw Surprise.noStatistics }
            return pages * sysconf(Int32(_SC_PAGESIZE))
        }
    }
}
