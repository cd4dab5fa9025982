import BudgetCore
import Glibc
import Settings
import TaskStore
import TestKit

@testable import bgtaskd

/// The shell was stopped here, as by kill -9.
struct Stopped: Error {
    let place: String
}

/// The daemon does not start, since the disk is at fault.
struct DoesNotStart: Error {}

/// A miniature of the daemon: performs the registry's actions one by one on a store that is a real file, as
/// `Daemon` does. A commit ends some turns after it was begun, as on the store's thread.
final class Shell {
    let disk: Disk
    var registry: BackgroundTaskRegistry
    var ledger: Ledger
    var actions: [Action] = []
    var launches: [TaskID] = []
    var processes: [TaskID: Process] = [:]
    var now: Instant
    /// The time of day at the instant 0.
    var midnight: Int64
    /// Actions until the shell is stopped.
    var actionsLeft: Int?
    /// Whether the next command can be started.
    var canStart = true
    var hasRefused = false

    let opened: OpenedStore
    var steps: [StoreStep] = []
    var changes: [StoreChange] = []
    var inHand: [StoreStep] = []
    var isProbeDue = false
    var isProbing = false
    /// What the store's thread has come to and nobody knows yet.
    var result: Result<Void, StoreError>?
    /// Whether the disk may have taken what it refused last.
    var mayHaveTaken = false
    /// What the thread has in hand, in the store's words.
    var written: [StoreChange] = []

    /// The processes of a task.
    struct Process {
        var isMainThere = true
        var hasHandler = false
        var isKilled = false
    }

    /// Starts on what the disk has, as the daemon does: opens, compares, recovers.
    init(
        _ disk: Disk, _ ledger: Ledger, _ settings: Settings, at now: Instant, midnight: Int64,
        actionsLeft: Int?
    ) throws {
        self.disk = disk
        self.ledger = ledger
        self.now = now
        self.midnight = midnight
        self.actionsLeft = actionsLeft
        opened = try Shell.starting(disk) { () throws(StoreError) in
            try Shell.open(disk, settings)
        }
        registry = BackgroundTaskRegistry(
            limits: RegistryLimits(settings), profiles: Shell.profiles,
            identifiers: opened.identifiers)
    }

    /// Opens the store. Children that tests beside this one are starting have its lock for a moment, until
    /// their execve(2).
    private static func open(
        _ disk: Disk, _ settings: Settings
    ) throws(StoreError) -> OpenedStore {
        let bound = ContinuousClock.now.advanced(by: .seconds(60))
        while true {
            do throws(StoreError) {
                return try OpenedStore(inFolder: disk.folder, settings, vfs: disk.name)
            } catch {
                guard error.cause == .locked, ContinuousClock.now < bound else { throw error }
                poll(nil, 0, 1)
            }
        }
    }

    static let profiles =
        Budget(duration: .seconds(20), grace: .seconds(4)).map {
            [Profile(name: "default", budget: $0, lifetimeMax: .seconds(60))]
        } ?? []

    var clocks: ClockPair {
        ClockPair(
            instant: now,
            time: WallTime(microseconds: midnight + now.nanoseconds / 1000))
    }

    var isStoreIdle: Bool { steps.isEmpty && inHand.isEmpty }

    /// Whether it was to stop, and nothing is left to wait for.
    var isDone: Bool {
        registry.isDraining && registry.liveCount == 0 && processes.isEmpty && isStoreIdle
    }

    // MARK: - The start

    /// Compares what is on disk with what is known, and takes it over.
    func recover() throws {
        let found = opened.found
        var tasks: [TaskID: StoredTask] = [:]
        for task in found.live + found.ended { tasks[task.id] = task }
        guard found.live.map(\.id) == found.live.map(\.id).sorted(),
            tasks.count == found.live.count + found.ended.count
        else { throw Violation("the store answers \(found)") }
        try ledger.found(tasks)
        registry.restore(ended: found.ended.map { RestoredTask($0, clocks) })
        registry.restore(found.live.map { RestoredTask($0, clocks) }, at: now, &actions)
        try perform()
        while !steps.isEmpty {
            let (steps, changes) = (steps, changes)
            (self.steps, self.changes) = ([], [])
            try Shell.starting(disk) { () throws(StoreError) in try opened.store.apply(changes) }
            try taken(steps)
            try perform()
        }
        try checkTakenOver(tasks)
    }

