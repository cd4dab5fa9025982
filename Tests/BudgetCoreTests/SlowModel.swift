import BudgetCore

/// The rules of docs/architecture.md as a person would check them with a stopwatch: every tick, every
/// task in the order of the ids, every rule. Slow, and without a single clever structure.
struct SlowModel {
    struct Task {
        let id: Int
        let owner: OwnerID
        let holder: UInt64?
        let application: String?
        let duration: Int
        let grace: Int
        let lifetimeMax: Int
        var state = TaskState.running
        var outcome: Outcome?
        var begun = 0
        var ownHard = 0
        var lifetimeEnd = 0
        var pausedAt = 0
        var used = 0
        var isClockStopped = false
        var firings = 0
        var kills = 0
        var terminations = 0
        var agings = 0
        var isShutdown = false
        // run tasks
        var isMainRunning = false
        var verdict: Outcome?
        var killAt: Int?
        var killedAt: Int?
        var isStuck = false

        var isRun: Bool { holder == nil }
        var isLive: Bool { state != .queued && state != .ended }
    }

    static let stuckAfter = 300
    static let drainWait = 50

    var tasks: [Int: Task] = [:]
    var now = 0
    var slots = 2
    var slotsPerOwnerMax = 2
    var tasksPerOwnerMax = 6
    var warnAfter = 30
    var isDraining = false
    var applications: [String: (until: Int, grace: Int)?] = [:]
    var endedHeldMax = 5
    var endedRunMax = 3
    /// Those that can still be asked about, in the order in which their ends were told.
    var remembered: [(id: Int, isRun: Bool, owner: OwnerID)] = []
    var forgotten: Set<Int> = []
    var turn = 0
    /// The turn in which an owner's command was started last.
    var servedAt: [OwnerID: Int] = [:]

    var order: [Int] { tasks.keys.sorted() }

    /// The background time that bounds a task; none where it began when it could not be warned in time.
    private func background(_ task: Task) -> (until: Int, grace: Int)? {
        guard let name = task.application, let clock = applications[name] ?? nil,
            task.begun <= clock.until - clock.grace
        else { return nil }
        return clock
    }

    func hard(_ task: Task) -> Int {
        background(task).map { min(task.ownHard, $0.until) } ?? task.ownHard
    }

    func handler(_ task: Task) -> Int {
        let own = task.ownHard - task.grace
        return background(task).map { min(own, $0.until - $0.grace) } ?? own
    }

    mutating func advance(to end: Int) {
        while now < end {
            for id in order where tasks[id]?.isLive == true && tasks[id]?.state != .dormant {
                if tasks[id]?.isClockStopped == false { tasks[id]?.used += 1 }
            }
            now += 1
            check()
        }
    }

    /// Everything that is due at this tick.
    mutating func check() {
        for id in order {
            guard var task = tasks[id], task.isLive else { continue }
            if now >= task.begun + warnAfter, task.agings == 0 { task.agings = 1 }
            tasks[id] = task
            if let killAt = task.killAt {
                if now >= killAt { kill(id) }
                continue
            }
            if task.state == .running, now >= handler(task) { fire(id) }
            if task.state != .dormant, now >= hard(task) { overrun(id) }
        }
    }

    mutating func fire(_ id: Int) {
        tasks[id]?.state = .expiring
        tasks[id]?.firings += 1
        if tasks[id]?.isRun == true { tasks[id]?.terminations += 1 }
    }

    /// Kills are repeated after a second, and then ever more slowly; what is still there after half a minute
    /// takes no slot any more, and a daemon that stops gives it up after five seconds.
    mutating func kill(_ id: Int) {
        let killedAt = tasks[id]?.killedAt ?? now
        let elapsed = now - killedAt
        tasks[id]?.kills += 1
        tasks[id]?.killedAt = killedAt
        var next = min(max(elapsed, 10), 600)
        for mark in [isDraining ? SlowModel.drainWait : 0, SlowModel.stuckAfter]
        where mark > elapsed {
            next = min(next, mark - elapsed)
        }
        tasks[id]?.killAt = now + next
        if elapsed >= SlowModel.stuckAfter, tasks[id]?.isStuck == false {
            tasks[id]?.isStuck = true
            // Time in front was not counted, and its work is done.
            if tasks[id]?.state == .dormant { tasks[id]?.isClockStopped = true }
            tasks[id]?.state = .expiring
            startQueued()
        }
        if isDraining, elapsed >= SlowModel.drainWait { finish(id, .interrupted) }
    }

    mutating func overrun(_ id: Int) {
        guard let task = tasks[id] else { return }
        let outcome: Outcome = task.isShutdown ? .interrupted : .overrun
        guard task.isRun else { return finish(id, outcome) }
        tasks[id]?.state = .expiring
        if task.isMainRunning { tasks[id]?.verdict = outcome }
        kill(id)
    }

    mutating func finish(_ id: Int, _ outcome: Outcome) {
        tasks[id]?.state = .ended
        tasks[id]?.outcome = outcome
        tasks[id]?.killAt = nil
        startQueued()
    }

    mutating func startQueued() {
        forgetTurns()
        while let id = nextToStart() {
            guard let owner = tasks[id]?.owner else { return }
            tasks[id]?.isMainRunning = true
            turn += 1
            servedAt[owner] = turn
            begin(id)
            forgetTurns()
        }
    }

