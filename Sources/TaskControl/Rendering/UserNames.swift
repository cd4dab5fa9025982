internal import Glibc

/// The names of users, each looked up once.
package final class UserNames {
    private var names: [Int: String] = [:]

    package init() {}

    /// The name of a user; the number where the user database has none, or does not answer for it.
    package func name(of user: Int) -> String {
        if let known = names[user] { return known }
        let entry = uid_t(exactly: user).flatMap { getpwuid($0) }
        let name = entry.map { String(cString: $0.pointee.pw_name) } ?? String(user)
        names[user] = name
        return name
    }
}
