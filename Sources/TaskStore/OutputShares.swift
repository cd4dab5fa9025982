internal import BudgetCore

/// How much of the kept output each owner has, so that what is too much is taken from the one who has most.
struct OutputShares {
    private(set) var total = 0
    private var bytes: [OwnerID: Int] = [:]
    /// The accounts that the ranking goes by: several owners may share one.
    private var accounts = Accounts()
    private var ranking = AccountRanking()

    /// Gives an owner so much more, or takes it.
    mutating func add(_ change: Int, of owner: OwnerID) {
        total += change
        bytes[owner, default: 0] += change
        if bytes[owner] == 0 { bytes[owner] = nil }
        ranking.add(change, to: owner, of: accounts.account(of: owner))
    }

    /// Who loses the oldest first, and about how much: so much that they have no more than the next one, but a little at
    /// least.
    mutating func excess(over bytesMax: Int, _ accounts: Accounts) -> (owner: OwnerID, bytes: Int)?
    {
        if accounts != self.accounts {
            self.accounts = accounts
            ranking = AccountRanking()
            for (owner, bytes) in bytes {
                ranking.add(bytes, to: owner, of: accounts.account(of: owner))
            }
        }
        guard total > bytesMax, let (owner, lead) = ranking.most else { return nil }
        return (owner, min(total - bytesMax, max(lead, OutputShares.fewBytes)))
    }

    private static let fewBytes = 16_384
}
