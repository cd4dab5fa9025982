internal import CSystemd
internal import Glibc

/// A socket that the service manager opened for us.
package struct ListenDescriptor: Sendable, Equatable {
    /// Open, close-on-exec, and the caller's from now on.
    package let descriptor: Int32

    /// FileDescriptorName= of the socket unit, or "unknown".
    package let name: String

    /// Takes what the service manager passed: sd_listen_fds_with_names(3).
    ///
    /// Call it once, before threads and children: it sets close-on-exec and removes LISTEN_FDS,
    /// LISTEN_PID and LISTEN_FDNAMES from the environment.
    ///
    /// - Returns: nothing where the variables are unset or meant for another process.
    /// - Throws: ``SystemdError`` where the variables are malformed, or EPROTOTYPE where a
    ///   descriptor is not a listening Unix stream socket.
    package static func take() throws(SystemdError) -> [ListenDescriptor] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = try SystemdError.check(
            sd_listen_fds_with_names(1, &names),
            "sd_listen_fds_with_names",
            subject: "LISTEN_FDS"
        )
        defer { release(names) }
        var found: [ListenDescriptor] = []
        for index in 0..<Int(count) {
            let name = names?[index].map { String(cString: $0) } ?? "unknown"
            let descriptor = Int32(SD_LISTEN_FDS_START) + Int32(index)
            try validate(descriptor, name: name)
            found.append(ListenDescriptor(descriptor: descriptor, name: name))
        }
        return found
    }

    private static func validate(_ descriptor: Int32, name: String) throws(SystemdError) {
        let subject = "descriptor \(descriptor) \"\(name)\" must be a listening Unix stream socket"
        let fits = try SystemdError.check(
            sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0),
            "sd_is_socket_unix",
            subject: subject
        )
        guard fits > 0 else {
            throw SystemdError(operation: "LISTEN_FDS", errno: EPROTOTYPE, subject: subject)
        }
    }

    private static func release(_ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
        guard let names else { return }
        var next = names
        while let name = next.pointee {
            free(name)
            next += 1
        }
        free(names)
    }
}
