internal import BudgetCore
internal import LinuxSystem

/// What every command gets: a minimal environment, the submitter's home, and its task's own numbers.
struct TaskEnvironment: Sendable {
    /// The same for all users.
    private let common: [String: String]
    private let socketPath: String
    private let openFilesSoft: UInt64
    private let changesUser: Bool

    /// - Parameters:
    ///   - changesUser: whether commands run as their submitters, and not as the daemon.
    ///   - openFilesSoft: the soft limit of open files that commands get back.
    init(
        socketPath: String, changesUser: Bool, openFilesSoft: UInt64, inherited: [String: String]
    ) {
        self.socketPath = socketPath
        self.openFilesSoft = openFilesSoft
        self.changesUser = changesUser
        // A daemon of the system has no run-time folder of a user to hand on.
        let names = ["LANG", "LC_ALL", "TZ"] + (changesUser ? [] : ["XDG_RUNTIME_DIR"])
        common = inherited.filter { names.contains($0.key) }
    }

    /// A request to run a command of a task; its arguments are still to be set.
    func request(
        for task: BackgroundTask, _ work: Work, as user: UserEntry
    ) -> LaunchRequest {
        var variables = common
        variables["PATH"] = TaskEnvironment.searchPath(of: task.owner)
        // Both may be empty in the database; passwd(5) says what an empty shell means.
        let home = user.home.isEmpty ? "/" : user.home
        variables["HOME"] = home
        variables["USER"] = user.name
        variables["LOGNAME"] = user.name
        variables["SHELL"] = user.shell.isEmpty ? "/bin/sh" : user.shell
        variables.merge(work.environment) { _, given in given }
        variables["BGTASK_ID"] = "\(task.id)"
        variables["BGTASK_NAME"] = task.name
        variables["BGTASK_SOCKET"] = socketPath
        // Without a limit there is no number to tell.
        variables["BGTASK_BUDGET_MS"] = task.budget.map { "\($0.duration.wholeMilliseconds)" }
        variables["BGTASK_GRACE_MS"] = "\(task.grace.wholeMilliseconds)"
        var request = LaunchRequest(
            arguments: [],
            environment: variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" },
            directory: work.directory ?? home,
            searchPath: variables["PATH"] ?? "",
            openFilesSoft: openFilesSoft
        )
        // A home that is not there stops nobody; a directory that was asked for does.
        request.directoryFallback = work.directory == nil ? "/" : nil
        if changesUser { request.user = LaunchRequest.User(task.owner, work.groups) }
        return request
    }

    private static func searchPath(of owner: OwnerID) -> String {
        let folders = [
            "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
        ]
        return folders.filter { owner == .root || !$0.hasSuffix("sbin") }.joined(separator: ":")
    }
}

extension LaunchRequest.User {
    /// A submitter. Without the groups that the kernel reported, nobody but their own group is given.
    init(_ owner: OwnerID, _ groups: SubmitterGroups?) {
        self.init(
            user: owner.rawValue, group: groups?.primary ?? owner.rawValue,
            groups: groups?.supplementary ?? [])
    }
}
