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
