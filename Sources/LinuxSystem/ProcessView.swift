internal import CLinux
internal import Glibc

/// What a process reaches, and what keeps it from more, as one look at /proc shows it (`clinux_reader.h`).
package struct ProcessView {
    package typealias Namespace = ProcessConfinement.Namespace

    private let viewed: clx_viewed

    /// - Returns: `nil` for a process that is gone.
    init?(_ viewed: clx_viewed) {
        guard viewed.process.pid != 0 else { return nil }
        self.viewed = viewed
    }

    /// Looks at this process, or at one that this one has started or relies on. Of strangers `ProcessReaders` tells.
    ///
    /// - Throws: ESRCH where it is gone.
    package init(ofOurs process: Int32) throws(SystemError) {
        var viewed = clx_viewed()
        clx_view(process == getpid() ? 0 : process, "", &viewed)
        guard let view = Self(viewed) else {
            throw SystemError(operation: "look at process \(process)", errno: ESRCH)
        }
        self = view
    }

    var processID: Int32 { viewed.process.pid }

    /// When it started, on CLOCK_BOOTTIME in nanoseconds, rounded down to a tick of the clock.
    package var startedAt: Int64 {
        ProcessStat.nanoseconds(ofTicks: Int64(clamping: viewed.process.start_time))
    }

    /// The begin of its status, without its groups.
    ///
    /// - Throws: where it may not be read.
    func status() throws(SystemError) -> ProcessStatus {
        try check(viewed.status_error, "status")
        return withUnsafeBytes(of: viewed.status) {
            ProcessStatus($0.prefix(Int(viewed.status_length)))
        }
    }

    /// The identity of a namespace; `nil` where the kernel has none of the kind.
    ///
    /// - Throws: where the kernel does not tell, and nothing else does.
    func identity(of namespace: Namespace) throws(SystemError) -> String? {
        let seen = self[namespace]
        guard Self.isRefusal(seen.error) else { return try name(seen, namespace) }
        let own = try ProcessView(ofOurs: getpid())
        guard try mark(of: namespace) == own.mark(of: namespace) else { return Self.another }
        return try own.name(own[namespace], namespace)
    }

    /// The identity of what `/` is for it.
    ///
    /// - Throws: as above.
    func identityOfRoot() throws(SystemError) -> String? {
        guard Self.isRefusal(viewed.root_error) else { return try rootName() }
        let own = try ProcessView(ofOurs: getpid())
        // The number of the mount that is its `/`: a folder that is none has no such mount.
        guard try mount(viewed.root_mount) == own.mount(own.viewed.root_mount) else {
            return Self.another
        }
        return try own.rootName()
    }

    private static let another = "another"

    /// No CAP_SYS_PTRACE, as in most containers, where nobody can make a network of their own either.
    private static func isRefusal(_ error: Int32) -> Bool { error == EACCES || error == EPERM }

    private subscript(namespace: Namespace) -> clx_namespace {
        switch namespace {
        case .user: viewed.user
        case .mount: viewed.mount
        case .network: viewed.network
        case .process: viewed.pid
        }
    }

    private func name(
        _ seen: clx_namespace, _ namespace: Namespace
    ) throws(SystemError) -> String? {
        if seen.error == ENOENT { return nil }
        try check(seen.error, "ns/\(namespace.rawValue)")
        return Self.text(seen.name)
    }

    private func rootName() throws(SystemError) -> String? {
        if viewed.root_error == ENOENT { return nil }
        try check(viewed.root_error, "root")
        let root = viewed.root
        return "\(root.device_major):\(root.device_minor):\(root.inode)"
    }

    /// What everybody may read of it, and differs between most.
    private func mark(of namespace: Namespace) throws(SystemError) -> String? {
        switch namespace {
        // Nothing is held for the time of that read.
        case .user: try readText("/proc/\(processID)/uid_map", countMax: 4096)
        // The number of the first mount; each namespace has numbers of its own.
        case .mount: try mount(viewed.first_mount)
        // One number for each namespace that it has a number in.
        case .process: try status().namespaceDepth.map { "\($0)" }
        case .network: nil
        }
    }

    private func mount<Bytes>(_ number: Bytes) throws(SystemError) -> String {
        try check(viewed.mounts_error, "mountinfo")
        return Self.text(number)
    }

    private static func text<Bytes>(_ bytes: Bytes) -> String {
        withUnsafeBytes(of: bytes) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private func check(_ error: Int32, _ file: String) throws(SystemError) {
        guard error != 0 else { return }
        throw SystemError(operation: "read", errno: error, subject: "/proc/\(processID)/\(file)")
    }
}
