internal import BudgetCore
internal import LinuxSystem

/// The processes of a task or of an application that was launched: what they run as, print, and say of themselves.
final class Runner {
    /// How far the main command has come.
    private enum Phase {
        /// Until the user database has answered; then `starting`.
        case waitingForUser
        /// Until the kernel has started it; then `started`.
        case starting(RunsAs)
        /// It runs, or has run.
        case started(RunsAs)
    }

    let id: RunnerID
    let owner: OwnerID
    let processes: any TaskProcesses
    let output: RunnerOutput
    private var phase = Phase.waitingForUser
    /// What is to be done once the main command runs: a process that is being started could miss a signal, and the
    /// handler's command comes after the signal.
    private var postponed: [Action] = []
    /// Whether the command of its expiration handler runs, or is being started.
    var hasHandler = false
    /// Where it speaks to the daemon; `nil` where it cannot.
    private(set) var notifySocket: TaskNotifySocket?

    init(id: RunnerID, owner: OwnerID, processes: any TaskProcesses, output: RunnerOutput) {
        self.id = id
        self.owner = owner
        self.processes = processes
        self.output = output
    }

    /// Whom its commands run as; `nil` until the user database has answered.
    var runsAs: RunsAs? {
        switch phase {
        case .waitingForUser: nil
        case .starting(let runsAs), .started(let runsAs): runsAs
        }
    }

    /// Its user is known, so that its main command is being started.
    func userKnown(_ runsAs: RunsAs, _ notifySocket: TaskNotifySocket? = nil) {
        phase = .starting(runsAs)
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
        guard case .starting(let runsAs) = phase else { return [] }
        phase = .started(runsAs)
        defer { postponed = [] }
        return postponed
    }

    /// Gives up its socket, for another to have.
    func takeNotifySocket() -> TaskNotifySocket? {
        defer { notifySocket = nil }
        return notifySocket
    }

    /// What its processes have used so far; `nil` where that is not known.
    func readUse() -> ResourceUse? { processes.readUse().map(ResourceUse.init) }
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
