package import BudgetCore

/// How much of the history each owner has, so that what is too much is taken from the one who has most.
///
/// The numbers are those of the last commit. The tasks are counted when the store is opened. The bytes that they and the
/// successes take are counted later and only if needed, in the order of their tables; they are known once all are
/// counted.
package struct HistoryShares {
    package typealias Share = OwnerShares.Share

    /// How far the bytes are counted: tasks come before successes.
    package enum Counted {
        case tasks(through: Int64)
        /// `nil`: none of them yet.
        case successes(through: KeptSuccess?)
        case all
    }

    /// What is to be removed: the oldest of an owner, until one of the numbers is reached.
    package struct Excess: Equatable {
        let owner: OwnerID
        let countMax: Int
        let bytesMax: Int

        package init(owner: OwnerID, countMax: Int, bytesMax: Int) {
            self.owner = owner
            self.countMax = countMax
            self.bytesMax = bytesMax
        }
    }

    private var owners = OwnerShares()
    private(set) var counted = Counted.tasks(through: 0)

    package init(counts: [OwnerID: Int]) {
        for (owner, count) in counts { add(Share(count: count), of: owner) }
    }

    /// Whether it is known what all of it takes.
    var isComplete: Bool {
        if case .all = counted { true } else { false }
    }

    /// The change when something is kept (1) or removed (-1). Its bytes are left out where they are not counted yet.
    func share(of kept: Kept, count: Int) -> Share {
        Share(count: count * kept.taskCount, bytes: isCounted(kept) ? count * kept.bytes : 0)
    }

    private func isCounted(_ kept: Kept) -> Bool {
        switch (counted, kept) {
        case (.tasks(let last), .task(let row)): row.id <= last
        case (.tasks, .success): false
        case (.successes(let last), .success(let success)): last.map { success <= $0 } ?? false
        case (.successes, .task), (.all, _): true
        }
    }

    package mutating func add(_ change: Share, of owner: OwnerID) { owners.add(change, of: owner) }

    var total: Share { owners.total }

    /// Adds the bytes of the next rows, and remembers how far it has counted.
    package mutating func count(_ bytes: [OwnerID: Int], through last: Counted) {
        for (owner, bytes) in bytes { add(Share(bytes: bytes), of: owner) }
        counted = last
    }

    /// What is to be removed first: from the account that has most, and within it from the uid that has most. So much
    /// that it has no more than the next one, but a few at least.
    package mutating func excess(over bounds: HistoryBounds) -> Excess? {
        owners.rank(by: bounds.accounts)
        let count = total.count - bounds.countMax
        if count > 0, let (owner, lead) = owners.counts.most {
            let few = min(max(bounds.countMax / HistoryShares.parts, 1), 32)
            let taken = min(count, max(lead, few))
            return Excess(owner: owner, countMax: taken, bytesMax: .max)
        }
        let excess = total.bytes - bounds.bytesMax
        guard isComplete, excess > 0, let (owner, lead) = owners.bytes.most else { return nil }
        let few = min(max(bounds.bytesMax / HistoryShares.parts, 1), 65_536)
        let taken = min(excess, max(lead, few))
        return Excess(owner: owner, countMax: .max, bytesMax: taken)
    }

    /// Of several who have the same, one loses at most this part of the bounds at once.
    private static let parts = 1000
}
