internal import BudgetCore
internal import LinuxSystem
internal import TaskAPI

/// What the shell has of an application that runs, or is being started.
final class RunningApplication {
    let key: ApplicationKey
    let id: RunnerID
    let processes: any ProcessSet
    /// Its command and what that prints; `nil` where it was adopted.
    let runner: Runner?
    /// Who had it launched; `nil` where a message did, or it is not known any more.
    let launcher: Submitter?
    /// Units that it lives in; empty where it was launched.
    let units: [ManagedUnit]
    /// The freeze or the thaw that is under way.
    private(set) var order: Order?
    /// What it has not been told yet, since it does not watch itself.
    private var backlog = EventBacklog()

    /// An order of the core's, by its number.
    enum Order: Equatable {
        case freeze(UInt64)
        case thaw(UInt64)

        var isFreeze: Bool { if case .freeze = self { true } else { false } }
    }

    init(
        _ key: ApplicationKey, _ runner: Runner, by launcher: Submitter? = nil
    ) {
        self.key = key
        id = runner.id
        processes = runner.command
        self.runner = runner
        self.launcher = launcher
        units = []
    }

    init(
        _ key: ApplicationKey, id: RunnerID, adopted processes: any ProcessSet,
        in units: [ManagedUnit]
    ) {
        self.key = key
        self.id = id
        self.processes = processes
        self.units = units
        runner = nil
        launcher = nil
    }

    /// A freeze or a thaw has begun, in place of any before it.
    func begin(_ order: Order) { self.order = order }

    /// The freeze or the thaw under way is over.
    ///
    /// - Returns: which it was; `nil` where none was under way.
    func takeOrder() -> Order? {
        defer { order = nil }
        return order
    }

    /// Keeps an event for the application, until it watches itself.
    func add(_ event: ApplicationEvent) { backlog.add(event) }

    /// Hands over what it has missed since its start, once; `nil` where that has been done.
    func takeBacklog() -> (events: [ApplicationEvent], missed: Int)? {
        backlog.isTaken ? nil : backlog.take()
    }

    /// By which it is found to be the same, and not another of its name.
    var origin: ConnectionOrigin { ConnectionOrigin(key: key, id: id) }

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
        // Tasks that it performs it is told of by themselves.
        guard !isTaken, event.task == nil else { return }
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
    /// Its processes: those of another of its name, later, are others.
    let id: RunnerID
}

/// The applications that run, by their keys, by their processes and by where those live.
package final class RunningApplications {
    private var byKey: [ApplicationKey: RunningApplication] = [:]
    private var byID: [RunnerID: RunningApplication] = [:]
    private var byHome: [ProcessHome: RunningApplication] = [:]
    private var homes: [RunnerID: [ProcessHome]] = [:]
    private var counts: [OwnerID: Int] = [:]

    package init() {}

    subscript(key: ApplicationKey) -> RunningApplication? { byKey[key] }
    subscript(id: RunnerID) -> RunningApplication? { byID[id] }

    /// Whether an owner has any.
    func areThere(of owner: OwnerID) -> Bool { counts[owner] != nil }

    func add(_ application: RunningApplication) {
        byKey[application.key] = application
        byID[application.id] = application
        counts[application.key.owner, default: 0] += 1
        settle(application)
    }

    /// Learns where the processes of an application live, once that is known.
    func settle(_ application: RunningApplication) {
        guard byID[application.id] === application else { return }
        leaveHomes(of: application)
        let now = application.processes.homes
        for home in now { byHome[home] = application }
        homes[application.id] = now
    }

    func remove(_ application: RunningApplication) {
        guard byID.removeValue(forKey: application.id) != nil else { return }
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
    func areRunning(_ origin: ConnectionOrigin) -> Bool { byID[origin.id] != nil }

    private func leaveHomes(of application: RunningApplication) {
        // A group may be another's by now.
        for home in homes.removeValue(forKey: application.id) ?? []
        where byHome[home] === application {
            byHome[home] = nil
        }
    }
}
