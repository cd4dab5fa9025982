package import TaskAPI

/// How much of its time a task has used, where its warning comes, and where its limit.
package struct BudgetBar: Equatable {
    /// Cells that are used before the warning, not used before it, used of the grace, and not used of it.
    let used: Int
    let free: Int
    let graceUsed: Int
    let graceFree: Int

    /// - Parameter cells: how many it has.
    /// - Returns: `nil` for a task that has no limit, and for one that has not begun or has ended.
    package init?(_ task: Tasks.Task, cells: Int) {
        guard cells > 1, task.state != .queued, task.state != .ended,
            let left = task.remaining?.hardMs
        else { return nil }
        let total = BudgetBar.total(of: task, left: left)
        guard total > 0 else { return nil }
        let beforeWarning = task.remaining?.ms ?? 0
        let grace =
            beforeWarning > 0 ? left - beforeWarning : max(task.budget?.graceMs ?? left, left)
        // It has a cell also where it is short, and leaves one.
        let graceCells = min(
            max(BudgetBar.cells(cells, grace, of: total), grace > 0 ? 1 : 0), cells - 1)
        let otherCells = cells - graceCells
        let otherTotal = max(total - grace, 1)
        // Full only where it is.
        used =
            beforeWarning > 0
            ? min(
                BudgetBar.cells(otherCells, otherTotal - beforeWarning, of: otherTotal), otherCells)
            : otherCells
        free = otherCells - used
        graceUsed =
            beforeWarning > 0 || grace <= 0
            ? 0 : min(BudgetBar.cells(graceCells, grace - left, of: grace), graceCells)
        graceFree = graceCells - graceUsed
    }

    /// The time of which it has so much left: its budget, or with its application's what that leaves it.
    private static func total(of task: Tasks.Task, left: Int) -> Int {
        guard task.remaining?.bound != .applicationBackgroundTime, let budget = task.budget else {
            return left + (task.usedMs ?? 0)
        }
        return max(budget.durationMs, left)
    }

    /// So many cells for a part, none too many.
    private static func cells(_ cells: Int, _ part: Int, of total: Int) -> Int {
        Int(Double(cells) * Double(max(part, 0)) / Double(total))
    }

    /// `[#####....::]`; in the grace `[#########!!:]`.
    package func add(to line: inout StyledLine) {
        let isWarned = free == 0 && graceUsed > 0
        line.add("[", .faint)
        line.add(String(repeating: "#", count: used), isWarned ? .warning : .plain)
        line.add(String(repeating: ".", count: free), .faint)
        line.add(String(repeating: "!", count: graceUsed), .alarm)
        line.add(String(repeating: ":", count: graceFree), .warning)
        line.add("]", .faint)
    }
}
