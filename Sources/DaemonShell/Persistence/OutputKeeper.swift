internal import BudgetCore
internal import Settings

/// Hands what tasks printed over to the disk, once that knows their ends.
final class OutputKeeper {
    private let core: Core
    private let output: OutputPump
    private let thread: StoreThread
    private let settings: CurrentSettings
    private var ended: [EndedOutput] = []
    private var cleaned: [TaskID] = []

    init(_ core: Core, _ output: OutputPump, _ thread: StoreThread, _ settings: CurrentSettings) {
        self.core = core
        self.output = output
        self.thread = thread
        self.settings = settings
    }

    /// The disk has what was ordered: of tasks that have ended, their output is taken as it is now.
    func stored(_ steps: [StoreStep]) {
        for case .cleaned(let ids, _) in steps { cleaned += ids }
        for case .ended(let id) in steps {
            guard let record = core.registry.record(id) else { continue }
            let log = output.endIsKnown(id)
            // Of one that was never begun nobody asks what it printed.
            let hasBegun = record.task.begunAt != .never || record.run?.attempt ?? 1 > 1
            guard hasBegun, settings.settings.store.outputBytesMax > 0 else { continue }
            ended.append(EndedOutput(task: id, owner: record.task.owner, log: log))
        }
    }

    /// Gives the disk what it has, once the ends have been told.
    func flush() {
        if !ended.isEmpty { thread.keep(ended) }
        if !cleaned.isEmpty { thread.forgetOutputs(ofGone: cleaned) }
        (ended, cleaned) = ([], [])
    }
}
