import BudgetCore

extension SlowModel {
    /// The end of a task was told.
    mutating func remember(_ id: Int) {
        guard let task = tasks[id] else { return }
        remembered.append((id, task.isRun, task.owner))
    }

    /// The owner who has most ended tasks of a kind loses the first of them, for as long as there are too
    /// many; of two who have as many, the one whose first has the lower id.
    mutating func forgetExcess() {
        for (isRun, countMax) in [(false, endedHeldMax), (true, endedRunMax)] {
            while true {
                let ofKind = remembered.filter { $0.isRun == isRun }
                guard ofKind.count > countMax else { break }
                let queues = Dictionary(grouping: ofKind, by: \.owner).values
                let longest = queues.map(\.count).max() ?? 0
                let first = queues.filter { $0.count == longest }.compactMap { $0.first?.id }.min()
                guard let first else { break }
                remembered.removeAll { $0.id == first }
                forgotten.insert(first)
            }
        }
    }
}
