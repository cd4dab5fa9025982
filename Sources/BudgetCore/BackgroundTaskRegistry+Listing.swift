extension BackgroundTaskRegistry {
    /// The ids that come after one, in ascending order and no more than so many: a listing goes on where it
    /// was, and need not hold the ids of all tasks meanwhile.
    ///
    /// - Parameters:
    ///   - owner: whose tasks; `nil` for everybody's.
    ///   - includingEnded: whether those that have ended and are still kept are among them.
    package func identifiers(
        of owner: OwnerID?, after last: TaskID = .invalid, includingEnded: Bool = false,
        countMax: Int = .max
    ) -> [TaskID] {
        var found = FirstIdentifiers(countMax: countMax)
        table.collect(of: owner, after: last, into: &found)
        if includingEnded { ended.collect(of: owner, after: last, into: &found) }
        return found.sorted()
    }
}

/// The lowest of many ids, in room for twice as many as are wanted.
struct FirstIdentifiers {
    private let countMax: Int
    private var found: [TaskID] = []
    /// From here on they are too high.
    private var bound: TaskID?

    init(countMax: Int) {
        self.countMax = countMax
    }

    /// Whether as many as are wanted are there; then none that is higher than they is taken.
    var isFull: Bool { found.count >= countMax }

    mutating func add(_ id: TaskID) {
        if let bound, id >= bound { return }
        found.append(id)
        guard found.count / 2 >= countMax else { return }
        found = sorted()
        bound = found.last
    }

    func sorted() -> [TaskID] {
        Array(found.sorted().prefix(countMax))
    }
}
