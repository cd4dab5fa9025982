import BudgetCore
import Settings
import TaskStore
import TestKit

/// One seeded history: daemons one after the other on one disk, each stopped at a random moment.
struct CrashHistory {
    static let owners = [OwnerID.root, OwnerID(rawValue: 1001)]

    let folder: Folder
    let disk: Disk
    var random: SeededGenerator
    var ledger = Ledger()
    private var midnight: Int64 = 1_800_000_000_000_000
    private var now = Instant(nanoseconds: 1_000_000_000)
    private var holds: [TaskID] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        folder = try Folder()
        disk = try Disk(folder: folder.path, number: seed)
    }

    private static let settings = {
        var settings = Settings()
        settings.queue.slots = 3
        settings.limits.tasksPerOwnerMax = 2
        settings.limits.queueDepthPerOwnerMax = 12
        return settings
    }()

    /// - Returns: what first went wrong; `nil` where nothing did.
    mutating func run(events: Int) -> String? {
        var left = events
        do {
            while left > 0 { try live(&left) }
            disk.fault = .none
            // The first has the rest of the work done, the second finds it done.
            for _ in 0..<2 { try live(&left) }
            return nil
        } catch let error as Violation {
            return "\(events - left) events on: \(error)"
        } catch {
            return "\(error)"
        }
    }

    /// The life of one daemon, up to its end; without events it only starts and stops.
    private mutating func live(_ left: inout Int) throws {
        let isLast = left == 0
        if !isLast { arm() }
        do {
            try serve(&left, isLast: isLast)
        } catch let stopped as Stopped {
            ledger.count(stopped.place)
        } catch is DoesNotStart {
            ledger.count("not started")
            left -= 1
            if Bool.random(using: &random) { (disk.fault, disk.operationsBeforeFault) = (.none, 0) }
        }
        disk.revive()
        ledger.isDraining = false
        if !isLast, Int.random(in: 0..<3, using: &random) == 0 {
            try disk.cutPower(using: &random)
            ledger.count("power cuts")
        }
        // Another boot has another clock, and the time of day may be set.
        midnight +=
            now.nanoseconds / 1000 + Int64.random(in: -60_000_000...60_000_000, using: &random)
        now = Instant(nanoseconds: Int64.random(in: 0..<10_000_000_000, using: &random))
    }

    private mutating func serve(_ left: inout Int, isLast: Bool) throws {
        let shell = try Shell(
            disk, ledger, CrashHistory.settings, at: now, midnight: midnight,
            actionsLeft: isLast || Bool.random(using: &random)
                ? nil : Int.random(in: 0..<100, using: &random))
        defer {
            // Who is stopped closes nothing.
            disk.isDead = true
            ledger = shell.ledger
            now = shell.now
        }
        try shell.recover()
        try shell.endTurn(launchesMax: 0)
        shell.ledger.count("started")
        if isLast { return try finish(shell) }
        while left > 0 {
            left -= 1
            try event(shell)
            try turn(shell)
            guard !shell.isDone else { break }
        }
        guard shell.isDone else { return }
        try shell.close()
        shell.ledger.hasStopped = !shell.hasRefused
        shell.ledger.count("orderly stops")
    }

    /// Lets all that waits and runs come to its end.
    private mutating func finish(_ shell: Shell) throws {
        for _ in 0..<2000 where !shell.ledger.unended.isEmpty {
            process(on: shell)
            try turn(shell)
            try shell.advanceStore()
            try turn(shell)
        }
        let unended = shell.ledger.unended
        guard unended.isEmpty else { throw Violation("never ended: \(unended)") }
    }

    /// Sets when the disk dies under the daemon.
    private mutating func arm() {
        guard Bool.random(using: &random) else { return }
        disk.operationsLeft = Int.random(in: 0..<200, using: &random)
    }

    private mutating func turn(_ shell: Shell) throws {
        try shell.endTurn(launchesMax: Int.random(in: 0...3, using: &random))
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            try shell.advanceStore()
            try shell.endTurn(launchesMax: Int.random(in: 0...3, using: &random))
        }
    }

    // MARK: - Events

    private mutating func event(_ shell: Shell) throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<28: try submit(to: shell)
        case 28..<42: cancel(on: shell)
        case 42..<64: process(on: shell)
        case 64..<72: pass(on: shell)
        case 72..<76: try hold(on: shell)
        case 76..<82: changeFault()
        case 82..<84: try shell.checkpoint()
        case 84..<87: stop(shell)
        case 87..<90: shell.canStart = false
        default: try shell.advanceStore()
        }
    }

    private mutating func changeFault() {
        let isWhole = disk.fault == .none
        disk.fault = isWhole ? Disk.Fault.allCases.randomElement(using: &random) ?? .none : .none
        disk.operationsBeforeFault = isWhole ? Int.random(in: 0..<8, using: &random) : 0
    }

    private mutating func submit(to shell: Shell) throws {
        let number = Int.random(in: 0..<1000, using: &random)
        let owner = CrashHistory.owners[number % 2]
        var work = Work(command: ["upload", "\(number)"])
        if number.isMultiple(of: 3) {
            work.environment = ["NUMBER": "\(number)"]
            work.directory = "/srv"
            work.expiration = ExpirationHandler(signal: nil, command: ["flush"])
            work.groups = SubmitterGroups(primary: 7, supplementary: [8, 9])
        }
        var submission = Submission(name: "upload \(number % 7)", owner: owner, work: work)
        if number.isMultiple(of: 4) {
            submission.budget = RequestedBudget(duration: .seconds(9), grace: .seconds(2))
        }
        let id: TaskID
        do throws(Refusal) {
            id = try shell.registry.submit(submission, at: shell.now, &shell.actions)
        } catch {
            return shell.ledger.count("refused at once")
        }
        try shell.ledger.handedOut(id)
        shell.ledger.submitted(id, submission)
    }

    private mutating func hold(on shell: Shell) throws {
        if let id = holds.popLast(), Bool.random(using: &random) {
            _ = try? shell.registry.end(
                id, by: Caller(owner: CrashHistory.owners[1]), at: shell.now, &shell.actions)
            return
        }
        let request = BeginRequest(
            name: "held", owner: CrashHistory.owners[1], holder: HolderID(rawValue: 1))
        guard let id = try? shell.registry.begin(request, at: shell.now, &shell.actions)
        else { return }
        try shell.ledger.handedOut(id)
        holds.append(id)
    }

    private mutating func cancel(on shell: Shell) {
        let starting = Bool.random(using: &random) ? shell.starting : []
        let known = shell.ledger.identifiers.suffix(8)
        guard let id = (starting.isEmpty ? Array(known) : starting).randomElement(using: &random)
        else { return }
        let caller = Caller(owner: .root, seesAll: true)
        let isTaken =
            (try? shell.registry.cancel(
                id, by: caller, text: nil, at: shell.now, &shell.actions)) != nil
        if isTaken { shell.ledger.cancelAsked(id) }
    }

    /// A process of a task does something.
    private mutating func process(on shell: Shell) {
        let ids = shell.processes.keys.sorted()
        guard let id = ids.randomElement(using: &random), let process = shell.processes[id]
        else { return }
        if process.hasHandler, Bool.random(using: &random) {
            shell.processes[id]?.hasHandler = false
            shell.registry.handlerExited(id, at: shell.now, &shell.actions)
        } else if process.isMainThere {
            let exits: [ProcessExit] =
                process.isKilled
                ? [.signal(.kill)] : [.status(0), .status(0), .status(1), .signal(.terminate)]
            let exit = exits.randomElement(using: &random) ?? .status(0)
            shell.processes[id]?.isMainThere = false
            shell.ledger.exited(id, exit)
            shell.registry.mainExited(id, exit, at: shell.now, &shell.actions)
        } else if process.isKilled {
            shell.registry.processesGone(id, at: shell.now, &shell.actions)
        }
    }

    private mutating func pass(on shell: Shell) {
        let milliseconds = Int.random(in: 0..<8000, using: &random)
        shell.now = shell.now + .milliseconds(milliseconds)
        shell.registry.deadlineReached(at: shell.now, &shell.actions)
    }

    private func stop(_ shell: Shell) {
        shell.ledger.isDraining = true
        shell.registry.drain(keepsQueue: true, at: shell.now, &shell.actions)
    }
}
