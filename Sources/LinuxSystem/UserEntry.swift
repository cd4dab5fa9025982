internal import Glibc

/// What the user database says of a user (passwd(5)).
package struct UserEntry: Equatable, Sendable {
    package let name: String
    /// The home folder; it need not exist. May be empty.
    package let home: String
    /// The login shell. May be empty.
    package let shell: String

    package init(name: String, home: String, shell: String) {
        self.name = name
        self.home = home
        self.shell = shell
    }
}

extension UserEntry {
    /// The buffer of getpwuid_r(3), in bytes: what it begins with, and where it stops growing.
    private static let bufferBytes = 1024
    private static let bufferBytesMax = 1 << 20

    /// Asks the system's user database (nsswitch.conf(5)), which may be a server that does not
    /// answer: not for the loop.
    static func lookUp(_ user: UInt32) -> UserDatabase.Answer {
        var count = bufferBytes
        while true {
            var buffer = [CChar](repeating: 0, count: count)
            var record = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let error = getpwuid_r(user, &record, &buffer, count, &found)
            switch error {
            case EINTR: continue
            case ERANGE where count < bufferBytesMax: count *= 2
            case 0 where found != nil:
                // The record's strings lie in the buffer.
                return withExtendedLifetime(buffer) { answer(record, user) }
            // All three say that there is no such user (getpwnam(3)).
            case 0, ENOENT, ESRCH: return .unknown
            default: return failed(user, error)
            }
        }
    }

    private static func answer(_ record: passwd, _ user: UInt32) -> UserDatabase.Answer {
        // A path that is no UTF-8 must not become another path.
        guard let name = text(record.pw_name), let home = text(record.pw_dir),
            let shell = text(record.pw_shell)
        else { return failed(user, EILSEQ) }
        return .found(UserEntry(name: name, home: home, shell: shell))
    }

    private static func text(_ string: UnsafeMutablePointer<CChar>?) -> String? {
        string.map { String(validatingCString: $0) } ?? ""
    }

    private static func failed(_ user: UInt32, _ error: Int32) -> UserDatabase.Answer {
        .failed(SystemError(operation: "look up user", errno: error, subject: "\(user)"))
    }
}
