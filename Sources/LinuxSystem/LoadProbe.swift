internal import Glibc

/// How busy the machine is now, by the kernel's own averages.
package struct Load: Equatable, Sendable {
    /// In how much of the last 10 s some task waited for a processor, in percent; `nil` where the kernel
    /// has no pressure stall information, or it is off.
    package var cpuPressure: Double?
    /// The same for I/O.
    package var ioPressure: Double?
    /// Tasks that ran or waited to run, or for a disk, averaged over a minute.
    package var average: Double
    /// Processors that are online, 1 or more.
    package var processors: Int

    package init(
        cpuPressure: Double? = nil, ioPressure: Double? = nil, average: Double, processors: Int
    ) {
        self.cpuPressure = cpuPressure
        self.ioPressure = ioPressure
        self.average = average
        self.processors = processors
    }
}

/// Reads ``Load`` (proc(5), the kernel's Documentation/accounting/psi.rst).
package struct LoadProbe: Sendable {
    private let root: String

    private static let bytesMax = 4096

    /// - Parameter root: a folder that stands for /; empty for the machine's own.
    package init(root: String = "") {
        self.root = root
    }

    /// - Throws: where there is no load average.
    package func read() throws(SystemError) -> Load {
        let path = root + "/proc/loadavg"
        let text = try readText(path, countMax: Self.bytesMax)
        guard let average = text.split(separator: " ").first.flatMap(Self.number) else {
            throw SystemError(
                operation: "read", errno: EBADMSG, subject: path, detail: "no load average in it")
        }
        return Load(
            cpuPressure: pressure("cpu"), ioPressure: pressure("io"), average: average,
            processors: processors())
    }

    /// Where pressure is off, the file is there, and reading it answers EOPNOTSUPP.
    private func pressure(_ resource: String) -> Double? {
        let path = "\(root)/proc/pressure/\(resource)"
        guard let text = try? readText(path, countMax: Self.bytesMax),
            let line = text.split(whereSeparator: \.isNewline).first(where: {
                $0.hasPrefix("some ")
            }),
            let field = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") })
        else { return nil }
        return Self.number(field.dropFirst("avg10=".count))
    }

    /// Counts a list such as `0-3,8`.
    private func processors() -> Int {
        let list = try? readText(root + "/sys/devices/system/cpu/online", countMax: Self.bytesMax)
        let text = list?.split(whereSeparator: \.isNewline).first ?? ""
        let count = text.split(separator: ",").reduce(0) { sum, range in
            let bounds = range.split(separator: "-").compactMap { UInt16($0) }
            guard let first = bounds.first, let last = bounds.last, first <= last else {
                return sum
            }
            return sum + Int(last - first) + 1
        }
        return count > 0 ? count : max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
    }

    private static func number(_ text: Substring) -> Double? {
        Double(text).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    }
}
