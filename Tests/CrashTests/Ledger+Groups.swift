import BudgetCore

/// Which groups are held back, as it was ordered and answered.
struct GroupLedger {
    private(set) var paused: Set<String> = []
    /// Orders that wait for the disk, the oldest first.
    private var orders: [String: [Bool]] = [:]
    /// What the disk may say of a group besides.
    private var possible: [String: Set<Bool>] = [:]

    mutating func ordered(_ group: String, _ isPaused: Bool) {
        orders[group, default: []].append(isPaused)
        possible[group, default: []].insert(isPaused)
    }

    /// It was answered that there is nothing to do.
    func isSo(_ group: String, _ isPaused: Bool) throws {
        guard paused.contains(group) == isPaused else {
            throw Violation("group \(group) is said to be paused: \(isPaused)")
        }
    }

    /// The oldest order about a group is answered.
    ///
    /// - Parameter mayBeTaken: whether the disk may have taken what it refused.
    mutating func answered(_ group: String, _ refusal: Refusal?, mayBeTaken: Bool) throws {
        guard let order = orders[group]?.first else {
            throw Violation("an answer about group \(group), of which nobody asked")
        }
        orders[group]?.removeFirst()
        if refusal == nil {
            if order { paused.insert(group) } else { paused.remove(group) }
        }
        let isOpen = refusal != nil && mayBeTaken
        possible[group] = Set((orders[group] ?? []) + (isOpen ? [order] : []))
    }

    /// Whether all orders have their answer.
    var isSettled: Bool { orders.values.allSatisfy(\.isEmpty) }

    /// Compares what a daemon has found with what was answered.
    mutating func found(_ groups: [String], of all: [String]) throws {
        for group in all {
            let isPaused = groups.contains(group)
            guard isPaused == paused.contains(group) || possible[group]?.contains(isPaused) == true
            else { throw Violation("group \(group) is paused: \(isPaused), against the answers") }
        }
        paused = Set(groups)
        (orders, possible) = ([:], [:])
    }
}
