internal import Glibc

/// The folder in which an executor has the groups of its commands.
struct ExecutorTree {
    private let folder: Folder
    /// Its path here, and its name as /proc/PID/cgroup shows it.
    let path: String
    private let name: String

    /// Open for as long as one has it.
    private final class Folder {
        let descriptor: OwnedDescriptor

        init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    }

    init(_ descriptor: consuming OwnedDescriptor) {
        path = descriptorPath(descriptor.rawValue) ?? ""
        name = CgroupHierarchy.name(ofFolder: path)
        folder = Folder(descriptor)
    }

    func folder(ofGroup number: UInt64) throws(SystemError) -> OwnedDescriptor {
        try .open(
            "command-\(number)", flags: O_RDONLY | O_DIRECTORY,
            relativeTo: folder.descriptor.rawValue)
    }

    func name(ofGroup number: UInt64) -> String { "\(name)/command-\(number)" }

    func cgroup(_ number: UInt64) throws(SystemError) -> Cgroup {
        try Cgroup(
            folder: "\(path)/command-\(number)", name: name(ofGroup: number), makes: false)
    }
}

/// The path of what a descriptor is open for; `nil` where it has none.
private func descriptorPath(_ descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/fd/\(descriptor)", &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
}
