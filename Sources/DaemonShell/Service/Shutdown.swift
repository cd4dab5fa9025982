internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Settings
internal import Systemd

/// Ends the daemon: no new work, handlers fire early, one grace, kill; then the last answers. Or leaves the commands that
/// bgtask-executor runs to the next daemon.
final class Shutdown {
    /// What the last calls may take: who has sent more than that does not hold up the stop.
    private static let lastCallsTime = Duration.seconds(1)

    private let core: Core
    private let loop: EventLoop
    private let runners: ProcessRunner
    private let tasks: TaskRunner
    private let store: Persistence
    private let listener: ConnectionListener
    private let scheduler: CallScheduler
    private let status: ServiceStatus
    private let settings: CurrentSettings
    private let executor: ExecutorSync
    private let log: Logger
    private var phase = Phase.serving
    /// Whether commands that bgtask-executor runs go on after the end.
    private(set) var leavesCommands = false

    private enum Phase {
        case serving
        /// The service manager is being asked what is wanted.
        case asking
        /// Until nothing is live any more but commands that go on.
        case handingOver
        /// Until nothing is live any more.
        case draining
        /// The same, and nothing gets a grace.
        case hurrying
        /// Clients are read a last time.
        case lastTurn
    }

    /// What it needs of the others.
    struct Parts {
        let core: Core
        let loop: EventLoop
        let runners: ProcessRunner
        let tasks: TaskRunner
        let store: Persistence
        let listener: ConnectionListener
        let scheduler: CallScheduler
        let status: ServiceStatus
        let settings: CurrentSettings
        let executor: ExecutorSync
        let log: Logger
    }

    init(_ parts: Parts) {
        core = parts.core
        loop = parts.loop
        runners = parts.runners
        tasks = parts.tasks
        store = parts.store
        listener = parts.listener
        scheduler = parts.scheduler
        status = parts.status
        settings = parts.settings
        executor = parts.executor
        log = parts.log
    }

    /// Whether it is to be asked what a stop that was ordered now is to be, which `stop` is called with then.
    func asksForKind() -> Bool {
        // What is kept in memory alone is not there for the next daemon.
        guard case .serving = phase, executor.commandsGoOn,
            settings.settings.store.durability == .commit
        else { return false }
        phase = .asking
        return true
    }

    /// The service manager has said what is wanted, or has not.
    func stop(_ reason: String, _ kind: StopKind) {
        guard case .asking = phase else { return }
        switch kind {
        case .stop:
            phase = .draining
            return drain(reason)
        case .restart: break
        case .unknown(let words): log.say(.stopKindNotTold, [.reason: words])
        }
        phase = .handingOver
        log.say(.handingOver, [.reason: reason])
        beginStop(leavesCommands: true)
    }

    /// Stops. A second order does not wait.
    func stop(_ reason: String) {
        switch phase {
        // The answer comes in a moment.
        case .asking: break
        case .serving:
            phase = .draining
            drain(reason)
        case .handingOver: endGrace(reason)
        case .draining, .hurrying:
            phase = .hurrying
            endGrace(reason)
            tasks.killEvery()
        case .lastTurn: break
        }
    }

    private func endGrace(_ reason: String) {
        log.say(.stoppingNow, [.reason: reason])
        core.update { registry, now, actions in registry.endGrace(at: now, &actions) }
    }

    private func drain(_ reason: String) {
        log.say(.stopping, [.reason: reason])
        beginStop(leavesCommands: false)
    }

    private func beginStop(leavesCommands: Bool) {
        self.leavesCommands = leavesCommands
        status.stopBegins()
        // What is queued is on disk for the daemon after this one, or lost.
        let keepsQueue = settings.settings.store.durability == .commit
        core.update { registry, now, actions in
            registry.drain(
                keepsQueue: keepsQueue, leavesCommands: leavesCommands, at: now, &actions)
        }
        status.stopping()
    }

    /// Ends the loop once nothing is live any more and every call that came has its answer.
    ///
    /// - Parameter serve: reads what clients have sent, and takes the calls.
    func finishIfDrained(serve: () throws -> Void) {
        let isHurrying: Bool
        switch phase {
        case .serving, .asking, .lastTurn: return
        case .draining, .handingOver: isHurrying = false
        case .hurrying: isHurrying = true
        }
        guard core.registry.awaitedCount == 0 || isHurrying,
            !runners.haveProcesses(leavesCommands: leavesCommands),
            core.registry.awaitedApplicationCount == 0 || isHurrying,
            !(leavesCommands && executor.isAwaited),
            !store.isAwaited()
        else { return }
        phase = .lastTurn
        // New ones are left to the daemon after this one.
        listener.close()
        takeLastCalls(serve)
        loop.exit(0)
    }

    /// Answers what clients sent before the end, as far as it fits into their buffers and into `lastCallsTime`.
    private func takeLastCalls(_ serve: () throws -> Void) {
        let until = Instant.measured() + Self.lastCallsTime
        do {
            try serve()
        } catch {
            log.say(.lastCallsNotRead, [.reason: "\(error)"])
        }
        repeat {
            core.advance()
            scheduler.takeCalls()
            core.finish()
        } while scheduler.waitingCount > 0 && Instant.measured() < until
        guard scheduler.waitingCount > 0 else { return }
        log.say(.lastCallsNotTaken, [.reason: "\(scheduler.waitingCount) connections"])
    }
}
