package import BudgetCore

/// How much the live tasks of one account print together, so that many tasks flood no more than a few.
package final class OwnerOutput {
    let account: OwnerID
    var bytes: Rate
    /// Lines in the log.
    var lines: Rate
    /// Live tasks that share it.
    fileprivate var taskCount = 0

    package init(of account: OwnerID, bytesPerSecondMax: Int, linesPerSecondMax: Int) {
        self.account = account
        bytes = Rate(perSecondMax: bytesPerSecondMax)
        lines = Rate(perSecondMax: linesPerSecondMax)
    }
}

/// What each account with live run tasks prints.
struct OwnerOutputs {
    private var byAccount: [OwnerID: OwnerOutput] = [:]

    /// What the tasks of an account share, for one more of them.
    mutating func share(
        of account: OwnerID, bytesPerSecondMax: Int, linesPerSecondMax: Int
    ) -> OwnerOutput {
        let output =
            byAccount[account]
            ?? OwnerOutput(
                of: account, bytesPerSecondMax: bytesPerSecondMax,
                linesPerSecondMax: linesPerSecondMax)
        output.taskCount += 1
        byAccount[account] = output
        return output
    }

    /// A task is gone; with an account's last, so is what they shared.
    mutating func release(_ output: OwnerOutput) {
        output.taskCount -= 1
        if output.taskCount == 0 { byAccount[output.account] = nil }
    }
}
