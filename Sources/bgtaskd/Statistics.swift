internal import BudgetCore
internal import TaskAPI

/// What the shell has counted since its start.
struct Statistics {
    var calls = 0
    var connections = 0
    var violations = 0
    var slowReaders = 0
    var refusalsNotLogged = 0
    var eventsWaited = 0
    var statusTimerIsIdle = true

    /// What one owner may know of the counts: their own.
    func counters(of daemon: Daemon, _ owner: OwnerID) -> [Manager.Counter] {
        let use = daemon.registry.use(of: owner)
        return [
            Manager.Counter(
                "connections", "Connections open now.",
                daemon.owners[daemon.accountSource.accounts.account(of: owner)]?.members.count ?? 0),
            Manager.Counter("tasks_live", "Tasks that have begun and not ended.", use.live),
            Manager.Counter("tasks_queued", "Tasks that wait for a slot.", use.queued),
        ]
    }

    /// Everything counted, in the form that monitoring systems scrape.
    func counters(of daemon: Daemon) -> [Manager.Counter] {
        let counts = daemon.registry.counts
        let plain = [
            Manager.Counter("calls_total", "Calls taken.", calls),
            Manager.Counter("connections_total", "Connections accepted.", connections),
            Manager.Counter("connections", "Connections open now.", daemon.clients.count),
            Manager.Counter(
                "protocol_violations_total", "Connections closed for what they sent.", violations),
            Manager.Counter(
                "slow_readers_total", "Connections closed for what they left unread.", slowReaders),
            Manager.Counter(
                "refusals_not_logged_total", "Closed connections not named in the log.",
                refusalsNotLogged),
            Manager.Counter(
                "events_waited_total", "Events that were written in a later turn than their own.",
                eventsWaited),
            Manager.Counter(
                "tasks_live", "Tasks that have begun and not ended.", daemon.registry.liveCount),
            Manager.Counter(
                "tasks_queued", "Tasks that wait for a slot.", daemon.registry.queuedCount),
            Manager.Counter(
                "applications_running", "Applications that run.",
                daemon.registry.runningApplicationCount),
            Manager.Counter(
                "applications_suspended", "Applications that are frozen.",
                daemon.registry.suspendedApplicationCount),
            Manager.Counter(
                "begun_total", "Tasks begun.", counts.begunHeld, ["kind": "held"]),
            Manager.Counter("begun_total", "Tasks begun.", counts.begunRun, ["kind": "run"]),
            Manager.Counter(
                "handlers_fired_total", "Expiration handlers fired.", counts.handlersFired),
            Manager.Counter(
                "attempts_ended_total", "Attempts after which a task was queued again.",
                counts.attemptsEnded),
        ]
        return plain
            + Outcome.allCases.map { outcome in
                Manager.Counter(
                    "ended_total", "Tasks ended.", counts[outcome], ["outcome": "\(outcome)"])
            }
    }
}

extension Manager.Counter {
    init(_ name: String, _ help: String, _ value: Int, _ labels: [String: String] = [:]) {
        self.init()
        self.name = "bgtaskd_" + name
        self.help = help
        self.value = value
        self.labels = labels
    }
}
