/// The commands that have been given slots and have not ended.
///
/// Each counts in its owner's share from its start to its end, so that nobody runs more at once than that. It takes
/// slots of the daemon, and as many of its group, except while it is parked: dormant, since time that nobody
/// spends would hold up others without a limit, or stuck, since nobody knows when it will be gone.
struct SlotOccupants: Sendable {
    /// With how many slots each takes.
    private var all: [TaskID: Int] = [:]
    private var parked: Set<TaskID> = []

    /// How many slots of the daemon are taken; more than there are, where some that were parked came back.
    private(set) var slotsTaken = 0

    /// All of them, in no order that means anything.
    var ids: Set<TaskID> { Set(all.keys) }

    /// Those that take slots.
    var inSlots: Set<TaskID> { ids.subtracting(parked) }

    var isEmpty: Bool { all.isEmpty }

    /// - Returns: whether it had none before.
    mutating func insert(_ id: TaskID, slots: Int) -> Bool {
        guard all[id] == nil else { return false }
        all[id] = slots
        slotsTaken += slots
        return true
    }

    /// - Returns: whether it took slots; `nil` where it is none of these.
    mutating func remove(_ id: TaskID) -> Bool? {
        guard let slots = all.removeValue(forKey: id) else { return nil }
        guard parked.remove(id) == nil else { return false }
        slotsTaken -= slots
        return true
    }

    /// - Returns: whether that is another place than before.
    mutating func park(_ id: TaskID, _ isParked: Bool) -> Bool {
        guard let slots = all[id] else { return false }
        let changes = isParked ? parked.insert(id).inserted : parked.remove(id) != nil
        if changes { slotsTaken += isParked ? -slots : slots }
        return changes
    }
}
