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
    private var owners = OwnerShares()

    init(_ shares: [OwnerID: OwnerShares.Share]) {
        for (owner, share) in shares { owners.add(share, of: owner) }
    }

    var total: OwnerShares.Share { owners.total }

    /// Counts spans that are there from now on, or are gone.
    mutating func add(_ change: OwnerShares.Share, of owner: OwnerID) {
        owners.add(change, of: owner)
    }

    /// Who is to lose the oldest, and how many at most; `nil` while all is within the bounds.
    mutating func excess(
        over bounds: HistoryBounds, rowsMax: Int
    ) -> (owner: OwnerID, countMax: Int)? {
        owners.rank(by: bounds.accounts)
        if total.count > bounds.countMax, let (owner, lead) = owners.counts.most {
            let few = SpanShares.few(of: bounds.countMax)
            return (owner, min(total.count - bounds.countMax, max(lead, few), rowsMax))
        }
        let excess = total.bytes - bounds.bytesMax / SpanShares.bytesPart
        guard excess > 0, let (owner, lead) = owners.bytes.most else { return nil }
        // Few take more than this, so that hardly more goes than has to; the next step takes the rest.
        let most = max(min(excess, max(lead, 65_536)) / 512, 1)
        return (owner, min(most, rowsMax))
    }

    /// What part of the bytes of the history they may take beside the tasks.
    private static let bytesPart = 10

    /// Of several who have the same, one loses at most so many at once.
    private static func few(of countMax: Int) -> Int { min(max(countMax / 1000, 1), 32) }
}
