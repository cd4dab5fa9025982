internal import CLinux
internal import Glibc

/// The number of a group, by its name or by the number itself, from the user database (group(5)).
///
/// Asks the system's user database (nsswitch.conf(5)), which may be a server: not for the loop.
///
/// - Throws: ENOENT where there is no such group.
package func groupNumber(named name: String) throws(SystemError) -> UInt32 {
    if let number = UInt32(name), number != .max { return number }
    var count = 1024
    while true {
        var buffer = [CChar](repeating: 0, count: count)
        var record = group()
        var found: UnsafeMutablePointer<group>?
        let error = getgrnam_r(name, &record, &buffer, count, &found)
        switch error {
        case EINTR: continue
        // A group of many members has a long entry.
        case ERANGE where count < 1 << 24: count *= 2
        case 0 where found != nil: return record.gr_gid
        case 0, ENOENT, ESRCH:
            throw SystemError(
                operation: "look up group", errno: ENOENT, subject: name,
                detail: "there is no such group")
        default: throw SystemError(operation: "look up group", errno: error, subject: name)
        }
    }
}
