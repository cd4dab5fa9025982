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
    /// What its server says goes there, and nobody reads it.
    private var said: Int32 = -1
    private var server: pid_t = 0

    /// It could not be mounted.
    private struct NotMounted: Error {
        let status: Int32
    }

    fileprivate static let isPossible = geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0

    fileprivate init() throws {
        folder = "/tmp/bgtask-unflushed-\(UInt64.random(in: 0...UInt64.max))"
        path = folder + "/file"
        guard mkdir(folder, 0o755) == 0 else { throw NotMounted(status: errno) }
        var ends: [Int32] = [-1, -1]
        guard
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else { throw NotMounted(status: errno) }
        said = ends[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let program = Programs.path("silent-file-system")
        var arguments =
            [program, "hang-flush", folder].map { $0.withCString { strdup($0) } } + [nil]
        defer { for argument in arguments { free(argument) } }
        let status = posix_spawn(&server, program, &actions, nil, &arguments, environ)
        close(ends[1])
        guard status == 0 else { throw NotMounted(status: status) }
        // It says "ready".
        var byte: UInt8 = 0
        guard read(ends[0], &byte, 1) == 1 else { throw NotMounted(status: 0) }
    }

    deinit {
        if server > 0 {
            // The mask of a thread of dispatch, which it has, blocks all others.
            kill(server, SIGKILL)
            waitpid(server, nil, 0)
            umount2(folder, Int32(MNT_DETACH))
        }
        rmdir(folder)
        close(said)
    }
}
