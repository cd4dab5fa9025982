internal import CSystemd
internal import Glibc

/// A control group of our own from the service manager: a scope unit with Delegate=yes around this
/// process, for a daemon that was started from a shell and not as a service.
///
/// (org.freedesktop.systemd1(5); systemd.io/CGROUP_DELEGATION.)
package struct DelegatedScope: Sendable {
    /// Whose service manager is asked.
    package enum Manager: Sendable {
        case system, user
    }

    /// Why there is no scope, in words.
    package struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The unit's name, which ends with `.scope`.
    package let unit: String

    /// Whether this process is the main process of a service, which must stay in its unit.
    package static func isService(_ environment: [String: String]) -> Bool {
        // systemd.exec(5): SYSTEMD_EXEC_PID is of the process that the manager itself started; one that
        // was inherited names another.
        environment["NOTIFY_SOCKET"] != nil || environment["SYSTEMD_EXEC_PID"] == "\(getpid())"
    }

    /// Asks for the scope and waits until this process is in it, with all its threads.
    ///
    /// - Parameters:
    ///   - base: what the unit's name begins with; the rest makes it this process's alone.
    ///   - limit: the longest that a bus that does not answer can hold the caller up.
    package static func enter(
        _ base: String, description: String, of manager: Manager, within limit: Duration
    ) throws(Refusal) -> DelegatedScope {
        let unit = "\(base)-\(getpid()).scope"
        do throws(SystemdError) {
            let bus = try ManagerBus(manager, within: limit)
            let order = try request(unit, description, on: bus)
            let result = try bus.jobResult(of: order)
            guard result == "done" else {
                throw SystemdError(
                    operation: "StartTransientUnit", errno: ECANCELED,
                    subject: "the job for \(unit) ended with \(result)")
            }
            return DelegatedScope(unit: unit)
        } catch {
            throw Refusal(description: "\(error)")
        }
    }

    private static func request(
        _ unit: String, _ description: String, on bus: ManagerBus
    ) throws(SystemdError) -> BusMessage {
        let message = try bus.newCall("StartTransientUnit")
        try message.append(unit)
        try message.append("fail")
        try message.container("a", of: "(sv)") { () throws(SystemdError) in
            try property("Description", "s") { () throws(SystemdError) in
                try message.append(description)
            }
            try property("Delegate", "b") { () throws(SystemdError) in try message.append(true) }
            // A scope that failed is nobody's to look at.
            try property("CollectMode", "s") { () throws(SystemdError) in
                try message.append("inactive-or-failed")
            }
            try property("PIDs", "au") { () throws(SystemdError) in
                try message.container("a", of: "u") { () throws(SystemdError) in
                    try message.append(UInt32(bitPattern: getpid()))
                }
            }
        }
        // Units that would come along: none.
        try message.container("a", of: "(sa(sv))") {}
        return message

        func property(
            _ name: String, _ type: String, _ value: () throws(SystemdError) -> Void
        ) throws(SystemdError) {
            try message.container("r", of: "sv") { () throws(SystemdError) in
                try message.append(name)
                try message.container("v", of: type, value)
            }
        }
    }
}
