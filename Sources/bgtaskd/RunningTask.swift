internal import BudgetCore
internal import LinuxSystem

/// What the shell has of a run task that is live: its processes and the pipes of their output.
final class RunningTask {
    let id: TaskID
    let owner: OwnerID
    let processes: any TaskProcesses
    /// What it shares with the other live tasks of its owner's account.
    let output: OwnerOutput
    /// Whom its commands run as; `nil` until the user database has answered.
    var runsAs: RunsAs?
    var pipes: [OutputPipe] = []
    /// Where it speaks to the daemon; `nil` where it cannot.
    var notices: NoticeSource?
    /// Whether its main command runs, or has run.
    var hasStarted = false
    /// Orders to be performed once it runs: a process that is being started could miss a signal,
    /// and the handler's command comes after the signal.
    var ordersWaiting: [Action] = []

    init(id: TaskID, owner: OwnerID, processes: any TaskProcesses, output: OwnerOutput) {
        self.id = id
        self.owner = owner
        self.processes = processes
        self.output = output
    }

    /// What its processes have used so far; `nil` where that is not known.
    func readUse() -> ResourceUse? {
        processes.readUse().map(ResourceUse.init)
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
