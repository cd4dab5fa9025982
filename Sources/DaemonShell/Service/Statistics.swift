internal import BudgetCore
internal import TaskAPI

/// What has been counted since the start, in the form that monitoring systems scrape.
struct Statistics {
    let core: Core
    let pool: ConnectionPool
    let listener: ConnectionListener
    let streams: ReplyStreams
    let refusals: RefusalLog

    /// What one owner may know of the counts: their own.
    func own(_ owner: OwnerID) -> [Manager.Counter] {
        let use = core.registry.use(of: owner)
        return [
            Manager.Counter(
                "connections", "Connections open now.",
                pool.use(ofOwner: owner)?.members.count ?? 0),
            Manager.Counter("tasks_live", "Tasks that have begun and not ended.", use.live),
            Manager.Counter("tasks_queued", "Tasks that wait for a slot.", use.queued),
        ]
    }

    /// Everything counted.
    func all() -> [Manager.Counter] { connections + tasks + ended }

    private var connections: [Manager.Counter] {
        [
            Manager.Counter("calls_total", "Calls received.", pool.callCount),
            Manager.Counter("connections_total", "Connections accepted.", listener.connectionCount),
            Manager.Counter("connections", "Connections open now.", pool.clients.count),
            Manager.Counter(
                "protocol_violations_total", "Connections closed for what they sent.",
                pool.violationCount),
            Manager.Counter(
                "slow_readers_total", "Connections closed for what they left unread.",
                streams.slowReaderCount),
            Manager.Counter(
                "refusals_not_logged_total", "Closed connections that were not logged one by one.",
                refusals.leftOutCount),
            Manager.Counter(
                "events_waited_total", "Events that were written in a later turn than their own.",
                streams.eventsWaitedCount),
        ]
    }

    private var tasks: [Manager.Counter] {
        let counts = core.registry.counts
        return [
            Manager.Counter(
                "tasks_live", "Tasks that have begun and not ended.", core.registry.liveCount),
            Manager.Counter(
                "tasks_queued", "Tasks that wait for a slot.", core.registry.queuedCount),
            Manager.Counter(
                "applications_running", "Applications that run.",
                core.registry.runningApplicationCount),
            Manager.Counter(
                "applications_suspended", "Applications that are frozen.",
                core.registry.suspendedApplicationCount),
            Manager.Counter(
                "begun_total", "Tasks begun.", counts.begunHeld, ["kind": "held"]),
            Manager.Counter("begun_total", "Tasks begun.", counts.begunRun, ["kind": "run"]),
            Manager.Counter(
                "handlers_fired_total", "Expiration handlers run: warnings given.",
                counts.handlersFired),
            Manager.Counter(
                "attempts_ended_total", "Attempts after which a task was queued again.",
                counts.attemptsEnded),
        ]
    }

    private var ended: [Manager.Counter] {
        Outcome.allCases.map { outcome in
            Manager.Counter(
                "ended_total", "Tasks ended.", core.registry.counts[outcome],
                ["outcome": "\(outcome)"])
        }
    }
}

extension Manager.Counter {
    fileprivate init(_ name: String, _ help: String, _ value: Int, _ labels: [String: String] = [:])
    {
        self.init()
        self.name = "bgtaskd_" + name
        self.help = help
        self.value = value
        self.labels = labels
    }
}
