import CSystemd
import Glibc
import Synchronization
import Systemd

/// The program in Tests/SystemdProbe, run with an environment and descriptors of its own.
enum Probe {
    struct Ended: Error {
        var status: Int32
        var output: String
    }

    /// Runs it to its end, with `standardError` as its descriptor 2 and `passed` as 3 and up.
    ///
    /// Through a shell that sets LISTEN_PID, which nobody can know before the fork.
    static func run(
        _ mode: String,
        environment: [String] = [],
        standardError: Int32? = nil,
        passing passed: [Int32] = []
    ) throws -> Ended {
        let output = try Pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output.writer, 1)
        if let standardError {
            posix_spawn_file_actions_adddup2(&actions, standardError, 2)
        }
        for (index, descriptor) in passed.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(3 + index))
        }
        let script = "LISTEN_PID=$$; export LISTEN_PID; exec \"$0\" \"$1\""
        let arguments = ["sh", "-c", script, try path(), mode]
        var process = pid_t()
        let result = withStrings(arguments) { arguments in
            withStrings(environment) { environment in
                spawning.withLock { _ in
                    posix_spawn(&process, "/bin/sh", &actions, nil, arguments, environment)
                }
            }
        }
        guard result == 0 else { throw SystemdError(operation: "posix_spawn", errno: result) }
        output.closeWriter()
        let text = String(decoding: output.readToEnd(), as: UTF8.self)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return Ended(status: status >> 8, output: text)
    }

    /// Beside the test program, which SwiftPM puts into the same folder.
    private static func path() throws -> String {
        var bytes = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        let program = String(
            decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
        let folder = program.split(separator: "/").dropLast().joined(separator: "/")
        return "/\(folder)/systemd-probe"
    }

    private static func withStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = strings.map { strdup($0) }
        defer { pointers.forEach { free($0) } }
        return body(pointers + [nil])
    }
}

/// A Unix socket bound in a folder of its own under /tmp, removed with its last reference.
final class BoundSocket {
    let descriptor: Int32
    let path: String
    private let folder: String

    init(_ type: __socket_type, listening: Bool = false) throws {
        var template = Array("/tmp/bgtaskd-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemdError(operation: "mkdtemp", errno: errno)
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = "\(folder)/socket"
        descriptor = socket(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, !listening || listen(descriptor, 16) == 0 else {
            throw SystemdError(operation: "bind", errno: errno, subject: path)
        }
    }

    deinit {
        close(descriptor)
        unlink(path)
        rmdir(folder)
    }

    /// All datagrams that are waiting.
    func datagrams() -> [String] {
        var found: [String] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count >= 0 else { return found }
            found.append(String(decoding: bytes.prefix(count), as: UTF8.self))
        }
    }
}
