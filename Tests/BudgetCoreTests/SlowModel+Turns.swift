import BudgetCore

extension SlowModel {
    /// Among those that may start: of the owner with the fewest commands that run, then of the one who was
    /// served longest ago, then of the one with the lower uid; the lowest id.
    func nextToStart() -> Int? {
        let taken = tasks.values.count {
            $0.isRun && $0.isLive && $0.state != .dormant && !$0.isStuck
        }
        guard !isDraining, taken < slots else { return nil }
        let candidates = tasks.values.filter { task in
            task.state == .queued && runningCount(of: task.owner) < slotsPerOwnerMax
                && tasks.values.count { $0.owner == task.owner && $0.isLive } < tasksPerOwnerMax
        }
        let next = candidates.min { one, other in
            let keys = [one, other].map { task in
                [
                    runningCount(of: task.owner), servedAt[task.owner] ?? 0,
                    Int(task.owner.rawValue), task.id,
                ]
            }
            return keys[0].lexicographicallyPrecedes(keys[1])
        }
        return next?.id
    }

    /// Where nobody waits it is of no account who was served last, but of those with a running command.
    mutating func forgetTurns() {
        guard !tasks.values.contains(where: { $0.state == .queued }) else { return }
        servedAt = servedAt.filter { runningCount(of: $0.key) > 0 }
    }

    private func runningCount(of owner: OwnerID) -> Int {
        tasks.values.count { $0.isRun && $0.isLive && $0.owner == owner }
    }
}
