package import BudgetCore
internal import LinuxSystem

/// The command of a task or of an application that was launched: what it prints, and says of itself.
final class Runner {
    let id: RunnerID
    let owner: OwnerID
    /// What bgtask-executor runs.
    let command: ExecutedCommand
    let output: RunnerOutput
    private var start = CommandStart()
    /// Where it speaks to the daemon; `nil` where it cannot.
    private(set) var notifySocket: TaskNotifySocket?

    init(id: RunnerID, owner: OwnerID, command: ExecutedCommand, output: RunnerOutput) {
        self.id = id
        self.owner = owner
        self.command = command
        self.output = output
    }

    /// Whether the user database has not answered yet whom it runs as.
    var isWaitingForUser: Bool { start.isWaitingForUser }

    /// Its user is known, so that it is being started.
    func userKnown(_ notifySocket: TaskNotifySocket? = nil) {
        start.userKnown()
        self.notifySocket = notifySocket
    }

    /// An earlier daemon has had it started, or begun to.
    func takenOver(isStarted: Bool, _ notifySocket: TaskNotifySocket?) {
        start.userKnown()
        if isStarted { _ = start.started() }
        self.notifySocket = notifySocket
    }

    /// Lets an order wait where it does not run yet.
    ///
    /// - Returns: whether it is to wait; else it can be performed now.
    func postpones(_ order: Action) -> Bool { start.postpones(order) }

    /// It runs.
    ///
    /// - Returns: the orders that have waited for it.
    func started() -> [Action] { start.started() }

    /// Gives up its socket, for another to have.
    func takeNotifySocket() -> TaskNotifySocket? {
        defer { notifySocket = nil }
        return notifySocket
    }

    /// What its processes have used so far; `nil` where that is not known.
    func readUse() -> ResourceUse? { command.readUse().map(ResourceUse.init) }
}

/// How far the start of a command has come, and what has to wait for it.
package struct CommandStart {
    private enum Phase {
        /// Until the user database has answered; then `starting`.
        case waitingForUser
        /// Until the kernel has started it; then `started`.
        case starting
        /// It runs, or has run.
        case started
    }

    private var phase = Phase.waitingForUser
    /// What is to be done once it runs: a process that is being started could miss a signal.
    private var postponed: [Action] = []

    /// Whether the user database has not answered yet whom it runs as.
    package var isWaitingForUser: Bool { if case .waitingForUser = phase { true } else { false } }

    package init() {}

    package mutating func userKnown() { phase = .starting }

    /// Lets an order wait where the command does not run yet.
    ///
    /// - Returns: whether it is to wait; else it can be performed now.
    package mutating func postpones(_ order: Action) -> Bool {
        if case .started = phase { return false }
        postponed.append(order)
        return true
    }

    /// The command runs.
    ///
    /// - Returns: the orders that have waited for it.
    package mutating func started() -> [Action] {
        guard case .starting = phase else { return [] }
        phase = .started
        defer { postponed = [] }
        return postponed
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
        case .executor: .executor
        case .own: .command
        case nil: nil
        }
    }

    /// What failed, in words for who asked for the start and can ask again.
    var advice: String {
        shortage == nil ? description : "\(description); there is no room now, try again"
    }
}
