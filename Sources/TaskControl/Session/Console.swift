internal import Glibc
internal import Varlink

/// Writes what a verb has to say: results to standard output, the rest to standard error.
///
/// Output is buffered until `flush`, which whoever is about to wait calls.
final class Console {
    /// One object a line instead of text, on standard error too.
    let isJSON: Bool
    /// How text is shown on standard output.
    let style: Style
    private let hasPager: Bool
    /// The exit status where standard output cannot be written.
    private let failureStatus: Int32
    private var buffer: [UInt8] = []
    /// Whether a person reads what is said on standard error.
    let isErrorTerminal = isatty(STDERR_FILENO) == 1
    /// What is shown while something is waited for.
    private var statusLine: StatusLine?

    private static let bufferBytesMax = 65536

    /// - Parameters:
    ///   - hasPager: whether what is longer than the screen may be shown with a pager.
    ///   - failureStatus: the exit status where standard output cannot be written.
    init(
        isJSON: Bool = false, hasPager: Bool = false, failureStatus: Int32 = ExitStatus.refused
    ) {
        self.isJSON = isJSON
        self.hasPager = hasPager
        self.failureStatus = failureStatus
        style = Screen.standardOutput?.style ?? .plain
    }

    // MARK: Results

    /// Writes text to standard output; whoever made it has seen to it that it is harmless.
    func write(_ text: String) {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= Console.bufferBytesMax { flush() }
    }

    /// Writes a message as JSON where that is asked for, and otherwise as the text.
    func show<M: Message>(_ message: M, _ text: @autoclosure () -> String) {
        write(isJSON ? JSONLine.text(message) : text())
    }

    /// The same of what is said of a task: JSON has its number too.
    func show<M: Message>(_ message: M, of id: Int, _ text: @autoclosure () -> String) {
        write(isJSON ? JSONLine.text(message, of: id) : text())
    }

    /// Writes an event of a stream, as JSON with when it came.
    func show<M: Message>(event: M, _ text: @autoclosure () -> String) {
        write(isJSON ? JSONLine.event(event) : text())
    }

    /// Writes a whole text, with the pager where it is longer than the screen.
    func page(_ text: String) {
        guard hasPager, !isJSON, let screen = Screen.standardOutput, !screen.holds(text),
            let pager = Pager.chosen
        else { return write(text) }
        flush()
        if !pager.show(text) { write(text) }
    }

    /// Writes what a task printed: as it came, or made visible where a terminal would obey it.
    func passOn(_ text: String, toErrors: Bool) {
        guard toErrors else {
            return write(style.isTerminal ? VisibleText.lines(text) : text)
        }
        flush()
        let shown = isErrorTerminal ? VisibleText.lines(text) : text
        write(Array(shown.utf8), to: STDERR_FILENO)
    }

    // MARK: Notices

    /// Writes one line to standard error.
    func notice(_ line: String) {
        report(Failure(line))
    }

    /// Says on standard error why something failed.
    func report(_ failure: Failure) {
        flush()
        let line =
            isJSON
            ? JSONLine.failure(failure.line, failure.refusal) : "bgtaskctl: \(failure.line)\n"
        write(Array(line.utf8), to: STDERR_FILENO)
    }

    /// Begins a new line where the terminal has just shown the `^C` of whoever interrupted.
    func endTerminalLine() {
        // With a line that stood there it is erased.
        guard isErrorTerminal, statusLine?.erase() != true else { return }
        write([UInt8(ascii: "\n")], to: STDERR_FILENO)
    }

    /// Writes one line to standard error, if a person looks at the output.
    func hint(_ line: String) {
        guard style.isTerminal, !isJSON else { return }
        notice(line)
    }

    // MARK: Waiting

    /// Does what may take long, and says meanwhile what it is, where a person waits for it.
    ///
    /// - Parameter text: what is said; asked for anew each second.
    func saying<Result>(
        _ text: @escaping () -> String, while body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let isWanted = StatusLine.isWanted(
            isTerminal: isErrorTerminal, isJSON: isJSON, terminal: Surroundings.value("TERM"))
        guard isWanted, statusLine == nil else { return try body() }
        let line = StatusLine(text)
        statusLine = line
        defer {
            line.erase()
            statusLine = nil
        }
        return try body()
    }

    /// Says it again where that is due, in what waits for nothing and takes long all the same.
    func goOn() { statusLine?.drawIfDue() }

    /// Waits until one of the descriptors can be read, a signal has come, the line is due, or the time is over.
    ///
    /// - Returns: `false` where the time is over.
    func wait(for descriptors: [Int32], until deadline: ContinuousClock.Instant?) -> Bool {
        flush()
        if let deadline, deadline <= ContinuousClock.now { return false }
        goOn()
        let until = [deadline, statusLine?.dueAt].compactMap(\.self).min()
        // It is asked again where only the line was due.
        _ = Waiting.wait(for: descriptors, until: until)
        return true
    }

    // MARK: Writing

    /// Sends what is buffered on its way.
    func flush() {
        guard !buffer.isEmpty else { return }
        write(buffer, to: STDOUT_FILENO)
        buffer.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) {
        statusLine?.erase()
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&request, 1, -1)
            } else if errno != EINTR {
                giveUp(descriptor, errno)
                return
            }
        }
    }

    /// Ends the process where nobody can have the results any more: quietly where the reader has gone, as
    /// SIGPIPE would (its status is 128+13). What cannot be said on standard error is let go.
    private func giveUp(_ descriptor: Int32, _ code: Int32) {
        guard descriptor == STDOUT_FILENO else { return }
        buffer = []
        if code == EPIPE { exit(128 + SIGPIPE) }
        notice("cannot write to standard output: \(ErrorText.of(code))")
        exit(failureStatus)
    }
}

/// The environment of this process.
enum Surroundings {
    /// The value of a variable; `nil` where it is not set or empty.
    static func value(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Whether this process acts for somebody else than who is at the terminal: sudo(8), pkexec(1), doas(1).
    static var isElevated: Bool {
        ["SUDO_UID", "PKEXEC_UID", "DOAS_USER"].contains { value($0) != nil }
    }

    /// Opens /dev/null, to be read, for standard input, output and error where this process was started without: a
    /// socket that took the number of one would be read and written in its place. Writing there fails as before.
    static func fillStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            // It gets the lowest number that is free, which is this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// Whether the daemon's units are where systemd reads them, and systemd runs.
    static var hasUnits: Bool {
        access("/run/systemd/system", F_OK) == 0
            && ["/usr/local/lib", "/usr/lib", "/etc"].contains { folder in
                access("\(folder)/systemd/system/bgtaskd.socket", F_OK) == 0
            }
    }

    /// Whether the system's daemon has a socket, or its systemd for it.
    static var hasSystemSocket: Bool { access(SocketChoice.systemPath, F_OK) == 0 }

    /// The working directory; `nil` where it has been removed or cannot be read.
    static var directory: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    /// Whether the name of the working directory is UTF-8, which alone can be passed on.
    static var isDirectoryText: Bool {
        guard let path = getcwd(nil, 0) else { return true }
        defer { free(path) }
        return String(validatingCString: path) != nil
    }

    /// The first argument that is not UTF-8, by its place from 1; `nil` where all are.
    static var argumentThatIsNoText: Int? {
        (1..<max(1, Int(CommandLine.argc))).first { place in
            CommandLine.unsafeArgv[place].map { String(validatingCString: $0) == nil } ?? false
        }
    }

    /// A path as it is from the root folder.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory else { return path }
        return directory + "/" + path
    }
}
