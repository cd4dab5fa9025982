/// Where daemons listen that nobody has told otherwise.
package enum DaemonSocketPath {
    /// Of the system's daemon.
    package static let system = "/run" + name

    /// Of a user's own.
    ///
    /// - Parameter runtimeFolder: `$XDG_RUNTIME_DIR`.
    package static func user(_ runtimeFolder: String) -> String { runtimeFolder + name }

    private static let name = "/bgtaskd/org.bgtaskd"
}
