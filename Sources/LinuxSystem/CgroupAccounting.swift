internal import CLinux
internal import Glibc

/// Counts what the processes of a cgroup use, one task of the group after the other.
///
/// The kernel counts for as long as a group is there, and groups are used again. The CPU time is
/// counted in every group of cgroup v2 (cpu.stat), the memory where the group has the memory
/// controller (memory.peak, Linux 5.19).
final class CgroupAccounting {
    /// The folder of the group, borrowed.
    private let folder: Int32
    /// `nil` where it could not be opened yet.
    private var cpuFile: OwnedDescriptor?
    /// What the group had used before this task; `nil` where nobody has looked.
    private var cpuBefore: UInt64?
    /// `nil` where memory is not counted.
    private var memoryPeak: OwnedDescriptor?

    /// How much memory of its last task, such as files in the page cache, a group may still hold to be used again.
    /// It counts for the next task.
    private static let leftBytesMax: UInt64 = 4 << 20

    /// - Parameter resetsPeak: whether the peak may begin anew, where the kernel can do that.
    init(folder: Int32, resetsPeak: Bool = true) {
        self.folder = folder
        // Before Linux 6.12 the file can only be read.
        var file: Int32 = -1
        if resetsPeak { file = openat(folder, "memory.peak", O_RDWR | O_CLOEXEC) }
        if file < 0 { file = openat(folder, "memory.peak", O_RDONLY | O_CLOEXEC) }
        memoryPeak = file < 0 ? nil : OwnedDescriptor(file)
    }

    /// A task begins in the group.
    func begin() {
        if cpuBefore == nil { cpuBefore = readCPU() }
    }

    /// The group is the task's alone, from its making on.
    func beginUnused() { cpuBefore = 0 }

    /// What the task has used so far; `nil` where it cannot be read.
    func read() -> ProcessUse? {
        guard let before = cpuBefore, let now = readCPU(), now >= before else { return nil }
        return ProcessUse(cpuMicroseconds: now - before, memoryPeakBytes: readPeak())
    }

    /// The task's processes are gone: what comes now is the next one's.
    ///
    /// - Returns: what the task used.
    func end() -> ProcessUse? {
        let use = read()
        // Where it could not be read, the next task begins with a look.
        if let use { cpuBefore? += use.cpuMicroseconds } else { cpuBefore = nil }
        return use
    }

    /// Lets the count of memory begin anew for another task.
    ///
    /// - Returns: whether it does. Where not, as on Linux before 6.12 or with much left in the page cache,
    ///   the next task needs another group.
    func prepareForNext() -> Bool {
        guard let descriptor = memoryPeak?.rawValue, readPeak() != 0 else { return true }
        // Any write begins a new peak for those who read this open file.
        guard write(descriptor, "0", 1) == 1 else { return false }
        guard
            let current = try? OwnedDescriptor.open(
                "memory.current", flags: O_RDONLY, relativeTo: folder),
            let left = number(after: "", in: current.rawValue)
        else { return false }
        return left <= Self.leftBytesMax
    }

    private func readCPU() -> UInt64? {
        if cpuFile == nil {
            cpuFile = try? .open("cpu.stat", flags: O_RDONLY, relativeTo: folder)
        }
        return number(after: "usage_usec ", in: cpuFile?.rawValue)
    }

    private func readPeak() -> UInt64? {
        number(after: "", in: memoryPeak?.rawValue)
    }

    private func number(after word: String, in file: Int32?) -> UInt64? {
        var number: UInt64 = 0
        guard let file, clx_number_after(file, word, &number) == 1 else { return nil }
        return number
    }
}
