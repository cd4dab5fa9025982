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
    ///
    /// - Parameter noticePath: where the command speaks to the daemon.
    func request(
        for task: BackgroundTask, _ run: RunTask, as user: UserEntry, noticePath: String?
    ) -> LaunchRequest {
        var variables = variables(of: user, task.owner, run.work.environment)
        variables["BGTASK_ID"] = "\(task.id)"
        variables["BGTASK_NAME"] = task.name
        variables["BGTASK_ATTEMPT"] = "\(run.attempt)"
        // One that was handed over is the submitter's own keeper's, which does not know the task.
        if let noticePath { variables["NOTIFY_SOCKET"] = noticePath }
        // Without a limit there is no number to tell.
        variables["BGTASK_BUDGET_MS"] = task.budget.map { "\($0.duration.wholeMilliseconds)" }
        variables["BGTASK_GRACE_MS"] = "\(task.grace.wholeMilliseconds)"
        return request(variables, in: run.work.directory, of: user, task.owner, run.work.groups)
    }

    /// A request to run the command of an application.
    func request(
        for key: ApplicationKey, _ registration: Registration, as user: UserEntry
    ) -> LaunchRequest {
        var variables = variables(of: user, key.owner, registration.environment)
        variables["BGTASK_APPLICATION"] = key.id
        var request = request(
            variables, in: registration.directory, of: user, key.owner, registration.groups)
        request.arguments = registration.command ?? []
        return request
    }

    /// What does not depend on the task.
    private func variables(
        of user: UserEntry, _ owner: OwnerID, _ given: [String: String]
    ) -> [String: String] {
        var variables = common
        variables["PATH"] = TaskEnvironment.searchPath(of: owner)
        variables["HOME"] = TaskEnvironment.home(of: user)
        variables["USER"] = user.name
        variables["LOGNAME"] = user.name
        // As the home it may be empty in the database; passwd(5) says what that means.
        variables["SHELL"] = user.shell.isEmpty ? "/bin/sh" : user.shell
        variables.merge(given) { _, given in given }
        variables["BGTASK_SOCKET"] = socketPath
        return variables
    }

    private func request(
        _ variables: [String: String], in directory: String?, of user: UserEntry,
        _ owner: OwnerID, _ groups: SubmitterGroups?
    ) -> LaunchRequest {
        var request = LaunchRequest(
            arguments: [],
            environment: variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" },
            directory: directory ?? TaskEnvironment.home(of: user),
            searchPath: variables["PATH"] ?? "",
            openFilesSoft: openFilesSoft
        )
        // A home that is not there stops nobody; a directory that was asked for does.
        request.directoryFallback = directory == nil ? "/" : nil
        if changesUser { request.user = LaunchRequest.User(owner, groups) }
        return request
    }

    private static func home(of user: UserEntry) -> String { user.home.isEmpty ? "/" : user.home }

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
