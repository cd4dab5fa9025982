/// Owners whose queued tasks are all held back, with the orders about it that are on their way to the disk.
struct OwnerPauses: Sendable {
    private var paused: Set<OwnerID>
    /// The oldest first.
    private var ordered: [OwnerID: [Bool]] = [:]

    init(_ paused: [OwnerID] = []) {
        self.paused = Set(paused)
    }

    func isPaused(_ owner: OwnerID) -> Bool { !paused.isEmpty && paused.contains(owner) }

    /// Takes an order, which is done once it is on disk.
    ///
    /// - Returns: whether there is something to do; else it is so already.
    mutating func order(_ owner: OwnerID, _ isPaused: Bool) -> Bool {
        let present = ordered[owner]?.last ?? paused.contains(owner)
        guard present != isPaused || ordered[owner] != nil else { return false }
        ordered[owner, default: []].append(isPaused)
        return true
    }

    /// The oldest order about an owner is on disk, or is not.
    mutating func answered(_ owner: OwnerID, _ isPaused: Bool, isStored: Bool) {
        ordered[owner]?.removeFirst()
        if ordered[owner]?.isEmpty == true { ordered[owner] = nil }
        guard isStored else { return }
        if isPaused { paused.insert(owner) } else { paused.remove(owner) }
    }
}
