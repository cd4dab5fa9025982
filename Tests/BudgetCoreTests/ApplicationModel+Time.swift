import BudgetCore

extension ApplicationModel {
    mutating func advance(_ ticks: Int) {
        for _ in 0..<ticks {
            now += 1
            check()
        }
    }

    /// Everything that is due in this tick, until nothing is.
    mutating func check() {
        var turns = 0
        while turns < 1000, checkApps() || checkDeferred() || checkTasks() { turns += 1 }
    }

    private mutating func checkApps() -> Bool {
        for name in names {
            let app = app(name)
            if let killAt = app.killAt, killAt <= now {
                if app.isKilled, isDraining, app.isAdopted || now - app.killedAt >= 5 {
                    release(name)
                } else {
                    kill(name)
                }
                return true
            }
            if let thawAt = app.thawAt, thawAt <= now {
                thaw(name)
                return true
            }
            if let limitAt = app.freezeLimitAt, limitAt <= now {
                apps[name]?.freezeHasFailed = true
                thaw(name)
                return true
            }
            if app.owed.contains(where: { $0 <= now }) {
                end(name, .messageOverrun)
                return true
            }
            if let suspendAt = app.suspendAt, suspendAt <= now {
                apps[name]?.suspendAt = nil
                if app.exitsOnSuspend {
                    end(name, .exitsOnSuspend)
                } else {
                    apps[name]?.phase = .freezing
                    let limitAt = now + ApplicationModel.freezeLimit
                    apps[name]?.freezeLimitAt = limitAt
                }
                return true
            }
        }
        return false
    }

    private mutating func checkDeferred() -> Bool {
        for name in names where app(name).deferredCount > 0 && mayWake(name) {
            apps[name]?.deferredCount -= 1
            if app(name).phase != .ending { send(name, isSilent: true) }
            return true
        }
        return false
    }

    private mutating func checkTasks() -> Bool {
        for name in names {
            let app = app(name)
            for (id, task) in app.tasks.sorted(by: { $0.key < $1.key })
            where task.dormantSince == nil {
                let (handler, hard, isShared) = app.limits(of: task)
                if !task.hasFired, handler <= now {
                    apps[name]?.tasks[id]?.hasFired = true
                    if isShared, !app.isTold {
                        apps[name]?.isTold = true
                        apps[name]?.tellings += 1
                    }
                    return true
                }
                if hard <= now {
                    if app.state == .background, hard == app.until {
                        let owes = app.owed.contains { $0 <= now }
                        end(name, owes ? .messageOverrun : .backgroundTimeOverrun)
                    }
                    taskEnded(name, id)
                    return true
                }
            }
        }
        return false
    }

    mutating func drain() {
        isDraining = true
        for name in names {
            let app = app(name)
            guard app.phase != .off else { continue }
            if let killAt = app.killAt, app.isKilled {
                apps[name]?.killAt = min(killAt, max(app.killedAt + 5, now))
                continue
            }
            guard app.isAdopted, app.phase != .ending else {
                end(name, .interrupted)
                continue
            }
            switch app.phase {
            case .frozen, .freezing: thaw(name)
            case .thawing: break
            default: release(name)
            }
        }
        let now = now
        for name in names {
            change(name) {
                for (id, task) in $0.tasks {
                    $0.tasks[id]?.ownHard = min(task.ownHard, now + task.grace)
                    $0.tasks[id]?.dormantSince = nil
                    $0.tasks[id]?.hasFired = true
                }
            }
        }
    }

    /// Of those that are suspended the least recently used.
    mutating func press(_ count: Int) -> [String] {
        let suspended = names.filter { app($0).phase == .frozen }
        let chosen = suspended.sorted { app($0).lastUse < app($1).lastUse }.prefix(count)
        for name in names where app(name).phase == .running { apps[name]?.warnings += 1 }
        for name in chosen { end(name, .memoryPressure) }
        return Array(chosen)
    }
}
