/// Who is let in when connections are used up: the first connection of an account always is, in the place of
/// one of the account that has most.
package struct Admission: Sendable {
    /// What becomes of a new connection.
    package enum Decision: Equatable, Sendable {
        case admitted
        /// Let in, and one of this account's is to be closed for it.
        case inPlaceOfOne(of: OwnerID)
        case refused(limit: String, value: Int)
    }

    /// Connections of all accounts together.
    package var countMax: Int
    package var countPerAccountMax: Int

    package init(countMax: Int, countPerAccountMax: Int) {
        self.countMax = countMax
        self.countPerAccountMax = countPerAccountMax
    }

    /// Decides about a connection.
    ///
    /// - Parameters:
    ///   - count: of all connections, those included that are being closed.
    ///   - own: how many this account has that are not.
    ///   - reserve: how many this one may go beyond `countMax`.
    ///   - most: who has most of those, and how many; asked for where there is no room.
    package func decide(
        connections count: Int, ofAccount own: Int, reserve: Int,
        most: () -> (account: OwnerID, count: Int)?
    ) -> Decision {
        guard own < countPerAccountMax else {
            return .refused(limit: "clientsPerOwnerMax", value: countPerAccountMax)
        }
        guard count >= countMax + reserve else { return .admitted }
        guard own == 0, let most = most(), most.count > 1 else {
            return .refused(limit: "clientsMax", value: countMax)
        }
        return .inPlaceOfOne(of: most.account)
    }
}
