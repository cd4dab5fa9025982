internal import BudgetCore
internal import LinuxSystem

/// What the shell has of a run task that is live: its processes and the pipes of their output.
final class RunningTask {
    let id: TaskID
    let processes: any TaskProcesses
    var pipes: [OutputPipe] = []
    /// Whether its main command runs, or has run.
    var hasStarted = false
    /// Orders to be performed once it runs: a process that is being started could miss a signal,
    /// and the handler's command comes after the signal.
    var ordersWaiting: [Action] = []

    init(id: TaskID, processes: any TaskProcesses) {
        self.id = id
        self.processes = processes
    }
}