    /// Whether the registry knows all that was found, as it was.
    private func checkTakenOver(_ tasks: [TaskID: StoredTask]) throws {
        for (id, stored) in tasks {
            guard let task = registry.record(id)?.task else {
                throw Violation("\(id) is not taken over")
            }
            let isRight =
                switch stored.state {
                case .queued: task.state == .queued || launches.contains(id)
                case .started: task.outcome == .interrupted
                case .ended: task.outcome == stored.end?.outcome
                }
            guard isRight, task.name == stored.name, task.owner == stored.owner,
                task.budget == stored.budget, task.lifetimeMax == stored.lifetimeMax
            else { throw Violation("\(stored) is taken over as \(task)") }
        }
    }

    /// Has the store do something at the start, where a fault of the disk is a reason not to start.
    private static func starting<T>(
        _ disk: Disk, _ body: () throws(StoreError) -> T
    ) throws -> T {
        switch try ask(disk, body) {
        case .success(let answer): return answer
        case .failure: throw DoesNotStart()
        }
    }

    // MARK: - Turns

    /// What every turn ends with.
    func endTurn(launchesMax: Int) throws {
        try perform()
        for _ in 0..<launchesMax where !launches.isEmpty {
            try launch(launches.removeFirst())
            try perform()
        }
        if result == nil, inHand.isEmpty, !isProbing, !steps.isEmpty {
            (inHand, written) = (steps, changes)
            (steps, changes) = ([], [])
        }
        registry.forgetExcess()
        guard isStoreIdle, result == nil, !isProbing, registry.storeFault == nil, launches.isEmpty
        else { return }
        // The other owner may hold time, which counts as live too.
        try ledger.settled(
            .root, slots: registry.limits.slots, liveMax: registry.limits.tasksPerOwnerMax)
    }

    private func perform() throws {
        var index = 0
        while index < actions.count {
            try burn()
            let action = actions[index]
            index += 1
            try perform(action)
        }
        actions.removeAll()
    }

    /// A moment in which the shell may be stopped.
    private func burn() throws {
        if actionsLeft == 0 { throw Stopped(place: "stopped between actions") }
        actionsLeft = actionsLeft.map { $0 - 1 }
    }

    private func perform(_ action: Action) throws {
        switch action {
        case .tell(.handlerFired, let id): try ledger.handlerFired(id)
        case .tell(.ended, let id): try tellEnd(of: id)
        case .tell, .oldTasksNotNamed: break
        case .launch(let id):
            guard !registry.isDraining else { throw Violation("\(id) begins in a drain") }
            try ledger.begins(id)
            launches.append(id)
        case .launchHandler(let id):
            guard processes[id] != nil else {
                return registry.handlerExited(id, at: now, &actions)
            }
            processes[id]?.hasHandler = true
        case .signal(let id, _): try launchNow(id)
        case .killAll(let id):
            try launchNow(id)
            processes[id]?.isKilled = true
        case .store(let step): order(step)
        case .answer(let id, let refusal): try ledger.answered(id, refusal)
        }
    }

    private func tellEnd(of id: TaskID) throws {
        guard let task = registry.record(id)?.task, let outcome = task.outcome else {
            throw Violation("the end of \(id) has no record")
        }
        if task.kind == .run { try ledger.told(id, outcome) }
        guard processes.removeValue(forKey: id)?.isMainThere != true else {
            throw Violation("\(id) has ended and its process runs")
        }
    }

    private func launchNow(_ id: TaskID) throws {
        guard let index = launches.firstIndex(of: id) else { return }
        launches.remove(at: index)
        try launch(id)
    }

    private func launch(_ id: TaskID) throws {
        guard let task = registry.record(id)?.task, task.isLive else { return }
        try ledger.launched(id, couldStart: canStart)
        try burn()
        guard canStart else {
            canStart = true
            return registry.startFailed(id, "no such file", at: now, &actions)
        }
        processes[id] = Process()
        registry.started(id, as: ProcessID(rawValue: 77), at: now, &actions)
    }
}
