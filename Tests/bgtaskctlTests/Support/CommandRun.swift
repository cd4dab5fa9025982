import Glibc
import TestKit
import Testing

/// bgtaskctl (or a shell that calls it) as a process, with its output read as it comes.
final class CommandRun {
    let processID: pid_t
    private var pipes: [Int32]
    private(set) var output = ""
    private(set) var errors = ""

    /// How long anything is waited for before the process is killed and the test fails.
    private static let patience = Duration.seconds(30)

    static let program = Programs.path("bgtaskctl")

    /// Starts bgtaskctl; its socket is that of the daemon.
    convenience init(_ daemon: FakeDaemon, _ arguments: String...) throws {
        try self.init(
            [CommandRun.program] + arguments,
            ["BGTASK_SOCKET=\(daemon.path)", "PATH=/usr/bin:/bin"])
    }

    /// - Parameters:
    ///   - screen: the size of the terminal that standard output is; `nil` where it is none.
    ///   - errorScreen: the same of standard error.
    init(
        _ command: [String], _ environment: [String],
        screen: (rows: UInt16, columns: UInt16)? = nil,
        errorScreen: (rows: UInt16, columns: UInt16)? = nil
    ) throws {
        let out = try screen.map(makeTerminal) ?? makeDescriptorPair()
        let err = try errorScreen.map(makeTerminal) ?? makeDescriptorPair()
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&files, out.write, 1)
        posix_spawn_file_actions_adddup2(&files, err.write, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setpgroup(&attributes, 0)
        // The threads that tests run on hold signals back.
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let words = command.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var process: pid_t = 0
        errno = posix_spawn(&process, command[0], &files, &attributes, words, variables)
        close(out.write)
        close(err.write)
        guard errno == 0 else { throw SupportError("posix_spawn") }
        processID = process
        pipes = [out.read, err.read]
    }

    /// Reads until something is there.
    func wait(until isThere: (CommandRun) -> Bool) {
        let deadline = ContinuousClock.now.advanced(by: CommandRun.patience)
        while !isThere(self), pipes.contains(where: { $0 >= 0 }) {
            guard ContinuousClock.now < deadline else {
                Issue.record("waited in vain; so far: \(output) \(errors)")
                kill(-processID, SIGKILL)
                return
            }
            readOnce()
        }
    }

    private func readOnce() {
        var requests = pipes.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&requests, nfds_t(requests.count), 1000) > 0 else { return }
        for (index, request) in requests.enumerated() where request.revents != 0 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(request.fd, &buffer, buffer.count)
            guard count > 0 else {
                close(request.fd)
                pipes[index] = -1
                continue
            }
            let text = String(decoding: buffer[..<count], as: UTF8.self)
            if index == 0 { output += text } else { errors += text }
        }
    }

    /// Reads to the end.
    ///
    /// - Returns: the status as a shell tells it: 128+N where signal N ended the process.
    func finish() -> Int32 {
        wait { _ in false }
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        let number = status & 0x7F
        return number == 0 ? status >> 8 & 0xFF : 128 + number
    }

    deinit {
        for descriptor in pipes where descriptor >= 0 { close(descriptor) }
    }
}
