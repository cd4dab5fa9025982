/// How many slots there are by the order of operators, in the place of what the settings say
/// (rule 32 in docs/architecture.md).
package struct SlotOrders: Equatable, Sendable {
    /// By the name of the group; the daemon's own have none.
    private var orders: [String?: Int] = [:]
    /// For each order that is on its way to the disk, whether none came after it; the oldest first.
    private var underWay: [String?: [Bool]] = [:]

    package init(_ orders: [String?: Int] = [:]) {
        self.orders = orders
    }

    /// What was ordered; `nil` where the settings hold.
    package subscript(group: String?) -> Int? { orders[group] }

    /// An order was taken: those before it are of no account once they are answered.
    mutating func ordered(_ group: String?, isKept: Bool) {
        let older = (underWay[group] ?? []).map { _ in false }
        let all = isKept ? older + [true] : older
        underWay[group] = all.isEmpty ? nil : all
    }

    /// The oldest order that was on its way to the disk is answered.
    ///
    /// - Returns: whether no other came after it.
    mutating func answered(_ group: String?) -> Bool {
        guard var waiting = underWay[group], let first = waiting.first else { return true }
        waiting.removeFirst()
        underWay[group] = waiting.isEmpty ? nil : waiting
        return first
    }

    /// - Parameter slots: `nil`: as the settings say.
    mutating func set(_ group: String?, _ slots: Int?) { orders[group] = slots }

    /// The limits of the settings with the orders in them. A group that has left the settings has none.
    func applied(to limits: RegistryLimits) -> RegistryLimits {
        guard !orders.isEmpty else { return limits }
        var limits = limits
        for (group, slots) in orders {
            if let group {
                if limits.groupSlots[group] != nil { limits.groupSlots[group] = slots }
            } else {
                limits.slots = slots
            }
        }
        return limits
    }
}

/// An order of how many slots there are.
package struct SlotOrder: Hashable, Sendable {
    /// `nil`: those of the daemon.
    package let group: String?
    /// `nil`: as the settings say.
    package let slots: Int?

    package init(group: String?, slots: Int?) {
        self.group = group
        self.slots = slots
    }

    /// As many as the settings may say.
    package static let range = 1...10_000
}
