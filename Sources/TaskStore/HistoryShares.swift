internal import BudgetCore

/// What each owner has of the history, so that what is too much is taken from who has most.
///
/// Numbers are as of the last commit. Rows are counted from the beginning; what they take on the disk is
/// counted in the order of their ids where somebody needs to know, and is known once all are counted.
struct HistoryShares {
    struct Share {
        var count = 0
        var bytes = 0

        static func += (share: inout Share, other: Share) {
            share.count += other.count
            share.bytes += other.bytes
        }
    }

    /// Rows to be removed: the oldest of an owner, until one of the numbers is reached.
    struct Excess: Equatable {
        let owner: OwnerID
        let countMax: Int
        let bytesMax: Int
    }

    private(set) var total = Share()
    private var shares: [OwnerID: Share] = [:]
    /// Rows up to this id are counted in bytes.
    private(set) var countedThrough: Int64 = 0

    init(counts: [OwnerID: Int]) {
        for (owner, count) in counts { add(Share(count: count), of: owner) }
    }

    /// Whether it is known what all rows take.
    var isComplete: Bool { countedThrough == .max }

    /// What a change to a row changes: its bytes are left out where they are not counted yet.
    func share(of id: Int64, bytes: Int, count: Int) -> Share {
        Share(count: count, bytes: id <= countedThrough ? count * bytes : 0)
    }

    mutating func add(_ change: Share, of owner: OwnerID) {
        total += change
        shares[owner, default: Share()] += change
        if shares[owner]?.count == 0 { shares[owner] = nil }
    }

    /// Rows up to an id take so much; `nil`: these were the last.
    mutating func counted(_ bytes: [OwnerID: Int], through id: Int64?) {
        for (owner, bytes) in bytes { add(Share(bytes: bytes), of: owner) }
        countedThrough = id ?? .max
    }

    /// What is to go first: rows of the account that has most of what is too much, and of its uids of the
    /// one that has most; so many that it has no more than the next one, or a few where that is few.
    func excess(over bounds: HistoryBounds) -> Excess? {
        let count = total.count - bounds.countMax
        if count > 0, let (owner, lead) = most(\.count, bounds.accounts) {
            let few = min(max(bounds.countMax / HistoryShares.parts, 1), 32)
            let taken = min(count, max(lead, few))
            return Excess(owner: owner, countMax: taken, bytesMax: .max)
        }
        let bytes = total.bytes - bounds.bytesMax
        guard isComplete, bytes > 0, let (owner, lead) = most(\.bytes, bounds.accounts) else {
            return nil
        }
        let few = min(bounds.bytesMax / HistoryShares.parts, 65_536)
        let taken = min(bytes, max(lead, few))
        return Excess(owner: owner, countMax: .max, bytesMax: taken)
    }

    /// Who has most, and how much more that account has than the next one. Of equals the last uid loses.
    private func most(
        _ measure: KeyPath<Share, Int>, _ accounts: Accounts
    ) -> (owner: OwnerID, lead: Int)? {
        var sums: [OwnerID: Int] = [:]
        var largest: [OwnerID: (owner: OwnerID, value: Int)] = [:]
        for (owner, share) in shares {
            let (account, value) = (accounts.account(of: owner), share[keyPath: measure])
            sums[account, default: 0] += value
            let before = largest[account]
            if before.map({ ($0.value, $0.owner) < (value, owner) }) ?? true {
                largest[account] = (owner, value)
            }
        }
        guard let first = sums.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }),
            let owner = largest[first.key]?.owner
        else { return nil }
        let second = sums.filter { $0.key != first.key }.values.max() ?? 0
        return (owner, first.value - second)
    }

    /// The part of the bounds that one of several who have the same may lose at once.
    private static let parts = 1000
}
