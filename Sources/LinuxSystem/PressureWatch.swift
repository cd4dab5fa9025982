internal import CLinux
internal import Glibc

/// Tells when processes wait for memory (pressure stall information, the kernel's
/// Documentation/accounting/psi.rst; systemd.io/MEMORY_PRESSURE).
///
/// A descriptor is ready at each new pressure, at most once in a window of 2 s. Where there is none, the
/// caller looks at ``availableShare()`` from time to time.
package final class PressureWatch {
    /// Where pressure is seen, the first of these that there is.
    package enum Source: Equatable, Sendable {
        /// What the service manager has named, in $MEMORY_PRESSURE_WATCH.
        case environment(path: String)
        /// The group that this process and its tasks live in.
        case cgroup(path: String)
        /// The whole machine.
        case system(path: String)
        /// No descriptor: memory that is available has to be looked at.
        case memAvailable(reason: String)
        /// The service manager wants nobody to watch.
        case off
    }

    /// How much memory of the machine can be had without swapping, in bytes.
    package struct AvailableMemory: Equatable, Sendable {
        package let available: UInt64
        package let total: UInt64

        package init(available: UInt64, total: UInt64) {
            self.available = available
            self.total = total
        }
    }

    package let source: Source
    private let root: String
    private let file: PressureFile?

    /// 200 ms of waiting in 2 s. Without privileges the window has to be a multiple of 2 s.
    private static let trigger = Array("some 200000 2000000\0".utf8)
    /// Of a FIFO or a socket, for each readiness: what is left makes it ready again.
    private static let readsMax = 16

    /// - Parameters:
    ///   - watch: $MEMORY_PRESSURE_WATCH.
    ///   - write: $MEMORY_PRESSURE_WRITE.
    ///   - root: a folder that stands for /, for all but `watch`; empty for the machine's own.
    package init(watch: String?, write: String?, root: String = "") {
        self.root = root
        (source, file) = Self.open(watch: watch, write: write, root: root)
    }

    /// The files in which the kernel may tell how high the pressure is that is watched.
    package struct Files: Equatable, Sendable {
        /// What the service manager has named, or our own group's; `nil` where there is no group.
        package let group: String?
        package let machine: String

        package init(group: String?, machine: String) {
            self.group = group
            self.machine = machine
        }
    }

    /// Where to read what a watch of these tells of; `nil` where the service manager wants nobody to watch.
    package static func files(watch: String?, root: String = "") -> Files? {
        let machine = root + "/proc/pressure/memory"
        guard let path = watch, !path.isEmpty else {
            let group = try? CgroupHierarchy(root: root).delegated.ownFolder
            return Files(group: group.map { $0 + "/memory.pressure" }, machine: machine)
        }
        if path == "/dev/null" { return nil }
        return Files(group: path == machine ? nil : path, machine: machine)
    }

    /// The descriptor to wait on; `nil` where there is none.
    package var descriptor: Int32? { file?.descriptor }

    /// What to wait for on the descriptor.
    package var readiness: Readiness { file?.readiness ?? [] }

    /// Takes what made the descriptor ready.
    ///
    /// - Returns: whether it can become ready again. Where not (the group was removed, the other end has
    ///   hung up) it is ready for ever, and another watch has to take its place.
    package func acknowledge() -> Bool {
        guard let descriptor = file?.descriptor else { return false }
        return readiness == .priority
            ? Self.isAlive(descriptor) : Self.drain(descriptor)
    }

    /// Reads how much memory the machine has left (MemAvailable, proc_meminfo(5)).
    package func availableShare() throws(SystemError) -> AvailableMemory {
        let path = root + "/proc/meminfo"
        let text = try readText(path)
        guard let available = Self.bytes("MemAvailable:", in: text),
            let total = Self.bytes("MemTotal:", in: text), total > 0
        else {
            throw SystemError(
                operation: "read", errno: EBADMSG, subject: path, detail: "no memory in it")
        }
        return AvailableMemory(available: min(available, total), total: total)
    }

    private static func bytes(_ key: String, in text: String) -> UInt64? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(key) }) else {
            return nil
        }
        let fields = line.split(separator: " ")
        guard fields.count > 1, let kibibytes = UInt64(fields[1]), kibibytes < 1 << 50 else {
            return nil
        }
        return kibibytes << 10
    }

    // MARK: - Readiness

    private static func isAlive(_ descriptor: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)
        return poll(&wanted, 1, 0) >= 0 && Int32(wanted.revents) & (POLLERR | POLLNVAL) == 0
    }

    private static func drain(_ descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<readsMax {
            let count = read(descriptor, &bytes, bytes.count)
            if count == 0 { return false }
            if count < 0, errno != EINTR { return errno == EAGAIN }
        }
        return true
    }

    // MARK: - Sources

    private static func open(
        watch: String?, write: String?, root: String
    ) -> (Source, PressureFile?) {
        if watch == "/dev/null" { return (.off, nil) }
        guard let path = watch, !path.isEmpty else { return openKernel(root) }
        do throws(SystemError) {
            let file = try PressureFile(path, write: decoded(write))
            return (.environment(path: path), file)
        } catch {
            return (.memAvailable(reason: "MEMORY_PRESSURE_WATCH: \(error)"), nil)
        }
    }

    private static func openKernel(_ root: String) -> (Source, PressureFile?) {
        var sources: [Source] = []
        var reasons: [String] = []
        do throws(ContainmentRefusal) {
            let group = try CgroupHierarchy(root: root).delegated.ownFolder
            sources.append(.cgroup(path: group + "/memory.pressure"))
        } catch {
            reasons.append(error.reason)
        }
        sources.append(.system(path: root + "/proc/pressure/memory"))
        for source in sources {
            do throws(SystemError) {
                return (source, try PressureFile(source.path, write: trigger))
            } catch {
                reasons.append("\(error)")
            }
        }
        return (.memAvailable(reason: reasons.joined(separator: "; ")), nil)
    }

    private static func decoded(_ text: String?) throws(SystemError) -> [UInt8] {
        guard let text else { return [] }
        if let bytes = decodeBase64(text) { return bytes }
        throw SystemError(
            operation: "decode", errno: EINVAL, subject: "MEMORY_PRESSURE_WRITE",
            detail: "this is no base64")
    }
}

extension PressureWatch.Source {
    /// The file that is watched; empty where there is none.
    package var path: String {
        switch self {
        case .environment(let path), .cgroup(let path), .system(let path): path
        case .memAvailable, .off: ""
        }
    }
}

extension PressureWatch.Source: CustomStringConvertible {
    /// In words: `the pressure of /proc/pressure/memory`.
    package var description: String {
        switch self {
        case .environment(let path): "what the service manager has named, \(path)"
        case .cgroup(let path): "the pressure of the daemon's group, \(path)"
        case .system(let path): "the pressure of the machine, \(path)"
        case .memAvailable(let reason): "the machine's available memory (\(reason))"
        case .off: "nothing: switched off by MEMORY_PRESSURE_WATCH"
        }
    }
}
