import Glibc

/// A control group outside of those of any daemon, such as the service manager moves a process to that asks
/// it for a scope of its own, or pam_systemd one that changes its user.
final class OtherGroup {
    let folder: String

    init() throws {
        let number = UInt64.random(in: 0...UInt64.max)
        folder = DaemonProcess.groupParent + "/bgtaskd-test-\(number)"
        guard mkdir(folder, 0o755) == 0 else {
            throw Child.CannotStart(program: folder, errno: errno)
        }
    }

    deinit {
        try? Files.write("1", to: folder + "/cgroup.kill")
        try? eventually("no process is left in \(folder)") {
            Files.text(folder + "/cgroup.events").contains("populated 0")
        }
        rmdir(folder)
    }

    /// Moves a process here, as root may.
    func take(_ processID: pid_t) throws {
        let file = open(folder + "/cgroup.procs", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw Child.CannotStart(program: folder, errno: errno) }
        defer { close(file) }
        let bytes = Array("\(processID)".utf8)
        guard write(file, bytes, bytes.count) == bytes.count else {
            throw Child.CannotStart(program: "move \(processID)", errno: errno)
        }
    }

    var processIDs: [pid_t] {
        Files.text(folder + "/cgroup.procs").split(separator: "\n").compactMap { pid_t($0) }
    }
}
