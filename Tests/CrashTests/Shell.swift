import BudgetCore
import DaemonShell
import Glibc
import Logging
import Settings
import TaskStore
import TestKit

/// The shell was stopped here, as by kill -9.
struct Stopped: Error {
    let place: String
}

/// The daemon does not start, since the disk is at fault.
struct DoesNotStart: Error {}

/// A daemon whose processes and clients are the history's: the core with its turn and what goes to the disk are those
/// that ship. The store is a real file; a commit ends some turns after it was ordered.
final class Shell {
    let disk: Disk
    let core: Core
    var ledger: Ledger
    var launches: [TaskID] = []
    var processes: [TaskID: Process] = [:]
    /// What runs of applications.
    var programs: [ApplicationKey: Program] = [:]
    /// Units of what runs no longer, which could not be thawed.
    var left: [ApplicationKey: [AdoptedUnit]] = [:]
    var callLast: UInt64 = 0
    let machine: Machine
    /// Actions until the shell is stopped.
    var actionsLeft: Int?
    /// Whether the next command can be started.
    var canStart = true
    var hasRefused = false

    let opened: OpenedStore
    /// What goes to the disk, by a thread that takes its steps here.
    let store: Persistence
    let thread = SteppedStore()
    /// Commands that may be started at the end of this turn.
    private var launchesMax = 0
    /// What came up while the core had its orders performed; nothing is performed after it.
    private var thrown: (any Error)?
    /// Tasks whose start is on its way to the disk.
    var starting: Set<TaskID> = []
    /// Whether the disk may have taken what it refused last.
    var mayHaveTaken = false
    /// The processes of a task.
    struct Process {
        var isMainThere = true
        var hasHandler = false
        var isKilled = false
        var isGone = false
        // As the program that runs commands has it.
        var handlerAt = Instant.never
        var limitAt = Instant.never
        var firedCount = 0
    }
    /// Whether what is due is done by that program before the daemon does it.
    var isExecutorFirst = false

