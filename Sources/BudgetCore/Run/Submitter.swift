/// The groups of a submitter, as the kernel reported them; the command runs with these and no others.
package struct SubmitterGroups: Equatable, Sendable {
    package let primary: UInt32
    package let supplementary: [UInt32]

    package init(primary: UInt32, supplementary: [UInt32]) {
        self.primary = primary
        self.supplementary = supplementary
    }
}

/// Who had a command registered, as far as it decides with which rights that is started; the core carries it and
/// does not look inside.
package struct Submitter: Equatable, Sendable {
    /// The name of their account then; empty where the user database had none, `nil` where it was not asked.
    package var name: String?
    /// `nil`: those of the daemon, whose own user it was.
    package var groups: SubmitterGroups?
    /// Whether no program could give them rights that they had not (PR_SET_NO_NEW_PRIVS), nor can one the command.
    package var hasNoNewPrivileges = false

    package init(
        name: String? = nil, groups: SubmitterGroups? = nil, hasNoNewPrivileges: Bool = false
    ) {
        self.name = name
        self.groups = groups
        self.hasNoNewPrivileges = hasNoNewPrivileges
    }

    /// The submitter of an application's command as somebody else has it launched: with the groups of the launcher,
    /// and without new privileges where one of the two may have none. A message launches it as it was registered.
    package func launched(by launcher: Submitter?) -> Submitter {
        guard let launcher else { return self }
        return Submitter(
            name: name, groups: launcher.groups,
            hasNoNewPrivileges: hasNoNewPrivileges || launcher.hasNoNewPrivileges)
    }

    /// Whether an account is the one that it was then: a uid may have been given to another one.
    ///
    /// - Parameter name: the name of the account of its uid now; `nil` where the user database cannot be asked, and
    ///   nobody can say so.
    package func isOfAccount(_ name: String?) -> Bool { self.name == nil || self.name == name }

    /// What it takes in memory, about.
    var byteCount: Int { (groups?.supplementary.count ?? 0) * 4 + (name?.utf8.count ?? 0) }

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
