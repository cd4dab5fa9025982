internal import DaemonShell
internal import Glibc
internal import LinuxSystem
internal import Logging
internal import Settings
internal import Systemd

/// Why the daemon does not serve: one plain line that says what to do, and an exit status.
struct StartFailure: Error, CustomStringConvertible {
    let description: String
    let status: Int32

    init(_ description: String, _ status: Int32) {
        self.description = description
        self.status = status
    }
}

/// The steps from the settings to a daemon that serves, each with its own failure.
enum Bootstrap {
    /// How long the journal may take for what is left at the end.
    private static let journalEnd = Duration.seconds(2)
    /// How long a bus may keep the start waiting.
    private static let scopeLimit = Duration.seconds(5)

    /// Starts, serves, and stops.
    ///
    /// - Returns: the exit status.
    static func serve(
        _ configuration: Configuration, _ loaded: LoadedSettings, _ inherited: [ListenDescriptor]
    ) throws -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        // The watchdog's, which ends the daemon. The Swift runtime tells where that was and goes on.
        signal(SIGABRT, SIG_DFL)
        giveLargeBlocksBack()
        makeOwnProc()
        let loop = try EventLoop()
        var daemon: Daemon?
        // Threads inherit the mask: signals are blocked before the first is started.
        try Daemon.addSignals(to: loop) { daemon }
        let writer = try makeWriter(loaded)
        defer { report(writer.close(within: journalEnd)) }
        let log = Logger(label: "bgtaskd") { _ in JournalLogHandler(writer: writer) }
        try makeFolder(configuration.stateFolder)
        let lock = try lock(configuration.stateFolder)
        let openFilesSoft = raiseOpenFiles()
        let oldGroup = try endLeftovers(configuration.stateFolder, log)
        let opened = try openStore(configuration.stateFolder, loaded.settings)
        let tree = try makeTree(configuration, loaded, log)
        let closers = try makeClosers()
        // One that is used again is seen to by the executor.
        if let oldGroup, oldGroup != tree?.folder { removeGroup(oldGroup, by: closers, log) }
        let host = try makeHost()
        let executor = try connectExecutor(
            host, tree, configuration, loaded, opened, closers)
        let outfit = Outfit(
            configuration: configuration, loaded: loaded, loop: loop, writer: writer, log: log,
            host: host, tree: tree, executor: executor, openFilesSoft: openFilesSoft,
            closers: closers)
        let made = try Daemon(outfit, opened)
        daemon = made
        do {
            try recover(made, opened)
            try listen(made, configuration, inherited)
        } catch {
            made.removeGroup()
            throw error
        }
        defer {
            made.shutDown()
            withExtendedLifetime(lock) {}
        }
        return try made.run()
    }

    /// Early, since they have the memory that this process has then, and after it has gone into a group of its own.
    private static func makeClosers() throws(StartFailure) -> CloserProcess.Maker {
        do {
            return try CloserProcess.Maker()
        } catch {
            throw StartFailure("cannot start a process: \(error)", ExitStatus.system)
        }
    }

    private static func makeWriter(_ loaded: LoadedSettings) throws -> JournalWriter {
        try JournalWriter(
            to: .standard(), identifier: "bgtaskd",
            level: JournalLevel(loaded.settings.daemon.logLevel))
    }

    private static func listen(
        _ daemon: Daemon, _ configuration: Configuration, _ inherited: [ListenDescriptor]
    ) throws {
        do throws(SystemError) {
            for socket in inherited {
                try daemon.listen(UnixListener(inherited: OwnedDescriptor(socket.descriptor)))
            }
            guard inherited.isEmpty else { return }
            let isSystem = configuration.scope == .system
            try daemon.listen(
                UnixListener(
                    path: configuration.socketPath, mode: isSystem ? 0o666 : 0o600,
                    folderMode: isSystem ? 0o755 : 0o700, closer: daemon.closers))
        } catch {
            throw StartFailure("cannot listen: \(error)", ExitStatus.unavailable)
        }
    }

    private static func makeFolder(_ path: String) throws {
        do {
            try makeFolders(path, mode: 0o700)
        } catch {
            throw StartFailure("cannot make the state folder: \(error)", ExitStatus.cannotCreate)
        }
    }

    private static func lock(_ folder: String) throws -> StateLock {
        do {
            return try StateLock(folder: folder)
        } catch {
            throw StartFailure(
                "cannot use the state folder: \(error); name another with --state-dir",
                error.errno == EWOULDBLOCK ? ExitStatus.unavailable : ExitStatus.cannotCreate)
        }
    }

    private static func openStore(
        _ folder: String, _ settings: Settings
    ) throws(StartFailure) -> OpenedStore {
        do {
            return try OpenedStore(inFolder: folder, settings)
        } catch {
            throw StartFailure("cannot use the store: \(error)", ExitStatus.cannotCreate)
        }
    }

    private static func recover(_ daemon: Daemon, _ opened: OpenedStore) throws(StartFailure) {
        do {
            try daemon.recover(opened)
        } catch {
            throw StartFailure(
                "cannot record what an earlier daemon left: \(error)", ExitStatus.cannotCreate)
        }
    }

    /// Ends what an earlier daemon left, before anything that may keep this one from serving: nobody else
    /// watches its budgets.
    ///
    /// - Returns: the control group that it had, where that is there still.
    private static func endLeftovers(
        _ folder: String, _ log: Logger
    ) throws(StartFailure) -> String? {
        do {
            let leftovers = try TreeRecord(stateFolder: folder).killLeftovers()
            say(leftovers, log)
            say(try ExecutorFolder(stateFolder: folder).waitForEarlier(), log)
            return leftovers.group
        } catch {
            throw StartFailure(
                "cannot end what an earlier daemon left: \(error)", ExitStatus.system)
        }
    }

    private static func removeGroup(
        _ folder: String, by closers: CloserProcess.Maker, _ log: Logger
    ) {
        do throws(SystemError) {
            try closers.removeNow(folder)
        } catch {
            // The service manager removes the groups of a unit that has ended, perhaps at this moment.
            log.say(.groupNotRemoved, [.reason: "\(error)"])
        }
    }

    private static func say(_ leftovers: Leftovers, _ log: Logger) {
        if leftovers.count > 0 { log.say(.leftoversKilled, [.count: "\(leftovers.count)"]) }
        guard !leftovers.unkillable.isEmpty else { return }
        let named = leftovers.unkillable.prefix(20).map(String.init).joined(separator: ", ")
        log.say(
            .leftoversUnkillable,
            [.count: "\(leftovers.unkillable.count)", .reason: "processes \(named)"])
    }

    /// Makes the group for those of commands, where there is to be one here, and ends what an earlier daemon left in it.
    private static func makeTree(
        _ configuration: Configuration, _ loaded: LoadedSettings, _ log: Logger
    ) throws -> CgroupTree? {
        do {
            let tree = try chooseTree(configuration, loaded, log)
            if let tree { say(try tree.killLeftovers(), log) }
            try TreeRecord(stateFolder: configuration.stateFolder).write(tree)
            return tree
        } catch let error as SystemError {
            throw StartFailure("cannot keep processes together: \(error)", ExitStatus.system)
        } catch let refusal as ContainmentRefusal {
            throw StartFailure(
                "\(refusal); set daemon.containment to \"auto\" or \"supervisor\"",
                ExitStatus.system)
        }
    }

    private static func chooseTree(
        _ configuration: Configuration, _ loaded: LoadedSettings, _ log: Logger
    ) throws(ContainmentRefusal) -> CgroupTree? {
        // An executor that others have started has a group of its own.
        guard configuration.executorPath == nil else { return nil }
        switch loaded.settings.daemon.containment {
        case .cgroup: return try CgroupTree(stateFolder: configuration.stateFolder)
        case .supervisor: return nil
        case .auto:
            enterScope(configuration, log)
            do throws(ContainmentRefusal) {
                return try CgroupTree(stateFolder: configuration.stateFolder)
            } catch {
                log.say(.supervisorEach, [.reason: "\(error)"])
                return nil
            }
        }
    }

    private static func makeHost() throws(StartFailure) -> ProcessHost {
        do {
            return try ProcessHost()
        } catch {
            throw StartFailure("cannot watch processes: \(error)", ExitStatus.system)
        }
    }

    /// Finds or starts the program that runs commands, and finds what it has of an earlier daemon's.
    private static func connectExecutor(
        _ host: ProcessHost, _ tree: CgroupTree?, _ configuration: Configuration,
        _ loaded: LoadedSettings, _ opened: OpenedStore, _ closers: CloserProcess.Maker
    ) throws(StartFailure) -> ExecutorLink {
        do {
            let executor = try host.connect(
                try executorSource(configuration, tree), owner: opened.executorOwner)
            executor.setBounds(ExecutorLink.Bounds(loaded.settings))
            return executor
        } catch {
            try? tree?.remove(by: closers)
            let advice =
                configuration.executorPath == nil ? "" : "; see: systemctl status bgtask-executor"
            throw StartFailure(
                "cannot use bgtask-executor: \(error)\(advice)", ExitStatus.unavailable)
        }
    }

    private static func executorSource(
        _ configuration: Configuration, _ tree: CgroupTree?
    ) throws(SystemError) -> ExecutorSource {
        if let path = configuration.executorPath { return .socket(path: path) }
        let program = ExecutorProgram(
            path: try installedProgram(ExecutorProgram.name),
            groupFolder: tree?.folder,
            stateFolder: ExecutorFolder(stateFolder: configuration.stateFolder).path)
        return .program(program)
    }

    /// Asks the service manager for a group where a shell started the daemon, since that shell's group
    /// is not ours to divide.
    private static func enterScope(_ configuration: Configuration, _ log: Logger) {
        guard CgroupTree.isLackedHere(), !DelegatedScope.isService(configuration.environment)
        else { return }
        do {
            let scope = try DelegatedScope.enter(
                CgroupTree.unitName(stateFolder: configuration.stateFolder),
                description: "bgtaskd, started by hand, and its tasks",
                of: configuration.user == 0 ? .system : .user, within: scopeLimit)
            log.say(.scopeMade, [.unit: scope.unit])
        } catch {
            log.say(.noScope, [.reason: "\(error)"])
        }
    }

    /// Raises the soft limit of open files to the hard one.
    ///
    /// - Returns: what it was, for the commands.
    private static func raiseOpenFiles() -> UInt64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        let soft = UInt64(limit.rlim_cur)
        limit.rlim_cur = limit.rlim_max
        return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? soft : 0
    }

    /// Says on standard error what the journal did not get.
    private static func report(_ loss: JournalLoss) {
        guard loss != JournalLoss() else { return }
        let bytes = Array("bgtaskd: the journal did not take all entries: \(loss)\n".utf8)
        // Nobody may be reading there.
        var output = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&output, 1, 0) == 1 else { return }
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
