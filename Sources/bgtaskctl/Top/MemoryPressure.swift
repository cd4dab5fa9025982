internal import Glibc

/// How much of the time processes have waited for memory, as the kernel has it (PSI).
struct MemoryPressure: Equatable, Sendable {
    /// Some of them, of the last ten seconds, in hundredths of a percent.
    let some: Int
    /// All of them.
    let full: Int

    private static let path = "/proc/pressure/memory"

    /// Reads `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and `full` the same.
    init?(_ text: String) {
        var values: [Substring: Int] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let kind = words.first,
                let average = words.first(where: { $0.hasPrefix("avg10=") })
            else { continue }
            values[kind] = MemoryPressure.hundredths(average.dropFirst("avg10=".count))
        }
        guard let some = values["some"] else { return nil }
        self.some = some
        full = values["full"] ?? 0
    }

    private static func hundredths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 2, let whole = Int(parts[0]),
            (0...100).contains(whole), let rest = Int(parts[1]), (0...99).contains(rest)
        else { return nil }
        return whole * 100 + rest
    }

    /// Of this machine, now; `nil` where the kernel does not say.
    static func now() -> MemoryPressure? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return MemoryPressure(String(decoding: bytes[..<count], as: UTF8.self))
    }

    /// `some waited for it 0.41% of the last 10s, all 0.00%`.
    var text: String {
        let (some, all) = (MemoryPressure.percent(some), MemoryPressure.percent(full))
        return "some waited for it \(some) of the last 10s, all \(all)"
    }

    private static func percent(_ hundredths: Int) -> String {
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)%"
    }
}
