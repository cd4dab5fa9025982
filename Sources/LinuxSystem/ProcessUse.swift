internal import CLinux
internal import Glibc

/// What processes used of the machine, as the kernel counted it.
package struct ProcessUse: Equatable, Sendable {
    package var cpuMicroseconds: UInt64
    /// The most memory that they held at one time; `nil` where nothing counts it for them alone.
    ///
    /// A memory controller counts what all hold together, page cache included. Without one it is
    /// the resident memory of the largest process.
    package var memoryPeakBytes: UInt64?

    init(cpuMicroseconds: UInt64 = 0, memoryPeakBytes: UInt64? = nil) {
        self.cpuMicroseconds = cpuMicroseconds
        self.memoryPeakBytes = memoryPeakBytes
    }

    /// Adds what other processes used; `nil` where that is unknown.
    func adding(_ other: ProcessUse?) -> ProcessUse? {
        guard let other else { return nil }
        return ProcessUse(
            cpuMicroseconds: cpuMicroseconds &+ other.cpuMicroseconds,
            memoryPeakBytes: Self.larger(memoryPeakBytes, other.memoryPeakBytes)
        )
    }

    /// Takes the larger peak of this count and another of the same processes.
    func withPeak(of other: ProcessUse?) -> ProcessUse {
        var both = self
        both.memoryPeakBytes = Self.larger(memoryPeakBytes, other?.memoryPeakBytes)
        return both
    }

    private static func larger(_ one: UInt64?, _ other: UInt64?) -> UInt64? {
        guard let one, let other else { return one ?? other }
        return max(one, other)
    }
}

/// Decides whether a child's peak of memory is its own or this process's.
///
/// The kernel's count of a child (ru_maxrss, getrusage(2)) begins with the peak of the process that it
/// was cloned from: execve(2) keeps the peak of the memory that it leaves, which was ours. A child that
/// needed less than we did shows our peak.
struct InheritedPeak {
    /// What this process is known to have held.
    private var ownBytes: UInt64 = 0

    /// - Returns: `nil` where the peak may be ours.
    mutating func exclude(from childBytes: UInt64) -> UInt64? {
        // Most children show the peak that is known already; the file is read only where ours may have grown.
        guard isBeyond(childBytes) else { return nil }
        guard let now = Self.ownPeakBytes() else { return nil }
        ownBytes = max(ownBytes, now)
        return isBeyond(childBytes) ? childBytes : nil
    }

    /// The kernel's counters of one process are exact to some pages for each processor.
    private func isBeyond(_ childBytes: UInt64) -> Bool {
        childBytes > ownBytes &+ ownBytes / 8
    }

    /// VmHWM of proc_pid_status(5): of the memory since the last execve(2), unlike our own ru_maxrss.
    static func ownPeakBytes() -> UInt64? {
        guard let text = try? readText("/proc/self/status") else { return nil }
        return number(after: "VmHWM:", in: text).map { $0 &* 1024 }
    }
}

/// The number in the line that begins with a word, as files of /proc and /sys have it.
func number(after word: String, in text: String) -> UInt64? {
    for line in text.split(separator: "\n") where line.hasPrefix(word) {
        let digits = line.dropFirst(word.count).drop { $0 == " " || $0 == "\t" }
        return UInt64(digits.prefix { $0 != " " })
    }
    return nil
}
