internal import Containers

// The memory of a busy hour.
extension TaskTable {
    /// So many slots are kept in any case.
    private static let slotsKept = 4096
    /// How many slots there may be for each task.
    private static let slotsPerTaskMax = 16

    /// Gives memory back where most slots are vacant, once no command is queued any more.
    ///
    /// Tasks have other slots afterwards, so that this is for the end of a turn, when nobody knows one.
    mutating func releaseVacant() {
        guard entries.slotCount > TaskTable.slotsKept,
            entries.slotCount / TaskTable.slotsPerTaskMax > count
        else { return }
        compact()
    }

    /// Moves all tasks together. Not while commands are queued, which the queue knows by their slots.
    mutating func compact() {
        guard queue.entries.isEmpty else { return }
        var next = everybody.firstSlot
        forgetOwnersSlots()
        everybody = TaskLists.List(.everybody)
        let tasks = entries.takeAll()
        let keepers = holders.takeAll()
        let links = exchange(&lists, with: TaskLists())
        let due = exchange(&deadlines, with: DeadlineHeap())
        queue.releaseMemory()
        while let slot = next {
            let entry = tasks[slot]
            let place = entries.insert(entry, number: tasks.number(of: slot))
            lists.append(place, to: &everybody)
            lists.append(place, to: &owners[Int(entry.owner)].tasks)
            if entry.holder != Entry.withoutHolder {
                join(place, HolderID(rawValue: keepers.number(of: Int(entry.holder))))
            }
            setDeadline(due.deadline(of: slot) ?? .never, slot: place)
            next = links.next(after: slot, .everybody)
        }
    }

    private mutating func forgetOwnersSlots() {
        var next = everybody.firstSlot
        while let slot = next {
            owners[Int(entries[slot].owner)].tasks = TaskLists.List(.owner)
            next = lists.next(after: slot, .everybody)
        }
        if owners.isEmpty { _ = owners.takeAll() }
    }
}
