internal import BudgetCore

/// A span of an application that has ended, and what it takes on the disk.
struct KeptSpan {
    let id: Int64
    let owner: OwnerID
    let bytes: Int

    static let columns = "id, owner, \(bytes)"

    /// What a row takes with its entries in the indexes, about; the id of the application is in the row and in one.
    static let bytes = "128 + 2 * length(CAST(application AS BLOB))"

    /// From `columns`, which come first.
    init(_ statement: Statement) {
        id = statement.integer(0) ?? 0
        owner = OwnerID(rawValue: UInt32(clamping: statement.integer(1) ?? 0))
        bytes = Int(clamping: statement.integer(2) ?? 0)
    }
}

/// How much of the history of applications each owner has, as of the last commit, so that what is too much is taken
/// from the one who has most.
struct SpanShares {
    struct Share: Equatable {
        var count = 0
        var bytes = 0
    }

    private(set) var total = Share()
    private var shares: [OwnerID: Share]
    /// The accounts that these rankings go by: several owners may share one.
    private var accounts = Accounts()
    private var counts = AccountRanking()
    private var bytes = AccountRanking()

    init(_ shares: [OwnerID: Share]) {
        self.shares = shares
        for (owner, share) in shares {
            total.count += share.count
            total.bytes += share.bytes
            rank(share, of: owner)
        }
    }

    /// Counts spans that are there from now on, or are gone.
    mutating func add(count: Int, bytes: Int, of owner: OwnerID) {
        total.count += count
        total.bytes += bytes
        shares[owner, default: Share()].count += count
        shares[owner, default: Share()].bytes += bytes
        if shares[owner] == Share() { shares[owner] = nil }
        rank(Share(count: count, bytes: bytes), of: owner)
    }

    /// Who is to lose the oldest, and how many at most; `nil` while all is within the bounds.
    mutating func excess(
        over bounds: HistoryBounds, rowsMax: Int
    ) -> (owner: OwnerID, countMax: Int)? {
        rank(by: bounds.accounts)
        if total.count > bounds.countMax, let (owner, lead) = counts.most {
            let few = SpanShares.few(of: bounds.countMax)
            return (owner, min(total.count - bounds.countMax, max(lead, few), rowsMax))
        }
        let excess = total.bytes - bounds.bytesMax / SpanShares.bytesPart
        guard excess > 0, let (owner, lead) = bytes.most else { return nil }
        // Few take more than this, so that hardly more goes than has to; the next step takes the rest.
        let most = max(min(excess, max(lead, 65_536)) / 512, 1)
        return (owner, min(most, rowsMax))
    }

    /// What part of the bytes of the history they may take beside the tasks.
    private static let bytesPart = 10

    /// Of several who have the same, one loses at most so many at once.
    private static func few(of countMax: Int) -> Int { min(max(countMax / 1000, 1), 32) }

    private mutating func rank(_ share: Share, of owner: OwnerID) {
        let account = accounts.account(of: owner)
        counts.add(share.count, to: owner, of: account)
        bytes.add(share.bytes, to: owner, of: account)
    }

    /// Ranks all owners anew where the accounts have changed.
    private mutating func rank(by accounts: Accounts) {
        guard accounts != self.accounts else { return }
        self.accounts = accounts
        (counts, bytes) = (AccountRanking(), AccountRanking())
        for (owner, share) in shares { rank(share, of: owner) }
    }
}
