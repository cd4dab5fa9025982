import Glibc

/// A control group outside of those of any daemon, such as the service manager moves a process to that asks
/// it for a scope of its own, or pam_systemd one that changes its user.
final class OtherGroup {
    let folder: String
    /// Folders below it, outermost first, each with the one around it.
    private var below: [(parent: Int32, name: String)] = []

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
        for (parent, name) in below.reversed() {
            unlinkat(parent, name, AT_REMOVEDIR)
            close(parent)
        }
        rmdir(folder)
    }

    /// Moves a process here, as root may.
    func take(_ processID: pid_t) throws {
        try take(processID, open(folder + "/cgroup.procs", O_WRONLY | O_CLOEXEC))
    }

    /// Moves a process to a group below with a longer name than a path may have.
    func takeDeep(_ processID: pid_t) throws {
        var parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let name = String(repeating: "x", count: 250)
        for _ in 0..<20 {
            let made = mkdirat(parent, name, 0o755)
            guard made == 0 else { throw Child.CannotStart(program: "mkdir", errno: errno) }
            below.append((parent, name))
            parent = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        defer { close(parent) }
        try take(processID, openat(parent, "cgroup.procs", O_WRONLY | O_CLOEXEC))
    }

    private func take(_ processID: pid_t, _ file: Int32) throws {
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
