package import BudgetCore
package import LinuxSystem
internal import Glibc
package import Settings
package import TaskStore

/// The store as the daemon finds it at its start.
package struct OpenedStore {
    package let store: TaskStore
    /// Where ids are reserved: on disk also where `store` is in memory (docs/architecture.md, rule 1).
    package let identifierStore: TaskStore
    /// The ids of this run.
    package let identifiers: ClosedRange<UInt64>
    /// The number of the state folder, by which an executor knows this daemon and those after it.
    package let owner: StateFolderIdentity
    package let found: FoundTasks
    package let reader: HistoryReader
    /// The database that the output of ended tasks is kept in; `nil`: none is kept on disk.
    let outputPath: String?
    /// What an earlier daemon handed over of the output of tasks that have not ended.
    package let handedOver: [HandedOverOutput]

    /// Opens it, and reserves the first ids.
    ///
    /// - Parameter vfs: the name of the layer below SQLite; `nil` is the system's own.
    /// - Throws: `StoreError`, with one line for people.
    package init(
        inFolder folder: String, _ settings: Settings, vfs: String? = nil
    ) throws(StoreError) {
        let onDisk = try TaskStore.open(
            path: folder + "/tasks.db", durability: .commit, vfs: vfs)
        identifierStore = onDisk
        owner = try onDisk.identity()
        switch settings.store.durability {
        case .commit:
            store = onDisk
            outputPath = folder + "/output.db"
        case .memory:
            store = try TaskStore.open(path: ":memory:", durability: .memory)
            outputPath = nil
        }
        let used = try onDisk.reservedIdentifiers().rawValue
        let last = used + BackgroundTaskRegistry.identifierBlock
        guard last < UInt64(Int64.max) else {
            throw StoreError(
                cause: .other, operation: "reserve ids", path: folder, text: "all ids are used up")
        }
        try onDisk.apply([.identifiersReserved(through: TaskID(rawValue: last))])
        identifiers = used + 1...last
        reader = try store.historyReader()
        found = try FoundTasks(
            in: store, reader, endedMax: RegistryLimits(settings).endedRunMax)
        handedOver = OpenedStore.takeHandedOver(
            at: outputPath, first: identifiers.lowerBound, found.live)
    }

    /// Before the thread of the store begins, whose bounds may have it removed. What cannot be read is lost; that
    /// thread finds the same fault, and tells of it.
    private static func takeHandedOver(
        at path: String?, first: UInt64, _ live: [StoredTask]
    ) -> [HandedOverOutput] {
        guard let path, access(path, F_OK) == 0,
            let database = try? OutputDatabase(path: path, first: TaskID(rawValue: first))
        else { return [] }
        defer { try? database.close() }
        return (try? database.takeHandedOver(of: Set(live.map(\.id)))) ?? []
    }
}

/// What an earlier daemon left.
package struct FoundTasks {
    /// Queued and started, in the order of their ids.
    package let live: [StoredTask]
    /// When a task of the same owner and name last completed, of those that have a minimum interval.
    let lastSuccesses: [TaskID: WallTime]
    package let pausedGroups: [String]
    let pausedOwners: [OwnerID]
    let slotOrders: SlotOrders
    /// What those come after that have not ended.
    let dependencies: [TaskID: [Dependency]]
    /// In the order of their owners and of their ids.
    package let applications: [StoredApplication]
    /// In which states they were when that daemon last wrote of it.
    package let spans: OpenSpans
    /// The newest that have ended, the oldest first.
    package let ended: [StoredTask]

    init(in store: TaskStore, _ reader: HistoryReader, endedMax: Int) throws(StoreError) {
        live = try store.live()
        lastSuccesses = try store.lastSuccesses(of: live)
        pausedGroups = try store.pausedGroups()
        pausedOwners = try store.pausedOwners()
        slotOrders = try store.slotOrders()
        dependencies = try store.dependencies()
        applications = try store.applications()
        spans = try store.openSpans()
        ended = try FoundTasks.newest(in: reader, countMax: endedMax)
    }

    /// With their attempts, which pages of the history leave out.
    private static func newest(
        in reader: HistoryReader, countMax: Int
    ) throws(StoreError) -> [StoredTask] {
        var tasks: [StoredTask] = try reader.history(countMax: countMax).tasks.reversed()
        for index in tasks.indices where tasks[index].attempt > 1 {
            tasks[index].attempts = try reader.attempts(of: tasks[index].id)
        }
        return tasks
    }
}

extension HistoryBounds {
    package init(_ settings: Settings, _ accounts: Accounts) {
        self.init(
            countMax: settings.store.historyMax, bytesMax: settings.store.historyBytesMax,
            ageMax: settings.store.historyAge, accounts: accounts,
            outputBytesMax: settings.store.outputBytesMax)
    }
}

extension OpenedStore {
    /// By which an executor knows this daemon and those after it.
    package var executorOwner: ExecutorLink.Owner {
        ExecutorLink.Owner(high: owner.high, low: owner.low)
    }
}