    /// Starts on what the disk has, as the daemon does: opens, compares, recovers.
    init(
        _ disk: Disk, _ machine: Machine, _ ledger: Ledger, _ settings: Settings,
        actionsLeft: Int?
    ) throws {
        self.disk = disk
        self.ledger = ledger
        self.machine = machine
        self.actionsLeft = actionsLeft
        opened = try Shell.starting(disk) { () throws(StoreError) in
            try Shell.open(disk, settings)
        }
        var registry = BackgroundTaskRegistry(
            limits: RegistryLimits(settings), profiles: Shell.profiles,
            identifiers: opened.identifiers)
        registry.applicationRules.suspendAfter = .seconds(2)
        registry.applicationRules.backgroundTime = .seconds(20)
        core = Core(
            registry,
            Core.Clocks(
                read: { (machine.now.nanoseconds, machine.asleep.wholeNanoseconds) },
                timeOfDay: { machine.time }))
        store = Persistence(core, thread, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        core.connect(
            Core.Hooks(
                perform: { [unowned self] action in attempt { try perform(action) } },
                finish: { [unowned self] in attempt(finishTurn) }, arrange: {},
                continueLater: {}))
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

    var now: Instant { machine.now }

    var clocks: ClockPair { core.clocks }

    /// Whether all that was ordered is on disk, and all that came of it is known.
    private var isStoreIdle: Bool { store.isIdle && !thread.hasNews }

    // MARK: - Turns

    /// A turn in which nothing more comes: what it ends with.
    func endTurn(launchesMax: Int) throws {
        self.launchesMax = launchesMax
        core.turn {}
        try rethrow()
    }

    /// What the daemon does at the end of a turn, as far as it is about tasks and the disk.
    private func finishTurn() throws {
        core.perform()
        try rethrow()
        for _ in 0..<launchesMax where !launches.isEmpty {
            try launch(launches.removeFirst())
            core.perform()
            try rethrow()
        }
        mirrorTimes()
        store.flush()
        _ = core.update { registry, _, _ in registry.forgetExcess() }
        guard isStoreIdle, core.registry.storeFault == nil, launches.isEmpty else { return }
        // The other owner may hold time, which counts as live too.
        try ledger.settled(.root)
        try checkApplications()
    }

    func perform() throws {
        core.perform()
        try rethrow()
    }

    /// Does something for the core, which takes no errors: the first is kept, and then nothing is done any more.
    func attempt(_ body: () throws -> Void) {
        guard thrown == nil else { return }
        do { try body() } catch { thrown = error }
    }

    /// Throws what has come up meanwhile.
    func rethrow() throws { if let thrown { throw thrown } }

    /// Whether the shell has been stopped, or something is wrong.
    var isStopped: Bool { thrown != nil }

    /// A moment in which the shell may be stopped.
    private func burn() throws {
        if actionsLeft == 0 { throw Stopped(place: "stopped between actions") }
        actionsLeft = actionsLeft.map { $0 - 1 }
    }

    private func perform(_ action: Action) throws {
        try burn()
        switch action {
        case .tell(.handlerFired, let id): try ledger.handlerFired(id)
        case .tell(.ended, let id): try tellEnd(of: id)
        case .tell(.attemptEnded, let id): try tellAttempt(of: id)
        case .tell, .oldTasksNotNamed, .answerOwner, .answerChange, .answerSlots,
            .answerCleaning:
            break
        case .answerGroup(let group, let refusal):
            try ledger.groups.answered(group, refusal, mayBeTaken: mayHaveTaken)
        case .launch(let id):
            guard !core.registry.isDraining else { throw Violation("\(id) begins in a drain") }
            launches.append(id)
        case .warn(let id):
            try launchNow(id)
            guard processes[id] == nil else { return fireHandler(id) }
            guard core.registry.record(id)?.run?.work.expiration.command != nil else { break }
            core.update({ registry, now, actions in
                registry.handlerExited(id, at: now, &actions)
            })
        case .signal(let id, _): try launchNow(id)
        case .killAll(let id):
            try launchNow(id)
            processes[id]?.isKilled = true
            ledger.killed(id)
        case .fault(let fault): throw Violation("what must never happen: \(fault)")
        case .store(let step): try order(step)
        case .answer(let id, let refusal): try ledger.answered(id, refusal)
        case .application(let key, let order): try perform(order, on: key)
        }
    }

    private func tellEnd(of id: TaskID) throws {
        guard let task = core.registry.record(id)?.task, let outcome = task.outcome else {
            throw Violation("the end of \(id) has no record")
        }
        if task.kind == .run { try ledger.told(id, outcome) }
        // A daemon that stops does not wait for ever for what no kill ends.
        if let process = processes.removeValue(forKey: id), process.isMainThere {
            guard core.registry.isDraining, process.isKilled, outcome == .interrupted else {
                throw Violation("\(id) has ended and its process runs")
            }
        }
    }

    private func tellAttempt(of id: TaskID) throws {
        guard let ended = core.registry.record(id)?.run?.attempts.last else {
            throw Violation("an attempt of \(id) is told, and has no record")
        }
        try ledger.attemptEnded(id, ended)
        guard processes.removeValue(forKey: id)?.isMainThere != true else {
            throw Violation("an attempt of \(id) has ended and its process runs")
        }
    }

    private func launchNow(_ id: TaskID) throws {
        guard let index = launches.firstIndex(of: id) else { return }
        launches.remove(at: index)
        try launch(id)
    }

    private func launch(_ id: TaskID) throws {
        guard let record = core.registry.record(id), record.task.isLive, let run = record.run
        else { return }
        guard processes[id] == nil else { throw Violation("\(id) runs twice at once") }
        try ledger.launched(id, run.attempt, couldStart: canStart)
        try burn()
        guard canStart else {
            canStart = true
            return core.update({ registry, now, actions in
                registry.startFailed(id, "no such file", at: now, &actions)
            })
        }
        processes[id] = Process()
        mirrorTimes(of: id)
        core.update({ registry, now, actions in
            registry.started(id, as: ProcessID(rawValue: 77), at: now, &actions)
        })
    }
}
