import Glibc

/// A process that /proc, as everybody sees it, says nothing of: something is mounted on its folder there.
final class HiddenProcess {
    private let folder: String

    init(_ processID: pid_t) throws {
        folder = "/proc/\(processID)"
        guard mount("none", folder, "tmpfs", 0, nil) == 0 else {
            throw Child.CannotStart(program: "mount \(folder)", errno: errno)
        }
    }

    /// Until then nothing can be read of it.
    func show() { umount2(folder, Int32(MNT_DETACH)) }

    deinit { show() }
}
