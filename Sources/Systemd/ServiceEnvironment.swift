/// What the service manager's protocol puts into our environment, and what is ours alone.
package enum ServiceEnvironment {
    /// The variables that a child must not inherit: with them it could speak, or listen, in our name.
    ///
    /// From systemd.exec(5), "Environment Variables Set or Propagated by the Service Manager".
    package static let ownVariables: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "FDSTORE",
        "JOURNAL_STREAM", "INVOCATION_ID", "MAINPID", "MANAGERPID", "SYSTEMD_EXEC_PID",
        "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "CACHE_DIRECTORY", "LOGS_DIRECTORY",
        "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY",
    ]

    /// Leaves ``ownVariables`` out of `environment`.
    ///
    /// - Parameter environment: `NAME=value`, as in environ(7).
    /// - Returns: the environment for a child.
    package static func forChild(of environment: [String]) -> [String] {
        environment.filter { assignment in
            let name = assignment.prefix { $0 != "=" }
            return !ownVariables.contains(String(name))
        }
    }
}
