internal import Containers

// The tasks in the order of their ids.
extension TaskTable {
    /// The slots of one owner's tasks, or of all, in the order of their ids.
    func slots(of owner: OwnerID?) -> [Int] {
        var result: [Int] = []
        var next = firstSlot(of: owner)
        while let slot = next {
            result.append(slot)
            next = nextSlot(after: slot, of: owner)
        }
        return result
    }

    /// Adds the ids of one owner's tasks, or of all, that come after one; run tasks once they are admitted.
    func collect(of owner: OwnerID?, after last: TaskID, into found: inout FirstIdentifiers) {
        var next = firstSlot(of: owner)
        if let slot = slot(of: last), owner ?? self[slot].owner == self[slot].owner {
            next = nextSlot(after: slot, of: owner)
        }
        while !found.isFull, let slot = next {
            let id = TaskID(rawValue: entries.number(of: slot))
            if id > last, isAdmitted(slot) { found.add(id) }
            next = nextSlot(after: slot, of: owner)
        }
    }

    /// Of one owner's tasks, or of all, the first in the order of their ids.
    private func firstSlot(of owner: OwnerID?) -> Int? {
        guard let owner else { return everybody.firstSlot }
        return self[owner]?.tasks.firstSlot
    }

    private func nextSlot(after slot: Int, of owner: OwnerID?) -> Int? {
        lists.next(after: slot, owner == nil ? .everybody : .owner)
    }

    private func isAdmitted(_ slot: Int) -> Bool {
        entries[slot].task.kind == .held || phase(slot)?.isAdmitted ?? true
    }
}
