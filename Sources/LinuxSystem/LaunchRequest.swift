/// What to run, and in what surroundings.
///
/// Whatever is not said here is the same for all: a session of its own,
/// every other descriptor closed, all signals at their defaults and none blocked.
package struct LaunchRequest: Equatable, Sendable {
    /// The command and its arguments; at least one.
    package var arguments: [String]
    /// The whole environment, as `NAME=value`.
    package var environment: [String]
    /// What the command reads as its standard input; `nil`: nothing (/dev/null).
    package var input: [UInt8]?
    /// `nil`: the caller's own.
    package var directory: String?
    /// Where the command runs if `directory` cannot be entered, such as a home that is not there.
    /// `nil`: it does not start then. Like `directory`, entered with the rights of who runs it.
    package var directoryFallback: String?
    /// Folders divided by colons, in which the command is looked for, after the change of the
    /// directory, unless its name has a slash. An empty string finds nothing.
    package var searchPath: String
    /// The umask.
    package var fileModeMask: UInt32
    /// The soft limit of open files (RLIMIT_NOFILE); 0 keeps the caller's.
    package var openFilesSoft: UInt64
    /// Who runs it; `nil`: whoever runs the daemon.
    package var user: User?
    /// Whether no program gives it rights that it has not (PR_SET_NO_NEW_PRIVS), as set-user-id ones do.
    package var hasNoNewPrivileges = false

    /// A user with their groups. Becoming one needs root (of its capabilities CAP_SETUID,
    /// CAP_SETGID, and CAP_CHOWN for the output).
    package struct User: Equatable, Sendable {
        package var user: UInt32
        package var group: UInt32
        package var groups: [UInt32]

        package init(user: UInt32, group: UInt32, groups: [UInt32]) {
            self.user = user
            self.group = group
            self.groups = groups
        }
    }

    package init(
        arguments: [String],
        environment: [String] = [],
        directory: String? = nil,
        directoryFallback: String? = nil,
        searchPath: String = "/usr/local/bin:/usr/bin:/bin",
        fileModeMask: UInt32 = 0o022,
        openFilesSoft: UInt64 = 0,
        user: User? = nil
    ) {
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.directoryFallback = directoryFallback
        self.searchPath = searchPath
        self.fileModeMask = fileModeMask
        self.openFilesSoft = openFilesSoft
        self.user = user
    }
}
