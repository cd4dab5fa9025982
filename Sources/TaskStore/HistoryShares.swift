internal import BudgetCore

/// What each owner has of the history, so that what is too much is taken from who has most.
///
/// Numbers are as of the last commit. Tasks are counted from the beginning; what they and the successes take on the
/// disk is counted in the order of their tables where somebody needs to know, and is known once all are counted.
struct HistoryShares {
    struct Share: Equatable {
        var count = 0
        var bytes = 0

        static func += (share: inout Share, other: Share) {
            share.count += other.count
            share.bytes += other.bytes
        }
    }

    /// How far it is counted what is kept in bytes: tasks come before successes.
    enum Counted {
        case tasks(through: Int64)
        /// `nil`: none of them yet.
        case successes(through: KeptSuccess?)
        case all
    }

    /// What is to be removed: the oldest of an owner, until one of the numbers is reached.
    struct Excess: Equatable {
        let owner: OwnerID
        let countMax: Int
        let bytesMax: Int
    }

    private(set) var total = Share()
    private var shares: [OwnerID: Share] = [:]
    /// Whose what an owner has counts as, in these rankings.
    private var accounts = Accounts()
    private var counts = AccountRanking()
    private var bytes = AccountRanking()
    private(set) var counted = Counted.tasks(through: 0)

    init(counts: [OwnerID: Int]) {
        for (owner, count) in counts { add(Share(count: count), of: owner) }
    }

    /// Whether it is known what all of it takes.
    var isComplete: Bool {
        if case .all = counted { true } else { false }
    }

    /// What it changes that something is kept (1) or goes (-1): its bytes are left out where they are not counted
    /// yet.
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

    mutating func add(_ change: Share, of owner: OwnerID) {
        total += change
        shares[owner, default: Share()] += change
        if shares[owner] == Share() { shares[owner] = nil }
        rank(change, of: owner)
    }

    private mutating func rank(_ change: Share, of owner: OwnerID) {
        let account = accounts.account(of: owner)
        counts.add(change.count, to: owner, of: account)
        bytes.add(change.bytes, to: owner, of: account)
    }

    /// Ranks all owners anew where what they have counts as others' than before.
    private mutating func rank(by accounts: Accounts) {
        guard accounts != self.accounts else { return }
        self.accounts = accounts
        (counts, bytes) = (AccountRanking(), AccountRanking())
        for (owner, share) in shares { rank(share, of: owner) }
    }

    /// What came next takes so much, and now it is counted so far.
    mutating func count(_ bytes: [OwnerID: Int], through last: Counted) {
        for (owner, bytes) in bytes { add(Share(bytes: bytes), of: owner) }
        counted = last
    }

    /// What is to go first: of the account that has most of what is too much, and of its uids of the
    /// one that has most; so many that it has no more than the next one, or a few where that is few.
    mutating func excess(over bounds: HistoryBounds) -> Excess? {
        rank(by: bounds.accounts)
        let count = total.count - bounds.countMax
        if count > 0, let (owner, lead) = counts.most {
            let few = min(max(bounds.countMax / HistoryShares.parts, 1), 32)
            let taken = min(count, max(lead, few))
            return Excess(owner: owner, countMax: taken, bytesMax: .max)
        }
        let excess = total.bytes - bounds.bytesMax
        guard isComplete, excess > 0, let (owner, lead) = bytes.most else { return nil }
        let few = min(bounds.bytesMax / HistoryShares.parts, 65_536)
        let taken = min(excess, max(lead, few))
        return Excess(owner: owner, countMax: .max, bytesMax: taken)
    }

    /// The part of the bounds that one of several who have the same may lose at once.
    private static let parts = 1000
}
