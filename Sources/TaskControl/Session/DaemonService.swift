internal import Glibc

/// The daemon as a service of systemd.
struct DaemonService {
    private let isUser: Bool

    /// - Throws: where a socket was named, which says nothing of a service.
    init(_ choice: SocketChoice) throws(Failure) {
        switch choice.origin {
        case .system: isUser = false
        case .user: isUser = true
        case .given:
            throw Failure(
                "which service has the socket \(choice.path) is not known; give --system or --user",
                status: ExitStatus.usage)
        }
    }

    /// Whether systemd has it running, which it asks without a call to the socket: that would start it.
    func isActive() throws(Failure) -> Bool {
        let scope = isUser ? ["--user"] : []
        let process = try ChildCommand(
            words: ["systemctl"] + scope + ["is-active", "--quiet", JournalSource.defaultUnit]
        ).start()
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else {
                throw Failure("cannot wait for systemctl: \(ErrorText.of(errno))")
            }
        }
        return status == 0
    }
}
