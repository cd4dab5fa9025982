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
    /// Who had it launched; `nil` where a message did.
    let launcher: Submitter?
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

    init(_ key: ApplicationKey, launched task: RunningTask, by launcher: Submitter?) {
        self.key = key
        number = task.id
        processes = task.processes
        self.task = task
        self.launcher = launcher
    }

    init(_ key: ApplicationKey, number: TaskID, adopted processes: any ProcessSet) {
        self.key = key
        self.number = number
        self.processes = processes
        task = nil
        launcher = nil
    }

    /// By which it is found to be the same, and not another of its name.
    var origin: ConnectionOrigin { ConnectionOrigin(key: key, number: number) }

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

/// The application whose process has opened a connection.
struct ConnectionOrigin: Equatable {
    let key: ApplicationKey
    /// The number of its processes: another's of its name, later, is another.
    let number: TaskID
}

/// The applications that run, by their keys, by the numbers of their processes and by where those live.
struct RunningApplications {
    private var byKey: [ApplicationKey: RunningApplication] = [:]
    private var byNumber: [TaskID: RunningApplication] = [:]
    private var byHome: [ProcessHome: RunningApplication] = [:]
    private var homes: [TaskID: [ProcessHome]] = [:]
    private var counts: [OwnerID: Int] = [:]
    /// Who has ordered launches in this turn.
    private var launchers: [ApplicationKey: Submitter] = [:]

    /// Notes who has ordered the launch that comes next.
    mutating func setLauncher(_ launcher: Submitter, of key: ApplicationKey) {
        launchers[key] = launcher
    }

    /// Who has ordered the launch of an application; `nil` where a message did.
    mutating func takeLauncher(of key: ApplicationKey) -> Submitter? {
        launchers.removeValue(forKey: key)
    }

    subscript(key: ApplicationKey) -> RunningApplication? { byKey[key] }
    subscript(number: TaskID) -> RunningApplication? { byNumber[number] }

    /// Whether an owner has any.
    func areThere(of owner: OwnerID) -> Bool { counts[owner] != nil }

    mutating func add(_ application: RunningApplication) {
        byKey[application.key] = application
        byNumber[application.number] = application
        counts[application.key.owner, default: 0] += 1
        settle(application)
    }

    /// Learns where the processes of an application live, once that is known.
    mutating func settle(_ application: RunningApplication) {
        guard byNumber[application.number] === application else { return }
        leaveHomes(of: application)
        let now = application.processes.homes
        for home in now { byHome[home] = application }
        homes[application.number] = now
    }

    mutating func remove(_ application: RunningApplication) {
        guard byNumber.removeValue(forKey: application.number) != nil else { return }
        if byKey[application.key] === application { byKey[application.key] = nil }
        leaveHomes(of: application)
        let count = (counts[application.key.owner] ?? 0) - 1
        counts[application.key.owner] = count > 0 ? count : nil
    }

    /// The application of an owner whose process it is.
    func origin(_ process: ProcessOrigin, of owner: OwnerID) -> ConnectionOrigin? {
        let found = process.first { byHome[$0] }
        return found?.key.owner == owner ? found?.origin : nil
    }

    /// Whether an application that a connection came from runs still.
    func areRunning(_ origin: ConnectionOrigin) -> Bool { byNumber[origin.number] != nil }

    private mutating func leaveHomes(of application: RunningApplication) {
        // A group may be another's by now.
        for home in homes.removeValue(forKey: application.number) ?? []
        where byHome[home] === application {
            byHome[home] = nil
        }
    }
}

extension TaskID {
    /// The number of an application's processes; no task has one like it.
    init(ofApplication number: UInt64) {
        self.init(rawValue: 1 << 63 | number)
    }

    var isOfApplication: Bool { rawValue >> 63 == 1 }
}
