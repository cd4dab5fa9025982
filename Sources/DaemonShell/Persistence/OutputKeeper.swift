package import BudgetCore
internal import Settings
package import TaskStore

/// Hands what tasks printed over to the disk, once that knows their ends.
package final class OutputKeeper {
    private let core: Core
    private let output: OutputPump
    private let thread: StoreThread
    private let settings: CurrentSettings
    private var ended: [EndedOutput] = []
    private var cleaned: [TaskID] = []
    /// Tasks whose output an earlier daemon has left, and of which it is not known yet what becomes of them.
    private var restored: Set<TaskID> = []

    package init(
        _ core: Core, _ output: OutputPump, _ thread: StoreThread, _ settings: CurrentSettings
    ) {
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

    /// Takes what an earlier daemon has left of the output of tasks that had not ended; before the tasks themselves are
    /// taken over.
    package func restore(_ outputs: [HandedOverOutput]) {
        for handedOver in outputs {
            restored.insert(handedOver.output.task)
            output.restore(
                handedOver.output.task, OutputLog(handedOver.output), isWhole: handedOver.isLatest)
        }
    }

    /// What became of tasks that were taken over is on disk: what those printed that have ended is kept as theirs.
    package func recovered(_ steps: [StoreStep]) {
        stored(
            steps.filter { step in
                if case .ended(let id) = step { restored.contains(id) } else { false }
            })
    }

    /// All tasks are taken over: commands that were found go on, and those of other tasks are gone.
    package func recoveryEnds() {
        for id in restored.sorted() where core.registry.record(id)?.task.isLive != true {
            output.commandNotFound(id)
        }
        restored = []
    }

    /// Gives the disk, at the end, what the next daemon goes on from. Whether it could be written is known when the
    /// threads of the disk have ended.
    ///
    /// That is so also where no output of ended tasks is to be kept: the next daemon takes it, and removes it then.
    package func handOver() {
        flush()
        thread.handOver(output.handOver())
    }

    /// Gives the disk what it has, once the ends have been told.
    package func flush() {
        if !ended.isEmpty { thread.keep(ended) }
        if !cleaned.isEmpty { thread.forgetOutputs(ofGone: cleaned) }
        (ended, cleaned) = ([], [])
    }
}
