import Glibc

/// A shell with job control at a terminal of its own, whose keys a test presses and whose screen it reads.
final class TerminalSession {
    private let terminal: Int32
    private let shell: pid_t
    private(set) var screen: TerminalScreen
    /// Bytes that are no whole character yet.
    private var rest: [UInt8] = []

    /// Something of the terminal could not be had.
    struct Failure: Error {
        let operation: String
        let errno: Int32
    }

    // ioctl_tty(2); the compiler does not see these.
    private static let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    /// Runs a script in a shell whose session has the terminal.
    init(
        _ script: String, environment: [String], rows: Int = 24, columns: Int = 80
    ) throws {
        screen = TerminalScreen(rows: rows, columns: columns)
        terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (isLocked, place): (Int32, Int32) = (0, 0)
        guard terminal >= 0, ioctl(terminal, Self.unlock, &isLocked) == 0,
            ioctl(terminal, Self.number, &place) == 0
        else { throw Failure(operation: "ptmx", errno: errno) }
        var size = winsize(
            ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a session opens is that of the session.
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/pts/\(place)", O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads that tests run on hold signals back.
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        // Who runs the tests may have Ctrl-C ignored, as a shell does for what it runs behind itself.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in [SIGINT, SIGQUIT] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        let newSession: Int16 = 0x80
        posix_spawnattr_setflags(
            &attributes,
            newSession | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
        let words =
            ["/bin/bash", "-m", "-c", script].map { (word: String) in strdup(word) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/bin/bash", &actions, &attributes, words, variables)
        guard code == 0 else { throw Failure(operation: "posix_spawn", errno: code) }
        shell = process
    }

    deinit {
        // Its session gets SIGHUP.
        close(terminal)
        kill(shell, SIGKILL)
        waitpid(shell, nil, 0)
    }

    /// Presses keys.
    func press(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(terminal, bytes, bytes.count)
    }

    /// Gives the terminal another size.
    func resize(rows: Int, columns: Int) {
        read()
        screen.resize(rows: rows, columns: columns)
        var size = winsize(
            ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
    }

    /// The line that has a text; `nil` where none has.
    func line(with text: String) -> String? { screen.lines.first { $0.contains(text) } }

    /// Waits until the screen is so.
    func wait(for what: String, _ isSo: (TerminalSession) -> Bool) throws {
        do {
            try eventually(what, seconds: 60) {
                read()
                return isSo(self)
            }
        } catch {
            throw NeverHappened(
                description: "\(what); the screen:\n\(screen.lines.joined(separator: "\n"))")
        }
    }

    /// Waits until a line has a text.
    func wait(for text: String) throws {
        try wait(for: "a line with \(text)") { $0.line(with: text) != nil }
    }

    /// The process in front: the group that the terminal belongs to.
    var foreground: pid_t { tcgetpgrp(terminal) }

    private func read() {
        var request = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
        while poll(&request, 1, 0) > 0, request.revents & Int16(POLLIN) != 0 {
            var buffer = [UInt8](repeating: 0, count: 8192)
            let count = Glibc.read(terminal, &buffer, buffer.count)
            guard count > 0 else { return }
            rest += buffer[..<count]
            // A character may be cut in two.
            let whole = rest.lastIndex { $0 & 0xC0 != 0x80 }.map { last in
                rest[last] < 0x80 ? rest.count : last
            }
            let end = whole ?? 0
            screen.take(String(decoding: rest[..<end], as: UTF8.self))
            rest.removeFirst(end)
        }
    }
}
