internal import Glibc

/// What makes whoever closes a descriptor wait in the kernel.
package enum Lingering: CaseIterable, Sendable {
    /// Of a connection: the last of those that close it waits, for ten minutes.
    case connection
    /// Of a file: each of those that close it waits, for ever.
    case file

    /// Of a file there can be one where FUSE may be used.
    package static let possible = UnflushedFile.isPossible ? allCases : [.connection]

    /// - Returns: `nil` for a connection.
    package func file() throws -> UnflushedFile? { self == .file ? try UnflushedFile() : nil }
}

/// A file whose every close(2) waits, and no signal ends that wait: its server never answers FLUSH (fuse(4)).
///
/// Unmounted with the value that stands for it, by which all go on that wait.
package final class UnflushedFile {
    package let path: String
    private let folder: String
    private var server: SilentServer?

    /// It could not be mounted.
    private struct NotMounted: Error {
        let status: Int32
    }

    fileprivate static let isPossible = geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0

    fileprivate init() throws {
        folder = "/tmp/bgtask-unflushed-\(UInt64.random(in: 0...UInt64.max))"
        path = folder + "/file"
        guard mkdir(folder, 0o755) == 0 else { throw NotMounted(status: errno) }
        server = try SilentServer(["hang-flush", folder], saying: "ready")
    }

    deinit {
        // Unmounted once it is gone.
        server = nil
        umount2(folder, Int32(MNT_DETACH))
        rmdir(folder)
    }
}
