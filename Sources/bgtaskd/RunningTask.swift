internal import BudgetCore
internal import LinuxSystem

/// What the shell has of a run task that is live: its processes and the pipes of their output.
final class RunningTask {
    let id: TaskID
    let name: String
    let processes: any TaskProcesses
    var pipes: [OutputPipe] = []
    /// Whether the main command runs, so that a signal finds it.
    var hasStarted = false
    /// Signals that came before that.
    var signalsWaiting: [SignalNumber] = []

    init(id: TaskID, name: String, processes: any TaskProcesses) {
        self.id = id
        self.name = name
        self.processes = processes
    }
}
