internal import CLinux
internal import Glibc

extension ProcessUse {
    /// What the processes of a control group have used so far: the CPU time is counted in every group of cgroup v2
    /// (cpu.stat), the memory where the group has the memory controller (memory.peak, Linux 5.19).
    ///
    /// - Parameters:
    ///   - folder: of the group; borrowed.
    ///   - cpuBefore: the microseconds that others have used in it before.
    /// - Returns: `nil` where it cannot be read.
    init?(ofGroup folder: Int32, after cpuBefore: UInt64) {
        guard let time = Self.number(after: "usage_usec ", in: "cpu.stat", of: folder),
            time >= cpuBefore
        else { return nil }
        self.init(
            cpuMicroseconds: time - cpuBefore,
            memoryPeakBytes: Self.number(after: "", in: "memory.peak", of: folder))
    }

    private static func number(
        after word: String, in name: String, of folder: Int32
    ) -> UInt64? {
        var number: UInt64 = 0
        guard let file = try? OwnedDescriptor.open(name, flags: O_RDONLY, relativeTo: folder),
            clx_number_after(file.rawValue, word, &number) == 1
        else { return nil }
        return number
    }
}
