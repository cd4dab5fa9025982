import BudgetCore

/// Applications as obviously as possible: plain numbers, every rule looked at in every tick. A tick is 1 s.
struct ApplicationModel {
    static let backgroundTime = 20
    static let grace = 4
    static let suspendAfter = 3
    static let messageTime = 8
    static let freezeLimit = 5
    static let freezeRetry = 10
    static let thawRetry = 10
    static let hour = 3600
    static let wakesPerHour = 3

    enum Phase { case off, starting, running, freezing, frozen, thawing, ending }

    struct Task {
        var ownHard: Int
        let grace: Int
        var dormantSince: Int?
        var hasFired = false
    }

    struct End: Equatable {
        var reason: TerminationReason
        var held: [UInt64]
        var background: Int?
    }

    struct App {
        let hasCommand: Bool
        let exitsOnSuspend: Bool
        var isAdopted = false
        var state = ApplicationState.notRunning
        var phase = Phase.off
        var comesToFront = false
        var leftAt: Int?
        var until: Int?
        var isTold = false
        var tellings = 0
        var warnings = 0
        var suspendAt: Int?
        /// It is not suspended before.
        var awakeUntil = 0
        var freezeLimitAt: Int?
        var freezeHasFailed = false
        var thawAt: Int?
        var killAt: Int?
        var killedAt = 0
        var isKilled = false
        var tasks: [UInt64: Task] = [:]
        var abandoned: [(id: UInt64, at: Int)] = []
        /// When the answers for silent messages are due.
        var owed: [Int] = []
        /// Messages that wait until it is awake; whether each is silent.
        var messages: [Bool] = []
        var deferredCount = 0
        var wakes: [Int] = []
        /// Callbacks for messages that it got.
        var deliveries = 0
        var lastUse = 0
        var hasCrashed = false
        var verdict: End?
        var last: End?

        var isInFront: Bool { state.isInFront }
    }

    var now = 0
    var asleep = 0
    var isSingle = true
    var isDraining = false
    var useLast = 0
    var apps: [String: App] = [:]
    let names = ["a", "b", "c", "d"]

    var boot: Int { now + asleep }

    mutating func change(_ name: String, _ body: (inout App) -> Void) {
        if var app = apps[name] {
            body(&app)
            apps[name] = app
        }
    }

    func app(_ name: String) -> App { apps[name] ?? App(hasCommand: false, exitsOnSuspend: false) }

    private mutating func setState(_ name: String, _ state: ApplicationState) {
        if app(name).isInFront != state.isInFront {
            useLast += 1
            apps[name]?.lastUse = useLast
        }
        apps[name]?.state = state
    }

    // MARK: - Coming and going

    mutating func comeToFront(_ name: String) {
        if isSingle, !app(name).isInFront {
            let others = names.filter { app($0).isInFront && app($0).phase == .running }
            for other in others.sorted(by: { app($0).lastUse < app($1).lastUse }) { leave(other) }
        }
        setState(name, .active)
        let now = now
        change(name) {
            $0.phase = .running
            $0.comesToFront = false
            ($0.leftAt, $0.until, $0.suspendAt, $0.isTold) = (nil, nil, nil, false)
            ($0.freezeHasFailed, $0.awakeUntil) = (false, 0)
            $0.owed = []
            $0.deliveries += $0.messages.count + $0.deferredCount
            ($0.messages, $0.deferredCount) = ([], 0)
            for id in $0.tasks.keys {
                let since = $0.tasks[id]?.dormantSince ?? now
                $0.tasks[id]?.dormantSince = since
                $0.tasks[id]?.hasFired = false
            }
        }
    }

    mutating func leave(_ name: String) {
        setState(name, .background)
        let (now, boot) = (now, boot)
        change(name) {
            $0.leftAt = boot
            $0.until = now + ApplicationModel.backgroundTime
            $0.isTold = false
            $0.resumeTasks(at: now)
        }
        planSuspension(name, promptly: false)
    }

    mutating func planSuspension(_ name: String, promptly: Bool) {
        let now = now
        change(name) {
            guard $0.state == .background, $0.phase == .running else { return }
            let isBusy = !$0.tasks.isEmpty || !$0.owed.isEmpty
            let isPrompt = promptly || $0.exitsOnSuspend
            let buffer = isPrompt ? 0 : ApplicationModel.suspendAfter
            let retry = $0.freezeHasFailed ? ApplicationModel.freezeRetry : 0
            $0.suspendAt = isBusy ? nil : max(now + max(buffer, retry), $0.awakeUntil)
        }
    }

    mutating func wake(_ name: String, toFront: Bool) {
        switch app(name).phase {
        case .off: apps[name]?.phase = .starting
        case .running: if toFront { return comeToFront(name) }
        case .freezing, .frozen: thaw(name)
        default: break
        }
        if toFront { apps[name]?.comesToFront = true }
    }

    mutating func thaw(_ name: String) {
        let now = now
        change(name) {
            $0.phase = .thawing
            $0.freezeLimitAt = nil
            $0.thawAt = now + ApplicationModel.thawRetry
        }
    }

