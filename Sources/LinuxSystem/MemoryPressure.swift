internal import CLinux
internal import Glibc

/// How much of the time processes have waited for memory, as the kernel has it (pressure stall information, the kernel's
/// Documentation/accounting/psi.rst).
package struct MemoryPressure: Equatable, Sendable {
    /// Some of them, of the last ten seconds, in hundredths of a percent.
    package let some: Int
    /// All of them.
    package let full: Int

    /// Reads `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and `full` the same.
    package init?(_ text: String) {
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

    /// What a file says now; `nil` where it is none of the kernel's that says so, such as a FIFO that the service manager
    /// writes to.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let text = try? readText(path, countMax: MemoryPressure.bytesMax)
        else { return nil }
        self.init(text)
    }

    /// Two lines have fewer.
    private static let bytesMax = 4096

    private static func hundredths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 2, let whole = Int(parts[0]),
            (0...100).contains(whole), let rest = Int(parts[1]), (0...99).contains(rest)
        else { return nil }
        return whole * 100 + rest
    }
}
