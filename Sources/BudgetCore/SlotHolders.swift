/// The commands that have been given a slot and have not ended.
///
/// Each counts in its owner's share from its start to its end, so that nobody runs more at once than that. It takes
/// a slot of the daemon, and one of its group, except while it stands aside: dormant, since time that nobody
/// spends would hold up others without a limit, or stuck, since nobody knows when it will be gone.
struct SlotHolders: Sendable {
    private var all: Set<TaskID> = []
    private var aside: Set<TaskID> = []

    /// How many slots of the daemon are taken; more than there are, where some came back from aside.
    var slotsTaken: Int { all.count - aside.count }

    /// All of them, in no order that means anything.
    var ids: Set<TaskID> { all }

    /// Those that take a slot.
    var inSlots: Set<TaskID> { all.subtracting(aside) }

    /// - Returns: whether it had none before.
    mutating func insert(_ id: TaskID) -> Bool { all.insert(id).inserted }

    /// - Returns: whether it took a slot; `nil` where it is none of these.
    mutating func remove(_ id: TaskID) -> Bool? {
        guard all.remove(id) != nil else { return nil }
        return aside.remove(id) == nil
    }

    /// - Returns: whether that is another place than before.
    mutating func setAside(_ id: TaskID, _ isAside: Bool) -> Bool {
        guard all.contains(id) else { return false }
        return isAside ? aside.insert(id).inserted : aside.remove(id) != nil
    }
}
