internal import Glibc
internal import TaskAPI

/// What a command reads as its standard input.
enum InputOption {
    /// As much as the daemon keeps with a task.
    private static let bytesMax = 1_048_576

    /// Reads a file, or with `-` standard input, to its end.
    ///
    /// - Returns: the bytes as the interface has them.
    static func read(_ file: String) throws(Failure) -> String {
        let isStandard = file == "-"
        let descriptor = isStandard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(file) }
        defer { if !isStandard { close(descriptor) } }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= bytesMax {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count == 0 { return Base64.encode(bytes) }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw unreadable(file)
            }
            bytes += piece[..<count]
        }
        throw Failure("the input is longer than 1 MiB; put it in a file that the command opens")
    }

    private static func unreadable(_ file: String) -> Failure {
        Failure("cannot read \(VisibleText.oneLine(file)): \(ErrorText.of(errno))")
    }

    /// Whether somebody has piped something here that nobody asked for.
    static var isIgnored: Bool {
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0 else { return false }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return status.st_size > 0
        case S_IFIFO:
            var poll = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            return Glibc.poll(&poll, 1, 0) == 1 && poll.revents & Int16(POLLIN) != 0
        default: return false
        }
    }
}
