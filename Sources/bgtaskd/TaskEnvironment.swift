internal import BudgetCore
internal import Glibc
internal import LinuxSystem

/// What every command gets: a minimal environment, the submitter's home, and its task's own numbers.
struct TaskEnvironment: Sendable {
    /// NAME=value, the same for all.
    private let common: [String: String]
    /// Where a command runs whose submitter names no directory.
    private let home: String
    private let searchPath: String
    private let socketPath: String
    private let openFilesSoft: UInt64

    /// Looks the user up (getpwuid(3)): once, before the loop runs.
    ///
    /// - Parameters:
    ///   - openFilesSoft: the soft limit of open files that commands get back.
    init(user: UInt32, socketPath: String, openFilesSoft: UInt64, inherited: [String: String]) {
        var home = "/"
        var name = String(user)
        var shell = "/bin/sh"
        if let entry = getpwuid(user)?.pointee {
            home = String(cString: entry.pw_dir)
            name = String(cString: entry.pw_name)
            shell = String(cString: entry.pw_shell)
        }
        let folders = [
            "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
        ]
        searchPath = folders.filter { user == 0 || !$0.hasSuffix("sbin") }.joined(separator: ":")
        var common = [
            "PATH": searchPath, "HOME": home, "USER": name, "LOGNAME": name, "SHELL": shell,
            "BGTASK_SOCKET": socketPath,
        ]
        for name in ["LANG", "LC_ALL", "TZ", "XDG_RUNTIME_DIR"] {
            common[name] = inherited[name]
        }
        self.common = common
        var status = stat()
        let isHomeThere = stat(home, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        self.home = isHomeThere ? home : "/"
        self.socketPath = socketPath
        self.openFilesSoft = openFilesSoft
    }

    /// A request to run a command of a task; its arguments are still to be set.
    func request(for task: BackgroundTask, _ work: Work) -> LaunchRequest {
        var variables = common.merging(work.environment) { _, given in given }
        variables["BGTASK_ID"] = "\(task.id)"
        variables["BGTASK_NAME"] = task.name
        variables["BGTASK_SOCKET"] = socketPath
        // Without a limit there is no number to tell.
        variables["BGTASK_BUDGET_MS"] = task.budget.map { "\($0.duration.wholeMilliseconds)" }
        variables["BGTASK_GRACE_MS"] = "\(task.grace.wholeMilliseconds)"
        return LaunchRequest(
            arguments: [],
            environment: variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" },
            directory: work.directory ?? home,
            searchPath: variables["PATH"] ?? searchPath,
            openFilesSoft: openFilesSoft
        )
    }
}
