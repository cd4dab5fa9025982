/// Groups or owners whose queued tasks are all held back, with the orders about it that are on their way to the disk.
struct Pauses<Key: Hashable & Sendable>: Sendable {
    private var paused: Set<Key>
    /// The oldest first.
    private var ordered: [Key: [Bool]] = [:]

    init(_ paused: [Key] = []) {
        self.paused = Set(paused)
    }

    func contains(_ key: Key) -> Bool { !paused.isEmpty && paused.contains(key) }

    /// Takes an order, which is done once it is on disk.
    ///
    /// - Returns: whether there is something to do; else it is so already.
    mutating func order(_ key: Key, _ isPaused: Bool) -> Bool {
        let present = ordered[key]?.last ?? paused.contains(key)
        guard present != isPaused || ordered[key] != nil else { return false }
        ordered[key, default: []].append(isPaused)
        return true
    }

    /// The oldest order about a group or an owner is on disk, or is not.
    mutating func answered(_ key: Key, _ isPaused: Bool, isStored: Bool) {
        ordered[key]?.removeFirst()
        if ordered[key]?.isEmpty == true { ordered[key] = nil }
        guard isStored else { return }
        if isPaused { paused.insert(key) } else { paused.remove(key) }
    }
}
