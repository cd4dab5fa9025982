internal import BudgetCore

/// How much of something each owner has, by number and by bytes, so that what is too much is taken from the one who has
/// most.
package struct OwnerShares {
    package struct Share: Equatable {
        package var count = 0
        package var bytes = 0

        package init(count: Int = 0, bytes: Int = 0) {
            self.count = count
            self.bytes = bytes
        }

        package static func += (share: inout Share, other: Share) {
            share.count += other.count
            share.bytes += other.bytes
        }
    }

    private(set) var total = Share()
    private var shares: [OwnerID: Share] = [:]
    /// The accounts that the rankings go by: several owners may share one.
    private var accounts = Accounts()
    private(set) var counts = AccountRanking()
    private(set) var bytes = AccountRanking()

    /// What an owner has.
    subscript(owner: OwnerID) -> Share { shares[owner] ?? Share() }

    /// Counts what is there from now on, or is gone.
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

    /// Ranks all owners anew where the accounts have changed.
    mutating func rank(by accounts: Accounts) {
        guard accounts != self.accounts else { return }
        self.accounts = accounts
        (counts, bytes) = (AccountRanking(), AccountRanking())
        for (owner, share) in shares { rank(share, of: owner) }
    }
}
