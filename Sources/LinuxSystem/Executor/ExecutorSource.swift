/// Where a daemon has its bgtask-executor from.
package enum ExecutorSource {
    /// It listens at this socket, and goes on when this process ends.
    case socket(path: String)
    /// This process starts it, and it ends with it.
    case program(ExecutorProgram)
}

/// How a bgtask-executor is started that ends with the process that starts it (docs/executor.md, Start).
package struct ExecutorProgram {
    /// What it is called where it is installed.
    package static let name = "bgtask-executor"

    let path: String
    /// Where it makes the groups of commands, in cgroup v2; `nil`: each command has a supervisor.
    let groupFolder: String?
    /// Where it keeps the ends that nobody has taken note of.
    let stateFolder: String

    package init(path: String, groupFolder: String?, stateFolder: String) {
        self.path = path
        self.groupFolder = groupFolder
        self.stateFolder = stateFolder
    }

    /// The seconds mean nothing where its daemon does not come again.
    var arguments: [String] { [path, groupFolder ?? "none", stateFolder, "0"] }
}
