internal import Glibc

/// A file system that somebody has mounted, in a mount namespace of theirs, on what others see: whoever removes that lets go of
/// it, and no signal ends that wait.
///
/// All go on that wait when the value that stands for it goes.
package final class HeldMount {
    private let server: pid_t
    /// What its server says comes from there.
    private let said: Int32

    /// It could not be mounted.
    private struct NotMounted: Error {
        let path: String
    }

    /// Why there can be none, or `nil`.
    package static let refusal: String? =
        if geteuid() != 0 {
            "only root mounts without a user namespace"
        } else if access("/dev/fuse", R_OK | W_OK) != 0 {
            "there is no /dev/fuse"
        } else {
            hasHolder ? nil : "nothing holds a file system without ustat(2)"
        }

    #if arch(x86_64)
        private static let hasHolder = true
    #else
        private static let hasHolder = false
    #endif

    /// - Parameter path: a folder or a file of any kind.
    package init(on path: String) throws {
        var ends: [Int32] = [-1, -1]
        guard
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else { throw NotMounted(path: path) }
        said = ends[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let words = [
            "/usr/bin/unshare", "--mount", "--propagation", "private",
            Programs.path("silent-file-system"), "hang-unmount", path,
        ]
        var arguments = words.map { $0.withCString { strdup($0) } } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let status = posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
        close(ends[1])
        guard status == 0 else { throw NotMounted(path: path) }
        server = process
        // "ready", then "hangs" and who holds it.
        var text = ""
        var byte: UInt8 = 0
        while !text.contains("hangs") {
            guard read(said, &byte, 1) == 1 else { throw NotMounted(path: path) }
            text.append(Character(Unicode.Scalar(byte)))
        }
    }

    deinit {
        // The mask of a thread of dispatch, which it has, blocks all others.
        kill(server, SIGKILL)
        waitpid(server, nil, 0)
        close(said)
    }
}
