internal import BudgetCore
internal import LinuxSystem

/// What every command gets: a minimal environment, the submitter's home, and its task's own numbers.
struct TaskEnvironment: Sendable {
    /// The same for all users.
    private let common: [String: String]
    private let socketPath: String
    private let openFilesSoft: UInt64
    private let changesUser: Bool
    /// The group of commands whose user the database does not know.
    private let noGroup = overflowGroup()

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

    /// Whom a command runs as for its submitter.
    ///
    /// - Throws: where their account is no longer theirs, or of no use.
    func runsAs(
        _ submitter: Submitter, _ owner: OwnerID, known user: KnownUser
    ) throws(StartRefusal) -> RunsAs {
        let groups =
            changesUser
            ? try submitter.groupsGranted(
                to: owner, by: user.account, or: noGroup, today: WallClock.today()) : nil
        return RunsAs(
            user: user.entry, groups: groups, hasNoNewPrivileges: submitter.hasNoNewPrivileges)
    }

    /// A request to run a command of a task; its arguments are still to be set.
    ///
    /// - Parameter noticePath: where the command speaks to the daemon.
    func request(
        for task: BackgroundTask, _ run: RunTask, after dependencies: [Dependency],
        as runsAs: RunsAs, noticePath: String?
    ) -> LaunchRequest {
        var variables = variables(of: runsAs.user, task.owner, run.work.environment)
        variables.set("BGTASK_ID", "\(task.id)")
        variables.set("BGTASK_NAME", task.name)
        variables.set("BGTASK_ATTEMPT", "\(run.attempt)")
        let ends = dependencies.compactMap { dependency in
            dependency.outcome.map { "\(dependency.predecessor.id)=\($0)" }
        }
        if !ends.isEmpty { variables.set("BGTASK_AFTER", ends.joined(separator: " ")) }
        // One that was handed over is the submitter's own keeper's, which does not know the task.
        if let noticePath { variables.set("NOTIFY_SOCKET", noticePath) }
        // Without a limit there is no number to tell.
        variables.set(
            "BGTASK_BUDGET_MS", task.budget.map { "\($0.duration.wholeMilliseconds)" })
        variables.set("BGTASK_GRACE_MS", "\(task.grace.wholeMilliseconds)")
        return request(variables, in: run.work.directory, of: task.owner, as: runsAs)
    }

    /// A request to run the command of an application.
    func request(
        for key: ApplicationKey, _ registration: Registration, as runsAs: RunsAs
    ) -> LaunchRequest {
        var variables = variables(of: runsAs.user, key.owner, registration.environment)
        variables.set("BGTASK_APPLICATION", key.id)
        var request = request(variables, in: registration.directory, of: key.owner, as: runsAs)
        request.arguments = registration.command ?? []
        return request
    }

    /// What does not depend on the task.
    private func variables(
        of user: UserEntry, _ owner: OwnerID, _ given: [String: String]
    ) -> Variables {
        var variables = Variables()
        for (name, value) in common { variables.set(name, value) }
        variables.set("PATH", TaskEnvironment.searchPath(of: owner))
        variables.set("HOME", TaskEnvironment.home(of: user))
        variables.set("USER", user.name)
        variables.set("LOGNAME", user.name)
        // As the home it may be empty in the database; passwd(5) says what that means.
        variables.set("SHELL", user.shell.isEmpty ? "/bin/sh" : user.shell)
        for (name, value) in given { variables.set(name, value) }
        variables.set("BGTASK_SOCKET", socketPath)
        return variables
    }

    private func request(
        _ variables: Variables, in directory: String?, of owner: OwnerID, as runsAs: RunsAs
    ) -> LaunchRequest {
        let sorted = variables.sorted()
        var request = LaunchRequest(
            arguments: [],
            environment: sorted.map { $0.name + "=" + $0.value },
            directory: directory ?? TaskEnvironment.home(of: runsAs.user),
            searchPath: sorted.first { $0.name == "PATH" }?.value ?? "",
            openFilesSoft: openFilesSoft
        )
        // A home that is not there stops nobody; a directory that was asked for does.
        request.directoryFallback = directory == nil ? "/" : nil
        if changesUser { request.user = LaunchRequest.User(owner, runsAs.groups) }
        request.hasNoNewPrivileges = runsAs.hasNoNewPrivileges
        return request
    }

    private static func home(of user: UserEntry) -> String { user.home.isEmpty ? "/" : user.home }

    private static func searchPath(of owner: OwnerID) -> String {
        owner == .root ? rootSearchPath : userSearchPath
    }

    private static let rootSearchPath =
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    private static let userSearchPath = "/usr/local/bin:/usr/bin:/bin"
}

/// The variables of an environment while it is put together. A table of them would cost more than it spares:
/// there are few, and nearly all have names of their own.
private struct Variables {
    private var all: [(name: String, value: String?)] = []

    /// Sets a variable, in place of one of that name that was set before; with no value, there is none then.
    mutating func set(_ name: String, _ value: String?) {
        all.append((name, value))
    }

    /// By their names.
    func sorted() -> [(name: String, value: String)] {
        let order = all.indices.sorted { (all[$0].name, $0) < (all[$1].name, $1) }
        var sorted: [(name: String, value: String)] = []
        sorted.reserveCapacity(all.count)
        for index in order {
            let (name, value) = all[index]
            if sorted.last?.name == name { sorted.removeLast() }
            if let value { sorted.append((name, value)) }
        }
        return sorted
    }
}

extension LaunchRequest.User {
    /// A submitter. Without groups, nobody but their own group is given.
    init(_ owner: OwnerID, _ groups: SubmitterGroups?) {
        self.init(
            user: owner.rawValue, group: groups?.primary ?? owner.rawValue,
            groups: groups?.supplementary ?? [])
    }
}
