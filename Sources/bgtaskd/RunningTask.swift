internal import BudgetCore
internal import LinuxSystem

/// What the shell has of a run task that is live: its processes and the pipes of their output.
final class RunningTask {
    let id: TaskID
    let name: String
    let processes: any TaskProcesses
    var pipes: [OutputPipe] = []

    init(id: TaskID, name: String, processes: any TaskProcesses) {
        self.id = id
        self.name = name
        self.processes = processes
    }
}
