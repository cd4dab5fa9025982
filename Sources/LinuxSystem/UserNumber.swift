internal import Glibc

/// The number of a user, by their name or by the number itself, from the user database (passwd(5)).
///
/// Asks the system's user database (nsswitch.conf(5)), which may be a server: not for the loop.
///
/// - Throws: ENOENT where there is no such user.
package func userNumber(named name: String) throws(SystemError) -> UInt32 {
    if let number = UInt32(name), number != .max { return number }
    var count = 1024
    while true {
        var buffer = [CChar](repeating: 0, count: count)
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        let error = getpwnam_r(name, &record, &buffer, count, &found)
        switch error {
        case EINTR: continue
        case ERANGE where count < 1 << 20: count *= 2
        case 0 where found != nil: return record.pw_uid
        case 0, ENOENT, ESRCH:
            throw SystemError(
                operation: "look up user", errno: ENOENT, subject: name,
                detail: "there is no such user")
        default: throw SystemError(operation: "look up user", errno: error, subject: name)
        }
    }
}
