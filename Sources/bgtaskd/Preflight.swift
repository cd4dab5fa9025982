internal import DaemonShell
internal import LinuxSystem
internal import Settings

/// What is missing for the daemon to serve, or unsafe, found without changing anything.
struct Preflight {
    let configuration: Configuration
    let settings: Settings
    /// Whether the daemon starts in this process. Otherwise it will have another control group, from its
    /// service or its shell, and what this one is good for says nothing.
    let isStart: Bool

    /// Everything that is wrong, in the order in which a start would come upon it.
    func findings() -> [StartFailure] {
        [
            checkSettingsFolder, checkStateFolder, checkSocket, checkContainment, checkExecutor,
            checkOperators, checkAccess, checkDumpable,
        ].compactMap { check in
            do {
                try check()
                return nil
            } catch {
                return error as? StartFailure
                    ?? StartFailure("\(error)", ExitStatus.software)
            }
        }
    }

    /// What is good to know and no mistake.
    func notes() -> [String] {
        var notes: [String] = []
        if (try? UnixListener.presence(atPath: configuration.socketPath)) == .served {
            notes.append(
                "\(configuration.socketPath) is served by a daemon now; no other can start there")
        }
        if let refusal = cgroupRefusal() {
            notes.append("whether there are cgroups shows at the start; not from here: \(refusal)")
        }
        return notes
    }

    /// The group whose members are operators; `nil` where the settings name none.
    func operatorsGroup() throws(StartFailure) -> UInt32? {
        try group(settings.access.operators, "access.operators")
    }

    /// What the settings say of access, by numbers.
    func access() throws(StartFailure) -> AccessSettings {
        AccessSettings(
            usersGroup: try group(settings.access.users, "access.users"),
            confinedUsers: try users(settings.access.confinedUsers, "access.confinedUsers"),
            unlimitedUsers: try users(settings.access.unlimitedUsers, "access.unlimitedUsers"))
    }

    /// The number of a group; `nil` where none is named.
    private func group(_ name: String, _ key: String) throws(StartFailure) -> UInt32? {
        guard !name.isEmpty else { return nil }
        do throws(SystemError) {
            return try groupNumber(named: name)
        } catch {
            throw StartFailure(
                "\(key): \(error); make it with groupadd, or name another",
                ExitStatus.settings)
        }
    }

    /// The numbers of users.
    private func users(_ names: [String], _ key: String) throws(StartFailure) -> Set<UInt32> {
        do throws(SystemError) {
            return Set(try names.map { name throws(SystemError) in try userNumber(named: name) })
        } catch {
            throw StartFailure(
                "\(key): \(error); name users that there are", ExitStatus.settings)
        }
    }

    private var trust: PathTrust { PathTrust(user: configuration.user) }

    /// A child that becomes its user still shares the daemon's memory until it runs its program; at 1 the
    /// kernel would show that memory to the user (proc_sys_fs(5)).
    private func checkDumpable() throws {
        guard configuration.servesEverybody, suidDumpable() == 1 else { return }
        throw StartFailure(
            "fs.suid_dumpable is 1, with which users could read the daemon's memory;"
                + " set it to 0 or 2 with sysctl",
            ExitStatus.noPermission)
    }

    private func checkOperators() throws { _ = try operatorsGroup() }

    private func checkAccess() throws { _ = try access() }

    private func checkSettingsFolder() throws {
        guard let file = configuration.settingsLocation?.file else { return }
        try safe("the settings") { () throws(UnsafePath) in
            try trust.check(folder: Path.folder(of: file))
        }
    }

    private func checkStateFolder() throws {
        try safe("the state folder") { () throws(UnsafePath) in
            try trust.check(privateFolder: configuration.stateFolder)
        }
    }

    private func checkSocket() throws {
        let path = configuration.socketPath
        try safe("the socket") { () throws(UnsafePath) in
            try trust.check(folder: Path.folder(of: path))
        }
        do throws(SystemError) {
            _ = try UnixListener.presence(atPath: path)
        } catch {
            throw StartFailure(
                "cannot listen: \(error); name another socket with --socket",
                ExitStatus.unavailable)
        }
    }

    private func checkContainment() throws {
        if isStart, let refusal = cgroupRefusal() {
            throw StartFailure(
                "\(refusal); set daemon.containment to \"auto\" or \"supervisor\"",
                ExitStatus.system)
        }
    }

    private func checkExecutor() throws {
        guard configuration.executorPath == nil else { return }
        do throws(SystemError) {
            _ = try installedProgram(ExecutorProgram.name)
        } catch {
            throw StartFailure("cannot run commands: \(error)", ExitStatus.system)
        }
    }

    /// Why a daemon that must have cgroups would get none in this process's own group.
    private func cgroupRefusal() -> ContainmentRefusal? {
        let makesGroups =
            configuration.executorPath == nil && settings.daemon.containment == .cgroup
        return makesGroups ? CgroupTree.refusal() : nil
    }

    private func safe(_ what: String, _ check: () throws(UnsafePath) -> Void) throws {
        do throws(UnsafePath) {
            try check()
        } catch {
            throw StartFailure(
                "\(what): \(error), so that somebody else could change what is there;"
                    + " mend it with chown and chmod",
                ExitStatus.noPermission)
        }
    }
}

/// Paths as texts.
enum Path {
    /// The folder that a path is in; `.` where it names none.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
