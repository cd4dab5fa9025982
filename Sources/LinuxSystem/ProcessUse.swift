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

}

/// The number in the line that begins with a word, as files of /proc and /sys have it.
func number(after word: String, in text: String) -> UInt64? {
    for line in text.split(separator: "\n") where line.hasPrefix(word) {
        let digits = line.dropFirst(word.count).drop { $0 == " " || $0 == "\t" }
        return UInt64(digits.prefix { $0 != " " })
    }
    return nil
}
