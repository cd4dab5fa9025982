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
        let (tasks, lists, keepers, due) = (entries, everybodyLists, holders, deadlines)
        var next = everybody.firstSlot
        forgetSlots()
        while let slot = next {
            let entry = tasks[slot]
            let place = entries.insert(entry, number: tasks.number(of: slot))
            everybodyLists.append(place, to: &everybody)
            ownerLists.append(place, to: &owners[Int(entry.owner)].tasks)
            if entry.holder != Entry.withoutHolder {
                join(place, HolderID(rawValue: keepers.number(of: Int(entry.holder))))
            }
            setDeadline(due.deadline(of: slot) ?? .never, slot: place)
            next = lists.next(after: slot)
        }
    }

    private mutating func forgetSlots() {
        var next = everybody.firstSlot
        while let slot = next {
            owners[Int(entries[slot].owner)].tasks = SlotLists.List()
            next = everybodyLists.next(after: slot)
        }
        if owners.isEmpty { owners.removeAll() }
        entries.removeAll()
        holders.removeAll()
        everybody = SlotLists.List()
        everybodyLists = SlotLists()
        ownerLists = SlotLists()
        holderLists = SlotLists()
        deadlines = DeadlineHeap()
        queue.releaseMemory()
    }
}
