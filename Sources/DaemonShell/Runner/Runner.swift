internal import BudgetCore
internal import LinuxSystem

/// The processes of a task or of an application that was launched: what they run as, print, and say of themselves.
final class Runner {
    /// Who runs its commands.
    enum Commands {
        /// This process, those of an application.
        case launched(any TaskProcesses)
        /// bgtask-executor, those of a task.
        case executed(ExecutedCommand)
    }

    /// How far the main command has come.
    private enum Phase {
        /// Until the user database has answered; then `starting`.
        case waitingForUser
        /// Until the kernel has started it; then `started`.
        case starting
        /// It runs, or has run.
        case started
    }

    let id: RunnerID
    let owner: OwnerID
    let commands: Commands
    let output: RunnerOutput
    private var phase = Phase.waitingForUser
    /// What is to be done once the main command runs: a process that is being started could miss a signal.
    private var postponed: [Action] = []
    /// Where it speaks to the daemon; `nil` where it cannot.
    private(set) var notifySocket: TaskNotifySocket?

    init(id: RunnerID, owner: OwnerID, commands: Commands, output: RunnerOutput) {
        self.id = id
        self.owner = owner
        self.commands = commands
        self.output = output
    }

    /// The processes, where this process runs them.
    var launched: (any TaskProcesses)? {
        if case .launched(let processes) = commands { processes } else { nil }
    }

    /// The command, where bgtask-executor runs it.
    var executed: ExecutedCommand? {
        if case .executed(let command) = commands { command } else { nil }
    }

    /// Whether the user database has not answered yet whom it runs as.
    var isWaitingForUser: Bool { if case .waitingForUser = phase { true } else { false } }

    /// Its user is known, so that its main command is being started.
    func userKnown(_ notifySocket: TaskNotifySocket? = nil) {
        phase = .starting
        self.notifySocket = notifySocket
    }

    /// An earlier daemon has had its main command started, or begun to.
    func takenOver(isStarted: Bool, _ notifySocket: TaskNotifySocket?) {
        phase = isStarted ? .started : .starting
        self.notifySocket = notifySocket
    }

    /// Lets an order wait where the main command does not run yet.
    ///
    /// - Returns: whether it is to wait; else it can be performed now.
    func postpones(_ order: Action) -> Bool {
        if case .started = phase { return false }
        postponed.append(order)
        return true
    }

    /// The main command runs.
    ///
    /// - Returns: the orders that have waited for it.
    func started() -> [Action] {
        guard case .starting = phase else { return [] }
        phase = .started
        defer { postponed = [] }
        return postponed
    }

    /// Gives up its socket, for another to have.
    func takeNotifySocket() -> TaskNotifySocket? {
        defer { notifySocket = nil }
        return notifySocket
    }

    /// What its processes have used so far; `nil` where that is not known.
    func readUse() -> ResourceUse? {
        let use =
            switch commands {
            case .launched(let processes): processes.readUse()
            case .executed(let command): command.readUse()
            }
        return use.map(ResourceUse.init)
    }

    /// Sends a signal to all its processes; those that are stopped go on with it.
    func signal(_ number: SignalNumber) throws(SystemError) {
        switch commands {
        case .launched(let processes): try processes.ask(number.rawValue)
        case .executed(let command): command.signal(number.rawValue)
        }
    }

    /// Orders the end of all its processes.
    func kill() throws(SystemError) {
        switch commands {
        case .launched(let processes): try processes.kill()
        case .executed(let command): command.kill()
        }
    }

    /// Ends the use of its processes: nothing is told of them any more.
    func close() {
        switch commands {
        case .launched(let processes): processes.close()
        case .executed(let command): command.close()
        }
    }
}

/// Whom the commands of a task or an application run as, decided at the start of the first.
struct RunsAs {
    let user: UserEntry
    /// `nil`: those of the daemon, whose own user it is.
    let groups: SubmitterGroups?
    let hasNoNewPrivileges: Bool
}

extension ResourceUse {
    init(_ use: ProcessUse) {
        self.init(
            cpu: .microseconds(Int64(clamping: use.cpuMicroseconds)),
            memoryPeakBytes: use.memoryPeakBytes.map { Int(clamping: $0) })
    }
}

extension ProcessExit {
    init(_ exit: Exit) {
        self =
            switch exit {
            case .status(let number): .status(number)
            case .signal(let number): .signal(SignalNumber(rawValue: number))
            }
    }
}

extension LaunchError {
    /// For whom there was no room; `nil` where that is not what failed.
    var scope: ShortageScope? {
        switch shortage {
        case .general: .machine
        case .own: .command
        case nil: nil
        }
    }

    /// What failed, in words for who asked for the start and can ask again.
    var advice: String {
        shortage == nil ? description : "\(description); there is no room now, try again"
    }
}
