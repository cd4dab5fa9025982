/// The commands that have been given a slot and have not ended.
///
/// Each counts in its owner's share from its start to its end, so that nobody runs more at once than that. It takes
/// a slot of the daemon, and one of its group, except while it is parked: dormant, since time that nobody
/// spends would hold up others without a limit, or stuck, since nobody knows when it will be gone.
struct SlotOccupants: Sendable {
    private var all: Set<TaskID> = []
    private var parked: Set<TaskID> = []

    /// How many slots of the daemon are taken; more than there are, where some that were parked came back.
    var slotsTaken: Int { all.count - parked.count }

    /// All of them, in no order that means anything.
    var ids: Set<TaskID> { all }

    /// Those that take a slot.
    var inSlots: Set<TaskID> { all.subtracting(parked) }

    /// - Returns: whether it had none before.
    mutating func insert(_ id: TaskID) -> Bool { all.insert(id).inserted }

    /// - Returns: whether it took a slot; `nil` where it is none of these.
    mutating func remove(_ id: TaskID) -> Bool? {
        guard all.remove(id) != nil else { return nil }
        return parked.remove(id) == nil
    }

    /// - Returns: whether that is another place than before.
    mutating func park(_ id: TaskID, _ isParked: Bool) -> Bool {
        guard all.contains(id) else { return false }
        return isParked ? parked.insert(id).inserted : parked.remove(id) != nil
    }
}
