internal import ApplicationKit
internal import FoundationEssentials

/// Keeps two uploads apart. A file knows the last one, since a suspended application may be killed.
struct Interval {
    let path: String
    let seconds: Int

    func isOver() throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return true }
        let words = try String(contentsOfFile: path, encoding: .utf8).split {
            $0.isWhitespace
        }
        guard words.count == 2, words[0] == (try boot()), let begin = Int(words[1]) else {
            return true
        }
        return now() - begin >= seconds * 1000
    }

    func start() throws {
        try "\(boot()) \(now())\n".write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// The clock starts anew with the machine.
    private func boot() throws -> Substring {
        try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            .prefix { !$0.isWhitespace }
    }
}
