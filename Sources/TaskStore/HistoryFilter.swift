package import BudgetCore

/// Which ended tasks are asked for, and what of them; what is `nil` or empty leaves all through.
package struct HistoryFilter: Equatable, Sendable {
    package var owner: OwnerID?
    package var name: String?
    package var application: String?
    package var group: String?
    /// Any of these; empty: all.
    package var outcomes: Set<Outcome>
    /// Ended at that time or later.
    package var since: WallTime?
    /// Whether each comes with its attempts that are over, the newest `EndedAttempt.keptMax`.
    package var withAttempts: Bool

    package init(
        owner: OwnerID? = nil,
        name: String? = nil,
        application: String? = nil,
        group: String? = nil,
        outcomes: Set<Outcome> = [],
        since: WallTime? = nil,
        withAttempts: Bool = false
    ) {
        self.owner = owner
        self.name = name
        self.application = application
        self.group = group
        self.outcomes = outcomes
        self.since = since
        self.withAttempts = withAttempts
    }
}

/// Where a page of the history ended, and the next one goes on.
package struct HistoryCursor: Equatable, Sendable {
    package var endedAt: WallTime
    package var id: TaskID

    package init(endedAt: WallTime, id: TaskID) {
        self.endedAt = endedAt
        self.id = id
    }
}

/// Ended tasks, the newest end first.
package struct HistoryPage: Equatable, Sendable {
    package var tasks: [StoredTask]
    /// Where to go on; `nil` where there is no more.
    package var next: HistoryCursor?
}

/// How much of the history is kept.
package struct HistoryBounds: Equatable, Sendable {
    /// How many ended tasks are kept, and how many spans of applications. Where there are more, the owner who has most
    /// loses the oldest.
    package var countMax: Int
    /// What the tasks take on the disk, with their indexes and roughly; likewise. Spans take a tenth of that beside them.
    package var bytesMax: Int
    /// How long ago they ended at most; `nil`: however long.
    package var ageMax: Duration?
    /// Which account each owner's history counts for.
    package var accounts: Accounts

    /// What the output that they printed takes, likewise and in a database of its own; 0: none is kept.
    package var outputBytesMax: Int

    package init(
        countMax: Int, bytesMax: Int = .max, ageMax: Duration?, accounts: Accounts = Accounts(),
        outputBytesMax: Int = 0
    ) {
        self.countMax = countMax
        self.bytesMax = bytesMax
        self.ageMax = ageMax
        self.accounts = accounts
        self.outputBytesMax = outputBytesMax
    }

    /// The same, where neither the tasks nor their output take more than a share of the disk that a file is on: a disk
    /// that is small would be full of them.
    package func limited(toDiskOf path: String) -> HistoryBounds {
        guard let space = DiskSpace(of: path) else { return self }
        var limited = self
        limited.bytesMax = min(bytesMax, space.total / Self.diskShare)
        limited.outputBytesMax = min(outputBytesMax, space.total / Self.diskShare)
        return limited
    }

    private static let diskShare = 4
}
