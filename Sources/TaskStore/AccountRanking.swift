internal import BudgetCore

/// How much of something each account has, and each uid of an account that has several.
struct AccountRanking {
    private var accounts = Ranking<OwnerID>()
    /// The uids of an account, where others than its own have something.
    private var owners: [OwnerID: Ranking<OwnerID>] = [:]

    /// Gives an owner so much more, or takes it.
    mutating func add(_ change: Int, to owner: OwnerID, of account: OwnerID) {
        if owner != account, owners[account] == nil {
            // So far all of it was the account's own uid's.
            owners[account] = Ranking()
            owners[account]?.add(accounts[account], to: account)
        }
        owners[account]?.add(change, to: owner)
        accounts.add(change, to: account)
        if owners[account]?.isEmpty == true { owners[account] = nil }
    }

    /// The uid that has most of those of the account that has most, and how much more that account has than the next
    /// one. Of equals the last uid comes first.
    var most: (owner: OwnerID, lead: Int)? {
        guard let account = accounts.first else { return nil }
        let owner = owners[account.key]?.first?.key ?? account.key
        return (owner, account.value - (accounts.second?.value ?? 0))
    }
}
