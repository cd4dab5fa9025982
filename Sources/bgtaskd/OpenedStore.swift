internal import BudgetCore
internal import Settings
internal import TaskStore

/// The store as the daemon finds it at its start.
struct OpenedStore {
    let store: TaskStore
    /// Where ids are reserved: on disk also where `store` is in memory (DESIGN.md rule 1).
    let identifierStore: TaskStore
    /// The ids of this run.
    let identifiers: ClosedRange<UInt64>
    let found: FoundTasks
    let reader: HistoryReader

    /// Opens it, and reserves the first ids.
    ///
    /// - Parameter vfs: the name of the layer below SQLite; `nil` is the system's own.
    /// - Throws: `StoreError`, with one line for people.
    init(
        inFolder folder: String, _ settings: Settings, vfs: String? = nil
    ) throws(StoreError) {
        let onDisk = try TaskStore.open(
            path: folder + "/tasks.db", durability: .commit, vfs: vfs)
        identifierStore = onDisk
        switch settings.store.durability {
        case .commit: store = onDisk
        case .memory: store = try TaskStore.open(path: ":memory:", durability: .memory)
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
    }
}

/// What an earlier daemon left.
struct FoundTasks {
    /// Queued and started, in the order of their ids.
    let live: [StoredTask]
    /// The newest that have ended, the oldest first.
    let ended: [StoredTask]

    init(in store: TaskStore, _ reader: HistoryReader, endedMax: Int) throws(StoreError) {
        live = try store.live()
        ended = try reader.history(countMax: endedMax).tasks.reversed()
    }
}

extension HistoryBounds {
    init(_ settings: Settings) {
        self.init(countMax: settings.store.historyMax, ageMax: settings.store.historyAge)
    }
}
