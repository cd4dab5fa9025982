import BudgetCore
import DaemonShell
import Settings
import TaskStore
import TestKit

/// One seeded history: daemons one after the other on one disk, each stopped at a random moment.
struct CrashHistory {
    static let owners = [OwnerID.root, OwnerID(rawValue: 1001)]
    static let groups = ["narrow", "wide"]

    let folder: Folder
    let disk: Disk
    let machine = Machine()
    var random: SeededGenerator
    var ledger: Ledger
    var holds: [TaskID] = []
    /// Whether somebody sets the time of day now and then.
    private let setsClock: Bool

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        folder = try Folder()
        disk = try Disk(folder: folder.path, number: seed)
        ledger = Ledger(machine, RegistryLimits(CrashHistory.settings))
        setsClock = Bool.random(using: &random)
    }

    private static let settings = {
        var settings = Settings()
        settings.queue.slots = 3
        for (index, name) in groups.enumerated() {
            settings.queue.groups[name] = Settings.Group(name: name)
            settings.queue.groups[name]?.slots = index + 1
        }
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
        machine.pass(.milliseconds(Int.random(in: 0..<5000, using: &random)))
        if Bool.random(using: &random) { setClock() }
        guard !isLast, Int.random(in: 0..<3, using: &random) == 0 else { return }
        try disk.cutPower(using: &random)
        let milliseconds = Int64.random(in: 0..<10_000, using: &random)
        machine.restart(at: Instant(nanoseconds: milliseconds * 1_000_000))
        ledger.count("power cuts")
    }

    private mutating func serve(_ left: inout Int, isLast: Bool) throws {
        let shell = try Shell(
            disk, machine, ledger, CrashHistory.settings,
            actionsLeft: isLast || Bool.random(using: &random)
                ? nil : Int.random(in: 0..<100, using: &random))
        defer {
            // Who is stopped closes nothing.
            disk.isDead = true
            ledger = shell.ledger
        }
        try shell.recover(canThaw: !chance(4))
        try shell.endTurn(launchesMax: 0)
        shell.ledger.count("started")
        if isLast { return try finish(shell) }
        while left > 0 {
            left -= 1
            try event(shell)
            try turn(shell)
            if try shell.hasStopped() { break }
        }
    }

    /// Lets all that waits and runs come to its end.
    private mutating func finish(_ shell: Shell) throws {
        shell.setConditions(.all)
        for group in CrashHistory.groups { try shell.setPaused(group, false) }
        for _ in 0..<2000 where !shell.ledger.unended.isEmpty {
            process(on: shell)
            try turn(shell)
            try shell.advanceStore(tellsFirst: chance(2))
            try turn(shell)
            shell.pass(.milliseconds(Int.random(in: 0..<500, using: &random)))
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

    /// Sets the time of day.
    mutating func setClock() {
        guard setsClock else { return }
        machine.setClock(by: .milliseconds(Int.random(in: -60_000...60_000, using: &random)))
        ledger.count("clock set")
    }

    private mutating func turn(_ shell: Shell) throws {
        try shell.endTurn(launchesMax: Int.random(in: 0...3, using: &random))
        if shell.core.registry.isDraining {
            program(on: shell)
            try shell.perform()
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            try shell.advanceStore(tellsFirst: chance(2))
            try shell.endTurn(launchesMax: Int.random(in: 0...3, using: &random))
        }
    }
}
