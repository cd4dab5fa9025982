internal import BudgetCore
internal import LinuxSystem

/// What the shell has of a run task that is live: its processes and the pipes of their output.
final class RunningTask {
    let id: TaskID
    let owner: OwnerID
    let processes: any TaskProcesses
    /// What it shares with the other live tasks of its owner.
    let output: OwnerOutput
    /// Whom its commands run as; `nil` until the user database has answered.
    var user: UserEntry?
    var pipes: [OutputPipe] = []
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
}
