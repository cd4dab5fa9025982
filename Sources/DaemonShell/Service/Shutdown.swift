internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Settings
internal import Systemd

/// Ends the daemon: no new work, handlers fire early, one grace, kill; then the last answers.
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
    private let log: Logger
    private var phase = Phase.serving

    private enum Phase {
        case serving
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
        log = parts.log
    }

    /// Stops. A second order does not wait.
    func stop(_ reason: String) {
        switch phase {
        case .serving:
            phase = .draining
            drain(reason)
        case .draining, .hurrying:
            phase = .hurrying
            log.say(.stoppingNow, [.reason: reason])
            core.update { registry, now, actions in registry.endGrace(at: now, &actions) }
            tasks.killEvery()
        case .lastTurn: break
        }
    }

    private func drain(_ reason: String) {
        log.say(.stopping, [.reason: reason])
        status.stopBegins()
        // What is queued is on disk for the daemon after this one, or lost.
        let keepsQueue = settings.settings.store.durability == .commit
        core.update { registry, now, actions in
            registry.drain(keepsQueue: keepsQueue, at: now, &actions)
        }
        status.stopping()
    }

    /// Ends the loop once nothing is live any more and every call that came has its answer.
    ///
    /// - Parameter serve: reads what clients have sent, and takes the calls.
    func finishIfDrained(serve: () throws -> Void) {
        let isHurrying: Bool
        switch phase {
        case .serving, .lastTurn: return
        case .draining: isHurrying = false
        case .hurrying: isHurrying = true
        }
        guard core.registry.begunCount == 0 || isHurrying, !runners.haveProcesses,
            core.registry.runningApplicationCount == 0 || isHurrying,
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
