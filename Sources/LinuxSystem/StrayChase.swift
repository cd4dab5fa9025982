/// Counts how often the strays of an ending task have escaped: they fork and end faster than a scan finds them.
///
/// After a few such scans, the groups in which they were seen are frozen while they are killed there.
struct StrayChase {
    /// How many scans in a row may find others than the scan before.
    static let roundsMax = 2
    private static let placesMax = 16

    private var rounds = 0
    private var last: Set<Stray> = []
    private var places: Set<String> = []

    /// A scan has found these, and they are killed.
    ///
    /// - Parameter user: whose they are.
    mutating func found(_ strays: [Stray], of user: UInt32) {
        let now = Set(strays)
        if now.isSubset(of: last) {
            // None is new, so these cannot die; there is nobody to be chased.
            rounds = 0
        } else {
            ranAhead(in: strays.map(\.group), of: user)
        }
        last = now
    }

    /// There are processes that no scan has found.
    ///
    /// - Parameter groups: the names of the groups where they were seen, as far as they were.
    mutating func ranAhead(in groups: [String], of user: UInt32) {
        rounds += 1
        for group in groups where places.count < Self.placesMax {
            places.insert(GroupFreeze.place(of: group, user: user))
        }
    }

    /// Whether the last scan came too late, so that the next one should wait a little.
    var isUnderWay: Bool { rounds > 1 }

    /// The groups to be frozen, sorted; none until enough scans came too late.
    var frozenGroups: [String] { rounds > Self.roundsMax ? places.sorted() : [] }
}
