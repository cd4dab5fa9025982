/// What owners have whose uids are given to a user, summed up by that user: it counts against the user's limits
/// beside the user's own.
struct AccountCharges: Sendable {
    /// Of one owner, or of all that count for a user.
    struct Charge: Equatable, Sendable {
        var live = 0
        var queued = 0
        var workBytes = 0

        static func += (charge: inout Charge, other: Charge) {
            charge.live += other.live
            charge.queued += other.queued
            charge.workBytes += other.workBytes
        }
    }

    /// Who counts as whom, of those who come from now on.
    var accounts = Accounts()
    private var charges: [OwnerID: Charge] = [:]

    /// The user whom an owner counts for; `nil` for most, who count for themselves.
    func payer(of owner: OwnerID) -> OwnerID? {
        let account = accounts.account(of: owner)
        return account == owner ? nil : account
    }

    /// What others have that count for a user.
    subscript(account: OwnerID) -> Charge {
        charges.isEmpty ? Charge() : charges[account] ?? Charge()
    }

    mutating func charge(_ change: Charge, to account: OwnerID) {
        var charge = self[account]
        charge += change
        charges[account] = charge == Charge() ? nil : charge
    }
}
