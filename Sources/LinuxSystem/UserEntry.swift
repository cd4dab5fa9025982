internal import CLinux
internal import Glibc

/// What the user database says of a user (passwd(5), group(5), shadow(5)).
package struct UserEntry: Equatable, Sendable {
    package let name: String
    /// The home folder; it need not exist. May be empty.
    package let home: String
    /// The login shell. May be empty.
    package let shell: String
    /// Their own group.
    package let group: UInt32
    /// All that they are a member of, their own included; in the order of the database.
    package let groups: [UInt32]
    /// The day since 1970-01-01 from which on the account has expired; `nil`: never, or nobody but root is told.
    package let expiryDay: Int?

    package init(
        name: String, home: String, shell: String, group: UInt32 = .max, groups: [UInt32] = [],
        expiryDay: Int? = nil
    ) {
        self.name = name
        self.home = home
        self.shell = shell
        self.group = group
        self.groups = groups
        self.expiryDay = expiryDay
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
        var expiryDay: Int?
        // Only root may read shadow(5).
        if geteuid() == 0 {
            var day = -1
            let error = clx_account_expiry(name, &day)
            guard [0, ENOENT, ESRCH, EACCES, EPERM].contains(error) else {
                return failed(user, error)
            }
            expiryDay = day < 0 ? nil : day
        }
        return .found(
            UserEntry(
                name: name, home: home, shell: shell, group: record.pw_gid,
                groups: groups(of: name, record.pw_gid), expiryDay: expiryDay))
    }

    /// What getgrouplist(3) says; the own group is one of them.
    private static func groups(of name: String, _ own: UInt32) -> [UInt32] {
        var groups = [UInt32](repeating: 0, count: 64)
        while groups.count <= 1 << 17 {
            var count = Int32(groups.count)
            if getgrouplist(name, own, &groups, &count) >= 0 {
                return Array(groups.prefix(Int(count)))
            }
            groups = [UInt32](repeating: 0, count: max(Int(count), 2 * groups.count))
        }
        return [own]
    }

    private static func text(_ string: UnsafeMutablePointer<CChar>?) -> String? {
        string.map { String(validatingCString: $0) } ?? ""
    }

    private static func failed(_ user: UInt32, _ error: Int32) -> UserDatabase.Answer {
        .failed(SystemError(operation: "look up user", errno: error, subject: "\(user)"))
    }

    /// The uid of a name; `nil` where the database does not know it, or does not answer.
    static func number(of name: String) -> UInt32? {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 65_536)
        let error = getpwnam_r(name, &record, &buffer, buffer.count, &found)
        guard error == 0, found != nil else { return nil }
        return record.pw_uid
    }
}
