internal import CLinux
internal import Glibc

/// A command that could not be started.
package struct LaunchError: Error, Equatable, Sendable {
    /// How far it came.
    package enum Stage: String, Equatable, Sendable {
        /// Descriptors, memory, the group.
        case prepare
        /// The new process: limits on processes, the cgroup.
        case clone
        case session
        case limits
        case user
        case directory
        case descriptors
        case exec
        /// The program that should have started it; the subject says what is the matter with that.
        case executor
    }

    package let stage: Stage
    /// As in errno(3).
    package let errno: Int32
    /// The command, the directory, the uid: what the stage was about.
    package let subject: String

    package init(stage: Stage, errno: Int32, subject: String) {
        self.stage = stage
        self.errno = errno
        self.subject = subject
    }

    /// Takes the stage as the C half says it.
    init(stage: clx_stage, errno: Int32, request: LaunchRequest) {
        let command = request.arguments.first ?? ""
        let (stage, subject): (Stage, String) =
            switch stage {
            case CLX_STAGE_SESSION: (.session, command)
            case CLX_STAGE_LIMITS: (.limits, "\(request.openFilesSoft)")
            case CLX_STAGE_USER: (.user, request.user.map { "\($0.user)" } ?? "")
            case CLX_STAGE_DIRECTORY: (.directory, request.directory ?? "")
            case CLX_STAGE_DESCRIPTORS: (.descriptors, command)
            case CLX_STAGE_EXEC: (.exec, command)
            default: (.clone, command)
            }
        self.init(stage: stage, errno: errno, subject: subject)
    }
}

extension LaunchError {
    /// For whom there was no room, where that is what failed: tried again, it may succeed.
    package enum Shortage: Equatable, Sendable {
        /// For any command: what failed is the system's, or the daemon's in it.
        case general
        /// The program that starts commands is not there, or does not answer.
        case executor
        /// For this one: what failed lies behind the change to its user, who may have a limit of processes
        /// (execve(2)), and whose file systems answer what they like.
        case own
    }

    /// `nil` where it is no shortage of room.
    package var shortage: Shortage? {
        switch stage {
        // The group takes no process: another command, of root, has made those around its own threaded.
        case .clone where errno == EOPNOTSUPP: .general
        case .executor where errno == ENOTCONN: .executor
        case .executor where errno == EBUSY: .own
        case .prepare, .clone, .session, .limits, .user, .descriptors, .executor:
            SystemError(operation: "", errno: errno).isShortage ? .general : nil
        case .directory, .exec:
            [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(errno) ? .own : nil
        }
    }
}

extension LaunchError: CustomStringConvertible {
    /// `cannot run "foo": No such file or directory`.
    package var description: String {
        // A command may have any length; what follows it is to be read too.
        let isLong = self.subject.utf8.count > 512
        let subject = isLong ? String(self.subject.unicodeScalars.prefix(128)) + "…" : self.subject
        let attempt: String
        switch stage {
        case .prepare: attempt = "prepare for \"\(subject)\""
        case .clone: attempt = "make a process for \"\(subject)\""
        case .session: attempt = "start a session for \"\(subject)\""
        case .limits: attempt = "set the limit of open files to \(subject)"
        case .user: attempt = "become the user \(subject)"
        case .directory: attempt = "enter \"\(subject)\""
        case .descriptors: attempt = "hand the output to \"\(subject)\""
        case .exec: attempt = "run \"\(subject)\""
        case .executor: return subject
        }
        return "cannot \(attempt): \(errorText(errno))"
    }
}
