/// Processes of a task that is ending, which fork and end faster than they are found: each look comes too late
/// for those that it has seen.
///
/// After some such looks the groups that they were seen in are to stand still while they are killed there.
struct StrayChase {
    /// How many looks may find others than the one before it.
    static let roundsMax = 2
    private static let placesMax = 16

    private var rounds = 0
    private var last: Set<Stray> = []
    private var places: Set<String> = []

    /// A look has found these, and they are killed.
    ///
    /// - Parameter user: whose they are.
    mutating func found(_ strays: [Stray], of user: UInt32) {
        let now = Set(strays)
        if now.isSubset(of: last) {
            // None is new: they cannot die, and hold nobody up.
            rounds = 0
        } else {
            ranAhead(in: strays.map(\.group), of: user)
        }
        last = now
    }

    /// Somebody is there whom the looks have not found.
    ///
    /// - Parameter groups: the names of the groups where they were seen, as far as they were.
    mutating func ranAhead(in groups: [String], of user: UInt32) {
        rounds += 1
        for group in groups where places.count < Self.placesMax {
            places.insert(GroupFreeze.place(of: group, user: user))
        }
    }

    /// Whether a look comes too late for somebody; another one is to wait a little.
    var isUnderWay: Bool { rounds > 1 }

    /// The groups that are to stand still, sorted; none as long as there is hope without.
    var frozenGroups: [String] { rounds > Self.roundsMax ? places.sorted() : [] }
}
