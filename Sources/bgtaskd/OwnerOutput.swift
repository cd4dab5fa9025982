internal import BudgetCore

/// How much the live tasks of one owner print together, so that many tasks flood no more than a few.
final class OwnerOutput {
    var bytes: Rate
    /// Lines in the log.
    var lines: Rate
    /// Live tasks that share it.
    fileprivate var taskCount = 0

    init(bytesPerSecondMax: Int, linesPerSecondMax: Int) {
        bytes = Rate(perSecondMax: bytesPerSecondMax)
        lines = Rate(perSecondMax: linesPerSecondMax)
    }
}

/// What each owner with live run tasks prints.
struct OwnerOutputs {
    private var byOwner: [OwnerID: OwnerOutput] = [:]

    /// What the tasks of an owner share, for one more of them.
    mutating func share(
        of owner: OwnerID, bytesPerSecondMax: Int, linesPerSecondMax: Int
    ) -> OwnerOutput {
        let output =
            byOwner[owner]
            ?? OwnerOutput(
                bytesPerSecondMax: bytesPerSecondMax, linesPerSecondMax: linesPerSecondMax)
        output.taskCount += 1
        byOwner[owner] = output
        return output
    }

    /// A task is gone; with an owner's last, so is what they shared.
    mutating func release(of owner: OwnerID) {
        guard let output = byOwner[owner] else { return }
        output.taskCount -= 1
        if output.taskCount == 0 { byOwner[owner] = nil }
    }
}
