/// An account as the user database has it now.
package struct Account: Equatable, Sendable {
    package let name: String
    /// Its own group.
    package let group: UInt32
    /// All that it is a member of, its own included.
    package let groups: Set<UInt32>
    /// The day since 1970-01-01 from which on it is of no use any more; `nil`: never.
    package let expiryDay: Int?

    package init(name: String, group: UInt32, groups: Set<UInt32>, expiryDay: Int? = nil) {
        self.name = name
        self.group = group
        self.groups = groups.union([group])
        self.expiryDay = expiryDay
    }
}

/// Why a command is not started for whoever had it registered.
package struct StartRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
}

extension Submitter {
    /// The groups that a command of this submitter starts with now: those that they had then, as far as the user
    /// database still grants them. Root may give itself any group, and keeps all.
    ///
    /// - Parameters:
    ///   - account: `nil` where the database has none. Nothing is granted then, not even the group that they had:
    ///     a set-user-id program of a subordinate uid has that of whoever starts it.
    ///   - noGroup: what is the primary group where none is granted.
    ///   - today: days since 1970-01-01.
    /// - Throws: where the account has expired, is gone, or is another's than it was.
    package func groupsGranted(
        to owner: OwnerID, by account: Account?, or noGroup: UInt32, today: Int
    ) throws(StartRefusal) -> SubmitterGroups {
        let primary = groups?.primary ?? account?.group ?? owner.rawValue
        let supplementary = groups?.supplementary ?? []
        guard owner != .root else {
            return SubmitterGroups(primary: primary, supplementary: supplementary)
        }
        try checkName(of: owner, account)
        guard let account else { return SubmitterGroups(primary: noGroup, supplementary: []) }
        if let expiryDay = account.expiryDay, today >= expiryDay {
            throw StartRefusal(description: "the account \(account.name) has expired")
        }
        return SubmitterGroups(
            primary: account.groups.contains(primary) ? primary : account.group,
            supplementary: supplementary.filter(account.groups.contains))
    }

    private func checkName(of owner: OwnerID, _ account: Account?) throws(StartRefusal) {
        // One of an earlier version, or of a time when the database could not be asked.
        guard let name, name != account?.name ?? "" else { return }
        guard let account else {
            throw StartRefusal(description: "the account \(name) of uid \(owner) is gone")
        }
        let before = name.isEmpty ? "nobody" : name
        throw StartRefusal(
            description: "uid \(owner) belonged to \(before) when it was submitted"
                + " and belongs to \(account.name) now")
    }
}
