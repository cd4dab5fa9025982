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
