internal import BudgetCore
internal import LinuxSystem
internal import TaskAPI

/// What the shell has of an application that runs, or is being started.
final class RunningApplication {
    let key: ApplicationKey
    /// What its processes are known by to their host.
    let number: TaskID
    let processes: any ProcessSet
    /// Its command and what that prints; `nil` where it was adopted.
    let task: RunningTask?
    /// The freeze or the thaw that is under way.
    var order: Order?
    /// Units that it lives in; empty where it was launched.
    var units: [ManagedUnit] = []
    /// What it has not been told yet, since it does not watch itself.
    var backlog = EventBacklog()

    enum Order: Equatable {
        case freeze(UInt64)
        case thaw(UInt64)
    }

    init(_ key: ApplicationKey, launched task: RunningTask) {
        self.key = key
        number = task.id
        processes = task.processes
        self.task = task
    }

    init(_ key: ApplicationKey, number: TaskID, adopted processes: any ProcessSet) {
        self.key = key
        self.number = number
        self.processes = processes
        task = nil
    }

    /// Its processes; none where they cannot be read, as of one that ends.
    var processIDs: [Int32] { (try? processes.processIDs()) ?? [] }
}

/// Events of an application from its start until it watches itself, the oldest first.
struct EventBacklog {
    private static let countMax = 256
    private static let bytesMax = 16_384

    private(set) var events: [ApplicationEvent] = []
    private var byteCount = 0
    /// Events that found no room.
    private(set) var missed = 0
    /// Whether it watches itself now, or has done so.
    private(set) var isTaken = false

    mutating func add(_ event: ApplicationEvent) {
        guard !isTaken else { return }
        let bytes = byteCount + (event.payload?.utf8.count ?? 0)
        guard missed == 0, events.count < EventBacklog.countMax, bytes <= EventBacklog.bytesMax
        else { return missed += 1 }
        byteCount = bytes
        events.append(event)
    }

    /// Hands the events over, once.
    mutating func take() -> (events: [ApplicationEvent], missed: Int) {
        defer { (events, byteCount, missed, isTaken) = ([], 0, 0, true) }
        return (events, missed)
    }
}

/// The applications that run, by their keys and by the numbers of their processes.
struct RunningApplications {
    private var byKey: [ApplicationKey: RunningApplication] = [:]
    private var byNumber: [TaskID: RunningApplication] = [:]

    /// Other than before where one was added.
    private(set) var generation = 0

    subscript(key: ApplicationKey) -> RunningApplication? { byKey[key] }
    subscript(number: TaskID) -> RunningApplication? { byNumber[number] }

    /// Those of an owner, in no order that means anything.
    func all(of owner: OwnerID) -> [RunningApplication] {
        byKey.values.filter { $0.key.owner == owner }
    }

    mutating func add(_ application: RunningApplication) {
        generation += 1
        byKey[application.key] = application
        byNumber[application.number] = application
    }

    mutating func remove(_ application: RunningApplication) {
        byKey[application.key] = nil
        byNumber[application.number] = nil
    }
}

extension TaskID {
    /// The number of an application's processes; no task has one like it.
    init(ofApplication number: UInt64) {
        self.init(rawValue: 1 << 63 | number)
    }

    var isOfApplication: Bool { rawValue >> 63 == 1 }
}
