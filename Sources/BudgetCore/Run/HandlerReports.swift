/// What is known of the fires of a command's handler, where the program that runs commands fires it too.
///
/// Each fire is told of once by that program, also one that was ordered here; it counts them.
struct HandlerReports: Equatable, Sendable {
    /// How many were told of in this attempt.
    private(set) var told: UInt32 = 0
    /// Those that were ordered here and not told of yet.
    private var ordered = 0
    /// Since when this daemon knows the command; `never` where it has started it.
    private let foundAt: Instant

    /// What a report of a fire says.
    enum News {
        /// What is known already.
        case nothing
        /// A fire that was ordered here.
        case asOrdered
        case fired
    }

    init(told: UInt32 = 0, foundAt: Instant = .never) {
        self.told = told
        self.foundAt = foundAt
    }

    /// Whether nobody but the program that runs commands could know then what was due.
    func wasAlone(at moment: Instant) -> Bool { foundAt != .never && moment < foundAt }

    mutating func order() {
        ordered += 1
    }

    /// Takes a report.
    ///
    /// - Parameter count: how often the handler has fired; `nil`: once more than was told of.
    mutating func take(count: Int?) -> News {
        let known = told
        let count = count.map { UInt32(clamping: $0) } ?? (known == .max ? known : known + 1)
        guard count > known else { return .nothing }
        told = count
        let expected = min(ordered, Int(count - known))
        ordered -= expected
        return expected < Int(count - known) ? .fired : .asOrdered
    }
}
