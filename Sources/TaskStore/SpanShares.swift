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

    /// Who is to lose the oldest, and how many, so many in all at most; nobody while all is within the bounds.
    mutating func excess(
        over bounds: HistoryBounds, rowsMax: Int
    ) -> [(owner: OwnerID, count: Int)] {
        owners.rank(by: bounds.accounts)
        var taken: [OwnerID: OwnerShares.Share] = [:]
        var left = rowsMax
        while left > 0, let (owner, share) = next(over: bounds, rowsMax: left), share.count > 0 {
            owners.add(.init(count: -share.count, bytes: -share.bytes), of: owner)
            taken[owner, default: .init()] += share
            left -= share.count
        }
        for (owner, share) in taken { owners.add(share, of: owner) }
        return taken.sorted { $0.key < $1.key }.map { ($0.key, $0.value.count) }
    }

    /// Who is to lose the oldest next, and how many, with what they take where each takes as much as the owner's others.
    private func next(
        over bounds: HistoryBounds, rowsMax: Int
    ) -> (owner: OwnerID, share: OwnerShares.Share)? {
        if total.count > bounds.countMax, let (owner, lead) = owners.counts.most {
            let few = SpanShares.few(of: bounds.countMax)
            let count = min(total.count - bounds.countMax, max(lead, few), rowsMax)
            return (owner, share(count, of: owner))
        }
        let bytesMax = bounds.bytesMax / SpanShares.bytesPart
        let excess = total.bytes - bytesMax
        guard excess > 0, let (owner, lead) = owners.bytes.most else { return nil }
        let own = owners[owner]
        let each = max(own.bytes / max(own.count, 1), 1)
        let few = min(bytesMax / SpanShares.parts, 65_536)
        let most = max(min(excess, max(lead, few)) / each, 1)
        return (owner, share(min(most, rowsMax), of: owner))
    }

    private func share(_ countMax: Int, of owner: OwnerID) -> OwnerShares.Share {
        let own = owners[owner]
        guard countMax < own.count else { return own }
        return .init(count: countMax, bytes: own.bytes / own.count * countMax)
    }

    /// What part of the bytes of the history they may take beside the tasks.
    private static let bytesPart = 10

    /// Of several who have the same, one loses at most this part of the bounds at once.
    private static let parts = 1000
    private static func few(of countMax: Int) -> Int { min(max(countMax / parts, 1), 32) }
}
