internal import Glibc
internal import LinuxSystem
package import Settings
internal import Systemd
internal import TaskAPI

/// Whom the daemon serves, and where its files are.
package struct Configuration {
    package enum Scope: String {
        case system, user
    }

    package let scope: Scope
    package let user: UInt32
    package let socketPath: String
    package let stateFolder: String
    package let settingsLocation: SettingsLocation?
    package let environment: [String: String]
    /// A folder that stands for / where the power supplies and the load are read, of $BGTASKD_SENSOR_ROOT; for
    /// tests. `nil` for the machine's own.
    let sensorRoot: String?
    /// The file of subordinate uids, of $BGTASKD_SUBUID_FILE for tests; of those of the machine else.
    let subordinateIDsPath: String
    /// `RegistryLimits.stuckAfter` in milliseconds, of $BGTASKD_STUCK_AFTER_MS for tests; `nil` for the usual time.
    let stuckAfter: Duration?
    /// The group whose members are operators.
    package var operatorsGroup: UInt32?
    package var access = AccessSettings()
    /// The socket of bgtask-executor, which runs commands; `nil`: the daemon starts one of its own.
    package var executorPath: String?

    /// A place that cannot be found out.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    /// Finds the places, by the command line or by convention.
    ///
    /// System: /run/bgtaskd/org.bgtaskd and /var/lib/bgtaskd. User: below $XDG_RUNTIME_DIR and
    /// $XDG_STATE_HOME (XDG Base Directory Specification).
    package init(
        scope: Scope, config: String?, socket: String?, stateFolder: String?,
        environment: [String: String]
    ) throws(Missing) {
        self.scope = scope
        self.environment = environment
        user = geteuid()
        let root = environment["BGTASKD_SENSOR_ROOT"]
        sensorRoot = root.flatMap { $0.hasPrefix("/") ? $0 : nil }
        let file = environment["BGTASKD_SUBUID_FILE"]
        subordinateIDsPath = file.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/etc/subuid"
        let stuck = environment["BGTASKD_STUCK_AFTER_MS"].flatMap { Int64($0) }
        stuckAfter = stuck.flatMap { $0 > 0 ? .milliseconds($0) : nil }
        socketPath =
            if let socket { Configuration.absolute(socket) } else {
                try Configuration.socketPath(scope, environment)
            }
        let folder =
            if let stateFolder {
                stateFolder
            } else {
                try Configuration.stateFolder(scope, environment)
            }
        self.stateFolder = Configuration.absolute(folder)
        settingsLocation =
            if let config {
                .named(config)
            } else {
                switch scope {
                case .system: .system
                case .user: .user(environment: environment)
                }
            }
    }

    /// A root daemon of the system scope runs each task as its submitter; any other serves its own user alone.
    package var servesEverybody: Bool { scope == .system && user == 0 }

    /// Whether a peer sees and orders the tasks of all owners where it asks for that.
    func isOperator(_ peer: PeerCredentials) -> Bool {
        if peer.user == user { return true }
        guard let operatorsGroup else { return false }
        return peer.isMember(of: operatorsGroup)
    }

    func fields(_ containment: Containment) -> [JournalField: String] {
        [
            .scope: scope.rawValue, .socket: socketPath, .stateDirectory: stateFolder,
            .containment: "\(containment)",
        ]
    }

    private static func socketPath(
        _ scope: Scope, _ environment: [String: String]
    ) throws(Missing) -> String {
        if scope == .system { return DaemonSocketPath.system }
        guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else {
            throw Missing(
                description: "XDG_RUNTIME_DIR is not set, so name the socket with --socket PATH")
        }
        return DaemonSocketPath.user(folder)
    }

    private static func stateFolder(
        _ scope: Scope, _ environment: [String: String]
    ) throws(Missing) -> String {
        if let given = environment["STATE_DIRECTORY"], given.hasPrefix("/") { return given }
        if scope == .system { return "/var/lib/bgtaskd" }
        if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") {
            return folder + "/bgtaskd"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw Missing(description: "HOME is not set, so name the folder with --state-dir DIR")
        }
        return home + "/.local/state/bgtaskd"
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }
}

/// How the program ends where it does not serve (sysexits.h).
package enum ExitStatus {
    package static let usage: Int32 = 64
    package static let unavailable: Int32 = 69
    package static let noPermission: Int32 = 77
    package static let software: Int32 = 70
    package static let system: Int32 = 71
    package static let cannotCreate: Int32 = 73
    package static let settings: Int32 = 78
}
