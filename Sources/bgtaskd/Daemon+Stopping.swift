internal import BudgetCore
internal import Glibc
internal import LinuxSystem
internal import Settings
internal import Systemd
internal import Varlink

extension Daemon {
    /// Reload and stop by signals; they are blocked here, before any thread is started.
    static func addSignals(to loop: EventLoop, _ daemon: @escaping () -> Daemon?) throws {
        try loop.addSignal(SIGTERM) { _ in daemon()?.stop("SIGTERM") }
        try loop.addSignal(SIGINT) { _ in daemon()?.stop("SIGINT") }
        try loop.addSignal(SIGHUP) { _ in daemon()?.reloadBySignal() }
    }

    /// Stops: no new work, handlers fire early, one grace, kill. A second order does not wait.
    func stop(_ reason: String) {
        stopSignals += 1
        let now = now
        if stopSignals > 1 {
            log.say(.stoppingNow, [.reason: "\(reason)"])
            registry.endGrace(at: now, &actions)
            for id in running.keys where !id.isOfApplication { killAll(id, at: now) }
            return endTurn(at: now)
        }
        log.say(.stopping, [.reason: "\(reason)"])
        countsBeforeStop = registry.counts
        registry.drain(keepsQueue: keepsQueue, at: now, &actions)
        tellStopping(at: now)
        endTurn(at: now)
    }

    /// Ends the loop once nothing is live any more and every call that came has its answer.
    func finishDraining() {
        guard registry.begunCount == 0 || stopSignals > 1, !hasProcesses, !isLastTurn,
            registry.runningApplicationCount == 0 || stopSignals > 1,
            !waitsForStore()
        else { return }
        isLastTurn = true
        takeLastCalls()
        loop.exit(0)
    }

    /// Whether tasks have processes; those whose end is decided have none, and may wait for the disk.
    private var hasProcesses: Bool {
        running.keys.contains { registry.record($0)?.run?.conclusion == nil }
    }

    /// Whether something is still on its way to the disk, which gets some seconds for it.
    private func waitsForStore() -> Bool {
        switch storeWriter.drain(at: now, hasUnstoredEnds: registry.hasUnstoredEnds) {
        case .done: return false
        case .waiting: return true
        case .givenUp:
            log.say(.storeNotWaitedFor)
            return false
        }
    }

    /// Whether what is queued at a stop is on disk for the daemon after this one.
    private var keepsQueue: Bool { loaded.settings.store.durability == .commit }

    /// What the last calls may take: who has sent more than that does not hold up the stop.
    private static let lastCallsTime = Duration.seconds(1)

    /// Answers what clients sent before the end, as far as it fits into their buffers and into
    /// `lastCallsTime`; new ones are left to the daemon after this one.
    private func takeLastCalls() {
        let until = now + Daemon.lastCallsTime
        do {
            try clientsReady()
        } catch {
            log.say(.lastCallsNotRead, [.reason: "\(error)"])
        }
        var now = now
        repeat {
            takeCalls(at: now)
            endTurn(at: now)
            now = self.now
        } while ready.count > 0 && now < until
        guard ready.count > 0 else { return }
        log.say(.lastCallsNotTaken, [.reason: "\(ready.count) connections"])
    }

    private func reloadBySignal() {
        do {
            _ = try reloadSettings()
        } catch {
            log.say(.settingsKept)
        }
        endTurn(at: now)
    }

    /// What is left to do after the loop: the last answers, the group, the socket, the journal.
    func shutDown() {
        for client in clients.all where client.connection.pendingOutputCount > 0 {
            client.send()
        }
        // A disk that was waited for in vain has been told of.
        if !storeWriter.isGivenUp {
            let isClosed =
                historyThread.close() && storeThread.close(used: registry.identifierLast)
            if !isClosed || registry.unstoredEndCount > 0 { log.say(.storeNotWaitedFor) }
        }
        // Of no task that is waited for: what has left its group or cannot end.
        host.killAll()
        removeGroup()
        closeNotices()
        watched.removeAll()
        tellStopped()
        log.say(.stopped)
    }

    /// Removes the control group that holds all tasks, once none is left.
    func removeGroup() {
        if case .cgroup(let tree) = host.containment {
            do {
                try tree.remove()
                try TreeRecord(stateFolder: configuration.stateFolder).write(nil)
            } catch {
                log.say(.groupNotRemoved, [.reason: "\(error)"])
            }
        }
    }
}
