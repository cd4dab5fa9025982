import CLinux
import Glibc
import LinuxSystem

/// A group with the mark of delegation, as a service manager makes one.
final class DelegatedGroup {
    let folder: String

    /// - Parameter kind: tells apart those that one test has.
    init(_ kind: String = "test") throws {
        folder = try CgroupHierarchy().ownFolder + "/linux-system-\(kind)-\(getpid())"
        try systemCall("mkdir", folder) { mkdir(folder, 0o755) }
        try systemCall("setxattr", folder) {
            setxattr(folder, "trusted.delegate", "1", 1, 0)
        }
    }

    deinit {
        let group = try? Cgroup(folder: folder, name: "", makes: false)
        _ = try? group?.killAndWait(millisecondsMax: Harness.millisecondsMax)
        try? group?.removeSubgroups()
        try? group?.remove()
    }

    /// Moves a process there.
    func enter(_ process: String) throws {
        let path = folder + "/cgroup.procs"
        let file = OwnedDescriptor(try systemCall("open", path) { open(path, O_WRONLY) })
        _ = try systemCall("write", path) { write(file.rawValue, process, process.utf8.count) }
    }

    func processes(in below: String = "") throws -> [String] {
        try contents(of: folder + below + "/cgroup.procs").split(separator: "\n")
            .map(String.init)
    }

    /// The groups of commands in the folder of an executor's.
    func commands(in below: String) throws -> [String] {
        try names(inFolder: folder + below, foldersOnly: true)
            .filter { $0.hasPrefix("command-") }.map { "\(below)/\($0)" }
    }
}
