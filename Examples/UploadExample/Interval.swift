import BackgroundTasksKit

/// Keeps two uploads apart. A file knows the last one, since a suspended application may be killed.
struct Interval {
    let path: String
    let seconds: Int

    var isOver: Bool {
        let words = (try? String(contentsOfFile: path, encoding: .utf8))?.split {
            $0.isWhitespace
        }
        guard let words, words.count == 2, words[0] == (try? boot()), let begin = Int(words[1])
        else { return true }
        return nowMs - begin >= seconds * 1000
    }

    func start() throws {
        try "\(boot()) \(nowMs)\n".write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// A clock that goes on while the machine sleeps, and that nobody can set.
    private var nowMs: Int {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// The clock starts anew with the machine.
    private func boot() throws -> Substring {
        try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            .prefix { !$0.isWhitespace }
    }
}
