/// Whom limits are charged to: what a user's subordinate uids take counts as the user's own (subuid(5)), since
/// everybody may run programs under tens of thousands of them.
///
/// Who may see and change what is not asked here: to that a subordinate uid is a user like any other.
package struct Accounts: Equatable, Sendable {
    /// Uids that are given to a user.
    package struct Grant: Equatable, Sendable {
        package var uids: ClosedRange<UInt32>
        package var user: OwnerID

        package init(uids: ClosedRange<UInt32>, user: OwnerID) {
            self.uids = uids
            self.user = user
        }
    }

    /// In the order of their uids, none of which is in two of them.
    private let grants: [Grant]

    /// - Parameter grants: where two of them have a uid, the one that begins first has it; of those that begin
    ///   together the one named first.
    package init(_ grants: [Grant] = []) {
        var kept: [Grant] = []
        let byStart = grants.enumerated().sorted {
            ($0.element.uids.lowerBound, $0.offset) < ($1.element.uids.lowerBound, $1.offset)
        }
        for (_, grant) in byStart {
            let free = kept.last.map { Int64($0.uids.upperBound) + 1 } ?? 0
            let first = max(Int64(grant.uids.lowerBound), free)
            guard first <= Int64(grant.uids.upperBound) else { continue }
            let uids = UInt32(first)...grant.uids.upperBound
            kept.append(Grant(uids: uids, user: grant.user))
        }
        self.grants = kept
    }

    /// Who answers for what an owner takes: the owner, or the user whom the owner's uid is given to.
    package func account(of owner: OwnerID) -> OwnerID {
        guard let first = grants.first, owner.rawValue >= first.uids.lowerBound else {
            return owner
        }
        var (low, high) = (0, grants.count)
        while low < high {
            let middle = (low + high) / 2
            if grants[middle].uids.upperBound < owner.rawValue {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < grants.count, grants[low].uids.contains(owner.rawValue) else { return owner }
        return grants[low].user
    }

    package var isEmpty: Bool { grants.isEmpty }
}
