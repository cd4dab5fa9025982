import Glibc

/// A program that a test runs; killed and reaped with the value that stands for it.
final class ChildProcess {
    private let process: pid_t
    private let output: Int32
    private(set) var text = ""
    private var isReaped = false

    /// The program could not be started.
    struct CannotStart: Error {
        let program: String
        let errno: Int32
    }

    /// What was waited for did not come in time.
    struct TimedOut: Error {
        let output: String
    }

    /// Starts a program; what it writes to either stream is `text`.
    init(_ program: String, _ arguments: [String]) throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw CannotStart(program: program, errno: errno)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        var pointers = ([program] + arguments).map { strdup($0) } + [nil]
        var process: pid_t = 0
        let result = posix_spawn(&process, program, &actions, nil, &pointers, environ)
        for pointer in pointers { free(pointer) }
        posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        guard result == 0 else {
            close(ends[0])
            throw CannotStart(program: program, errno: result)
        }
        self.process = process
        output = ends[0]
    }

    deinit {
        close(output)
        guard !isReaped else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    /// Waits until the program has written this.
    func waitForOutput(_ wanted: String) throws {
        while !text.contains(wanted) {
            guard try readMore() else { throw TimedOut(output: text) }
        }
    }

    /// Waits for the end of the program.
    ///
    /// - Returns: its exit status; negative for a signal.
    func waitForEnd() throws -> Int32 {
        while try readMore() {}
        var status: Int32 = 0
        waitpid(process, &status, 0)
        isReaped = true
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// Reads what comes; `false` at the end.
    private func readMore() throws -> Bool {
        var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, 60_000) > 0 else { throw TimedOut(output: text) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &buffer, buffer.count)
        guard count > 0 else { return false }
        text += String(decoding: buffer[..<count], as: UTF8.self)
        return true
    }
}

/// A folder of its own for a test, removed with its contents' sockets.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/varlink-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ChildProcess.CannotStart(program: "mkdtemp", errno: errno)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in ["socket"] { unlink(path + "/" + name) }
        rmdir(path)
    }
}

/// The certification peer, which is built beside the tests.
let certificationPeer: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(
        decoding: buffer[..<max(count, 0)].map { UInt8(bitPattern: $0) },
        as: UTF8.self
    )
    let folder = own.lastIndex(of: "/").map { own[..<$0] } ?? "."
    return folder + "/certification-peer"
}()
