internal import Glibc

/// The server of a file system that does not answer (Tests/Helpers/silent-file-system). It is killed with the value that stands
/// for it.
final class SilentServer {
    private var process: pid_t = 0
    /// What it says comes from there.
    private var said: Int32 = -1

    /// It could not be mounted.
    private struct NotMounted: Error {
        let status: Int32
    }

    /// - Parameters:
    ///   - words: after its own name.
    ///   - starter: what it is started by, as its first words.
    ///   - word: what it says when it is of use.
    init(_ words: [String], by starter: [String] = [], saying word: String) throws {
        var ends: [Int32] = [-1, -1]
        guard
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else { throw NotMounted(status: errno) }
        said = ends[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let all = starter + [Programs.path("silent-file-system")] + words
        var arguments = all.map { $0.withCString { strdup($0) } } + [nil]
        defer { for argument in arguments { free(argument) } }
        let status = posix_spawn(&process, all[0], &actions, nil, &arguments, environ)
        close(ends[1])
        guard status == 0 else { throw NotMounted(status: status) }
        var text = ""
        var byte: UInt8 = 0
        while !text.contains(word) {
            guard read(said, &byte, 1) == 1 else { throw NotMounted(status: 0) }
            text.append(Character(Unicode.Scalar(byte)))
        }
    }

    deinit {
        if process > 0 {
            // The mask of a thread of dispatch, which it has, blocks all others.
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        close(said)
    }
}
