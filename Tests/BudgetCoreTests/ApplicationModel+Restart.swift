import BudgetCore

extension ApplicationModel {
    /// One daemon follows another: launched applications go on, without what others held for them.
    mutating func restart() {
        for name in names {
            change(name) {
                ($0.tasks, $0.abandoned, $0.owed, $0.messages) = ([:], [], [], [])
                ($0.deferredCount, $0.wakes) = (0, [])
            }
            guard app(name).phase != .off else { continue }
            if app(name).isAdopted { interrupt(name) } else { takeOver(name) }
        }
        let left = names.filter { app($0).phase != .off }
        for name in left.sorted(by: { app($0).lastUse < app($1).lastUse }) { goOn(name) }
    }

    private mutating func takeOver(_ name: String) {
        let now = now
        change(name) {
            $0.awakeUntil = now + ApplicationModel.suspendAfter
            ($0.suspendAt, $0.freezeLimitAt, $0.freezeHasFailed) = (nil, nil, false)
        }
    }

    private mutating func interrupt(_ name: String) {
        forget(name)
        change(name) {
            $0.state = .notRunning
            ($0.suspendAt, $0.freezeLimitAt, $0.verdict) = (nil, nil, nil)
            $0.last = End(reason: .interrupted, held: [], background: nil)
        }
    }

    private mutating func goOn(_ name: String) {
        let now = now
        switch app(name).phase {
        case .off, .starting, .frozen: break
        case .running: planSuspension(name, promptly: false)
        case .freezing:
            apps[name]?.phase = .running
            planSuspension(name, promptly: false)
        case .thawing where app(name).state == .suspended: thaw(name)
        case .thawing: thawed(name)
        case .ending:
            change(name) {
                $0.verdict?.held = []
                if $0.isKilled { ($0.isKilled, $0.killAt) = (false, now) }
            }
        }
    }
}