    mutating func thawed(_ name: String) {
        let app = app(name)
        if isDraining { return release(name) }
        apps[name]?.phase = .running
        apps[name]?.thawAt = nil
        if app.comesToFront { return comeToFront(name) }
        if app.state == .suspended {
            apps[name]?.until = now + ApplicationModel.messageTime
            apps[name]?.isTold = false
            setState(name, .background)
        }
        for isSilent in app.messages { deliver(name, isSilent: isSilent) }
        apps[name]?.messages = []
        let isPrompt = app.state == .background && app.messages.isEmpty
        planSuspension(name, promptly: isPrompt)
    }

    mutating func notThawed(_ name: String) {
        if isDraining { return release(name) }
        let now = now
        change(name) {
            ($0.messages, $0.comesToFront) = ([], false)
            if $0.state == .suspended { $0.phase = .frozen }
            $0.thawAt = $0.state == .suspended ? nil : now + ApplicationModel.thawRetry
        }
    }

    // MARK: - Messages

    mutating func deliver(_ name: String, isSilent: Bool) {
        let until = now + ApplicationModel.messageTime
        change(name) {
            $0.deliveries += 1
            if isSilent, !$0.isInFront { $0.owed.append(until) }
        }
    }

    mutating func send(_ name: String, isSilent: Bool) {
        let boot = boot
        change(name) { if isSilent, !$0.isInFront { $0.wakes.append(boot) } }
        guard app(name).phase != .running else {
            deliver(name, isSilent: isSilent)
            return planSuspension(name, promptly: false)
        }
        wake(name, toFront: app(name).state == .notRunning)
        apps[name]?.messages.append(isSilent)
    }

    func mayWake(_ name: String) -> Bool {
        let recent = app(name).wakes.filter { boot - $0 < ApplicationModel.hour }
        return recent.count < ApplicationModel.wakesPerHour
    }

    // MARK: - Ends

    mutating func end(_ name: String, _ reason: TerminationReason) {
        guard app(name).phase != .off, app(name).phase != .ending else { return }
        conclude(name, reason)
        let isSilent = app(name).state == .notRunning || app(name).state == .suspended
        guard !isSilent else { return kill(name) }
        apps[name]?.killAt = now + ApplicationModel.grace
    }

    /// Again after a second, and then ever more slowly, but for what follows from it.
    mutating func kill(_ name: String) {
        let killedAt = app(name).isKilled ? app(name).killedAt : now
        let elapsed = now - killedAt
        var next = min(max(elapsed, 1), 60)
        for mark in [isDraining ? 5 : 0, 30] where mark > elapsed {
            next = min(next, mark - elapsed)
        }
        apps[name]?.isKilled = true
        apps[name]?.killedAt = killedAt
        apps[name]?.killAt = now + next
    }

    mutating func conclude(_ name: String, _ reason: TerminationReason) {
        let (now, boot) = (now, boot)
        change(name) {
            var held = Array($0.tasks.keys)
            if reason == .exited || reason == .crashed {
                held += $0.abandoned.filter { $0.at >= now - 1 }.map(\.id)
            }
            let background = $0.leftAt.map { boot - $0 }
            $0.verdict = End(reason: reason, held: held.sorted(), background: background)
            $0.phase = .ending
            ($0.suspendAt, $0.thawAt, $0.owed, $0.messages) = (nil, nil, [], [])
            ($0.comesToFront, $0.freezeLimitAt) = (false, nil)
        }
    }

    mutating func exited(_ name: String, crashed: Bool) {
        guard app(name).phase != .off else { return }
        if app(name).phase != .ending { conclude(name, crashed ? .crashed : .exited) }
        kill(name)
    }

    mutating func gone(_ name: String) {
        guard app(name).phase != .off else { return }
        if app(name).phase != .ending { conclude(name, .exited) }
        setState(name, .notRunning)
        forget(name)
        change(name) {
            $0.last = $0.verdict
            $0.verdict = nil
        }
    }

    mutating func forget(_ name: String) {
        let now = now
        change(name) {
            $0.phase = .off
            ($0.killAt, $0.leftAt, $0.until, $0.isTold) = (nil, nil, nil, false)
            ($0.messages, $0.deferredCount, $0.abandoned) = ([], 0, [])
            ($0.comesToFront, $0.freezeHasFailed) = (false, false)
            ($0.thawAt, $0.isKilled, $0.awakeUntil) = (nil, false, 0)
            $0.resumeTasks(at: now)
        }
    }

    mutating func release(_ name: String) {
        conclude(name, .interrupted)
        gone(name)
    }

    mutating func taskEnded(_ name: String, _ id: UInt64, isAbandoned: Bool = false) {
        guard apps[name]?.tasks.removeValue(forKey: id) != nil else { return }
        guard app(name).phase != .off else { return }
        if isAbandoned { apps[name]?.abandoned.append((id, now)) }
        planSuspension(name, promptly: true)
    }
}

extension ApplicationModel.App {
    /// When the handler of a task fires, and when the task is over.
    func limits(of task: ApplicationModel.Task) -> (handler: Int, hard: Int, isShared: Bool) {
        let own = task.ownHard - task.grace
        guard state == .background, let until else { return (own, task.ownHard, false) }
        let shared = until - ApplicationModel.grace
        return (min(own, shared), min(task.ownHard, until), shared <= own)
    }

    mutating func resumeTasks(at now: Int) {
        for (id, task) in tasks {
            guard let since = task.dormantSince else { continue }
            tasks[id]?.ownHard += now - since
            tasks[id]?.dormantSince = nil
        }
    }
}
