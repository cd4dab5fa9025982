internal import Glibc
internal import TaskAPI
package import Varlink

extension Failure {
    /// Says what a failed call means, and what to do about it.
    ///
    /// - Parameter method: the name of the method that was called; `nil` where none was.
    package init(
        _ error: ClientError, socket: SocketChoice, _ privilege: Privilege? = nil,
        method: String? = nil
    ) {
        let path = socket.path
        switch error {
        case .cannotConnect(_, let code):
            self.init(Failure.unreachable(socket, code))
        case .badAddress:
            let pathBytesMax = 107
            self.init(
                path.utf8.count > pathBytesMax
                    ? "\(path) is too long for a socket: a path has \(pathBytesMax) bytes at most"
                    : "\(path) is no socket's path; write it as /PATH or unix:/PATH")
        case .disconnected:
            self.init(
                "bgtaskd at \(path) closed the connection; its journal says why",
                isDisconnection: true)
        case .timedOut:
            let seconds = DaemonConnection.replyTimeout.components.seconds
            self.init(
                "no answer from \(path) in \(seconds)s; is it bgtaskd's socket, and does bgtaskd run?"
            )
        case .violation:
            self.init(
                "what answers at \(path) does not speak Varlink; is it bgtaskd's socket? try --socket PATH"
            )
        case .badReply(let error):
            self.init("bgtaskd's answer is not understood (\(error)); is it another version?")
        case .remote(let error):
            self.init(Failure.refusal(error, socket: socket, privilege, method), refusal: error)
        case .failed, .noCallWaiting:
            self.init("the connection to \(path) failed: \(error)", isDisconnection: true)
        }
    }

    private static func unreachable(_ socket: SocketChoice, _ code: Int32) -> String {
        let path = socket.path
        switch code {
        case ENOENT, ECONNREFUSED, ENOTDIR:
            return "nobody listens at \(path); is bgtaskd running? "
                + "start it with: \(socket.startCommand)"
        case EACCES, EPERM:
            return "no permission to use \(path); is it another user's? try --user or --socket PATH"
        case EPROTOTYPE:
            return "\(path) is not a stream socket; give that of bgtaskd with --socket"
        case EAGAIN:
            return "bgtaskd at \(path) accepts no more connections now; try again"
        default:
            return "cannot connect to \(path): \(ErrorText.of(code))"
        }
    }

    /// Turns an error of one of the interfaces into a line.
    private static func refusal(
        _ error: RemoteError, socket: SocketChoice, _ privilege: Privilege?, _ method: String?
    ) -> String {
        if let service = ServiceError(error) {
            return refusal(service, error.reason, socket: socket, privilege, method)
        }
        return taskRefusal(error) ?? applicationRefusal(error) ?? valueRefusal(error)
            ?? "bgtaskd refuses: \(error)"
    }

    private static func taskRefusal(_ error: RemoteError) -> String? {
        switch error.name {
        case Tasks.NoSuchTask.name:
            guard let unknown = try? error.decode(Tasks.NoSuchTask.self) else { return nil }
            let hint = geteuid() == 0 ? " (--all reaches those of all users)" : ""
            return "there is no task \(unknown.id), or it is not yours\(hint); "
                + "see: bgtaskctl list --ended"
        case Tasks.AlreadyEnded.name:
            guard let ended = try? error.decode(Tasks.AlreadyEnded.self) else { return nil }
            return "task \(ended.id) has ended already: \(ended.outcome.rawValue); "
                + "see: bgtaskctl show \(ended.id)"
        case Tasks.NotAccepting.name:
            guard let refused = try? error.decode(Tasks.NotAccepting.self) else { return nil }
            return "bgtaskd refuses this: \(refused.reason)"
        case Tasks.OutputGone.name:
            guard let gone = try? error.decode(Tasks.OutputGone.self) else { return nil }
            let what = gone.lostWithDaemon ? "was lost with the daemon" : "is not kept any more"
            return "the output of task \(gone.id) \(what); "
                + "bgtaskctl logs \(gone.id) --journal may have it"
        case Tasks.Confined.name:
            guard let refused = try? error.decode(Tasks.Confined.self) else { return nil }
            return "bgtaskd starts nothing for you from here: \(refused.reason)"
        case Tasks.TooLittleTime.name:
            guard let time = try? error.decode(Tasks.TooLittleTime.self) else { return nil }
            return "the application has \(TimeText.span(time.remainingMs)) of background time "
                + "left, and \(TimeText.span(time.neededMs)) are needed; bring it to the front first"
        default: return nil
        }
    }

    private static func valueRefusal(_ error: RemoteError) -> String? {
        switch error.name {
        case Tasks.LimitReached.name:
            guard let reached = try? error.decode(Tasks.LimitReached.self) else { return nil }
            return LimitText.line(reached.limit, reached.value)
        case Tasks.NoSuchProfile.name:
            guard let unknown = try? error.decode(Tasks.NoSuchProfile.self) else { return nil }
            return "there is no profile \(unknown.profile); bgtaskctl status names them"
        case Tasks.NoSuchGroup.name:
            guard let unknown = try? error.decode(Tasks.NoSuchGroup.self) else { return nil }
            return "there is no group \(unknown.group); bgtaskctl group list names them"
        case Manager.BadSettings.name:
            guard let bad = try? error.decode(Manager.BadSettings.self) else { return nil }
            let place = [bad.line, bad.column].compactMap { $0.map(String.init) }
            return "the settings are refused and stay as they were: "
                + "\(([bad.file] + place).joined(separator: ":")): \(bad.text)"
        default: return nil
        }
    }

    private static func refusal(
        _ error: ServiceError, _ reason: String?, socket: SocketChoice, _ privilege: Privilege?,
        _ method: String?
    ) -> String {
        switch error {
        case .interfaceNotFound(let interface):
            "what answers at \(socket.path) has no \(interface); is it the socket of bgtaskd?"
        case .methodNotFound(let method), .methodNotImplemented(let method):
            "bgtaskd has no \(method); is it older than bgtaskctl, which is \(Version.current)?"
        case .invalidParameter("id") where method == Tasks.Output.name:
            "a held task has no output: its program does not print through bgtaskd"
        case .invalidParameter(let parameter):
            LimitText.line(forParameter: parameter, reason)
        case .permissionDenied:
            "permission denied: "
                + (privilege?.text ?? reason
                    ?? "the daemon at \(socket.path) does not serve your user")
        case .expectedMore:
            "bgtaskd answers this as a stream only; is it another version than bgtaskctl?"
        }
    }
}
