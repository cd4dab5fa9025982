/// What is known of the fires of a command's handler, which the program that runs commands fires too.
///
/// That program counts the fires of an attempt and tells of each one, also of one that was ordered here.
struct HandlerReports: Equatable, Sendable {
    /// How many were told of.
    private(set) var told: UInt32
    /// When the last of them was; `never` where none was.
    private(set) var toldAt: Instant
    /// Since when a fire is due that was ordered here and not told of yet; `never` where none is.
    private(set) var owedSince = Instant.never
    /// Since when this daemon knows the command; `never` where it has started it.
    private let foundAt: Instant

    /// What a report of a fire says.
    enum News {
        /// What is known already.
        case nothing
        /// A fire before the one that is owed.
        case late
        case asOrdered
        case fired
    }

    init(told: UInt32 = 0, toldAt: Instant = .never, foundAt: Instant = .never) {
        self.told = told
        self.toldAt = toldAt
        self.foundAt = foundAt
    }

    /// Whether nobody but the program that runs commands could know then what was due.
    func wasAlone(at moment: Instant) -> Bool { foundAt != .never && moment < foundAt }

    /// Whether a fire was ordered here that has not happened yet, as far as was told.
    var isOwed: Bool { owedSince != .never }

    /// The handler fires here, which was due since then.
    mutating func order(dueSince: Instant) {
        owedSince = dueSince
    }

    /// Takes a report.
    ///
    /// - Parameters:
    ///   - count: how often the handler has fired.
    ///   - moment: when it did so last.
    mutating func take(count: Int, at moment: Instant) -> News {
        let count = UInt32(clamping: count)
        guard count > told else { return .nothing }
        told = count
        toldAt = moment
        guard isOwed else { return .fired }
        guard moment >= owedSince else { return .late }
        owedSince = .never
        return .asOrdered
    }
}