    mutating func begin(_ id: Int) {
        guard let task = tasks[id] else { return }
        tasks[id]?.begun = now
        tasks[id]?.ownHard = now + task.duration
        tasks[id]?.lifetimeEnd = now + task.lifetimeMax
        let isInFront = task.application.flatMap { applications[$0] }.map { $0 == nil } ?? false
        tasks[id]?.state = isInFront ? .dormant : .running
        tasks[id]?.pausedAt = now
    }

    mutating func end(_ id: Int) -> Outcome? {
        guard let task = tasks[id], !task.isRun, !forgotten.contains(id) else { return nil }
        if task.state != .ended {
            let late: Outcome = task.isShutdown ? .interrupted : .expired
            finish(id, task.state == .expiring ? late : .completed)
        }
        return tasks[id]?.outcome
    }

    mutating func extend(_ id: Int) -> Bool {
        guard let task = tasks[id], task.isLive, task.killAt == nil, !isDraining else {
            return false
        }
        if task.state == .dormant { return true }
        if let clock = background(task), clock.until - clock.grace <= task.ownHard - task.grace {
            return false
        }
        let granted = min(now + task.duration, task.lifetimeEnd)
        guard granted == now + task.duration || granted > task.ownHard else { return false }
        tasks[id]?.ownHard = granted
        tasks[id]?.state = .running
        check()
        return true
    }

    mutating func cancel(_ id: Int, kills: Bool = false) -> Bool {
        guard let task = tasks[id], task.state != .ended else { return false }
        guard task.killAt == nil else {
            if kills, task.killedAt == nil {
                tasks[id]?.killAt = now
                check()
            }
            return true
        }
        guard task.isRun, task.state != .queued else {
            finish(id, .cancelled)
            return true
        }
        tasks[id]?.verdict = .cancelled
        if !kills { tasks[id]?.terminations += 1 }
        let limit = task.state == .dormant ? Int.max : hard(task)
        tasks[id]?.state = .expiring
        tasks[id]?.killAt = kills ? now : min(now + task.grace, limit)
        check()
        return true
    }

    mutating func complete(_ id: Int, isSuccess: Bool) -> Bool {
        guard let task = tasks[id], task.isLive, task.killAt == nil else { return false }
        let late: Outcome = task.isShutdown ? .interrupted : .expired
        let outcome = task.state == .expiring ? late : isSuccess ? .completed : .failed
        guard task.isRun else {
            finish(id, outcome)
            return true
        }
        let limit = task.state == .dormant ? Int.max : hard(task)
        tasks[id]?.verdict = outcome
        tasks[id]?.killAt = min(now + task.grace, limit)
        check()
        return true
    }

    mutating func simulate(_ id: Int) -> Bool {
        guard let task = tasks[id], task.killAt == nil,
            task.state == .running || task.state == .dormant
        else { return false }
        tasks[id]?.ownHard = min(task.ownHard, now + task.grace)
        fire(id)
        check()
        return true
    }

    mutating func drain() {
        isDraining = true
        for id in order {
            guard let task = tasks[id], task.state != .ended else { continue }
            if let killAt = task.killAt {
                guard let killedAt = task.killedAt else { continue }
                tasks[id]?.killAt = min(killAt, max(killedAt + SlowModel.drainWait, now))
                continue
            }
            if task.state == .queued {
                finish(id, .interrupted)
            } else {
                let limit = min(task.ownHard, now + task.grace)
                tasks[id]?.isShutdown = task.state != .expiring || limit < task.ownHard
                tasks[id]?.ownHard = limit
                if task.state != .expiring { fire(id) }
            }
        }
        check()
    }

    mutating func leave(_ holder: UInt64) {
        for id in order where tasks[id]?.holder == holder && tasks[id]?.isLive == true {
            finish(id, .abandoned)
        }
    }

    mutating func exit(_ id: Int, _ exit: ProcessExit) {
        guard let task = tasks[id], task.isMainRunning else { return }
        tasks[id]?.isMainRunning = false
        tasks[id]?.isClockStopped = true
        switch (task.verdict, task.state) {
        case (.overrun?, _):
            if exit != .signal(.kill) { tasks[id]?.verdict = .expired }
        case (.some, _): break
        case (nil, .expiring): tasks[id]?.verdict = task.isShutdown ? .interrupted : .expired
        case (nil, _): tasks[id]?.verdict = exit == .status(0) ? .completed : .failed
        }
        kill(id)
    }

    mutating func move(_ application: String, toBackgroundUntil clock: (until: Int, grace: Int)?) {
        applications[application] = .some(clock)
        guard !isDraining else { return check() }
        for id in order where tasks[id]?.application == application {
            guard let task = tasks[id], task.isLive, task.killAt == nil else { continue }
            if clock == nil, task.state != .dormant {
                tasks[id]?.state = .dormant
                tasks[id]?.pausedAt = now
            } else if clock != nil, task.state == .dormant {
                tasks[id]?.ownHard += now - task.pausedAt
                tasks[id]?.lifetimeEnd += now - task.pausedAt
                tasks[id]?.state = .running
            }
        }
        startQueued()
        check()
    }
}
