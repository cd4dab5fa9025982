internal import BudgetCore
internal import Containers
internal import LinuxSystem
internal import TaskAPI
internal import TaskStore

/// What has been counted since the start and how things stand, in the form that monitoring systems scrape.
///
/// Names, units and meanings are in docs/monitoring.md. A label has words of ours or the name of a group of the settings,
/// and nothing that a user chooses, so that nobody can make more of them.
struct Statistics {
    /// What stays as it is while the daemon runs.
    struct Build {
        let labels: [String: String]
        let startSeconds: Int
        /// How long the loop may be stuck until systemd starts the daemon anew; 0 without a watchdog.
        let watchdogSeconds: Int

        init(_ configuration: Configuration, _ containment: Containment) {
            labels = [
                "version": Version.current, "scope": configuration.scope.rawValue,
                "containment": "\(containment)",
            ]
            startSeconds = Int(WallClock.now().microseconds / 1_000_000)
            watchdogSeconds =
                configuration.environment["WATCHDOG_USEC"].flatMap { Int($0) }
                .map { $0 / 1_000_000 } ?? 0
        }
    }

    let core: Core
    let pool: ConnectionPool
    let listener: ConnectionListener
    let streams: ReplyStreams
    let refusals: RefusalLog
    let pressure: MemoryPressureMonitor
    let output: OutputPump
    let disk: StoreThread
    let faults: FaultLog
    let build: Build

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
    func all() -> (counters: [Manager.Counter], histograms: [Manager.Histogram]) {
        let disk = disk.statistics()
        let counters =
            daemon + connections + tasks + ended + queue + groups + applications + store(disk)
        return (counters, histograms(disk))
    }

    /// How things stand that no whole number tells.
    func gauges() -> [Manager.Gauge] {
        pressure.readings.flatMap { place, pressure in
            [("some", pressure.some), ("full", pressure.full)].map { stalled, hundredths in
                var gauge = Manager.Gauge()
                gauge.name = "bgtaskd_memory_pressure_ratio"
                gauge.help =
                    "How much of the last ten seconds some or all processes waited for memory."
                gauge.labels = ["place": place, "stalled": stalled]
                gauge.value = Double(hundredths) / 10_000
                return gauge
            }
        }
    }

    private func histograms(_ disk: StoreStatistics) -> [Manager.Histogram] {
        let counts = core.registry.counts
        return [
            Manager.Histogram(
                "handler_lateness_seconds", "How long after their deadline handlers fired.",
                counts.handlerLateness),
            Manager.Histogram(
                "limit_lateness_seconds", "How long after their time hard limits were enforced.",
                counts.limitLateness),
            Manager.Histogram(
                "queue_wait_seconds",
                "How long commands that were started had waited since their time had come.",
                counts.queueWait),
            Manager.Histogram(
                "store_commit_seconds", "How long it took to bring changes to the disk.",
                disk.commits),
        ]
    }

    private var daemon: [Manager.Counter] {
        [
            Manager.Counter("build_info", "The daemon that answers.", 1, build.labels),
            Manager.Counter(
                "start_time_seconds", "When the daemon was started, in seconds since 1970.",
                build.startSeconds),
            Manager.Counter(
                "watchdog_interval_seconds",
                "How long the daemon may be stuck until systemd restarts it; 0: for ever.",
                build.watchdogSeconds),
            Manager.Counter(
                "stopping", "Whether the daemon stops and takes no new work.",
                core.registry.isDraining ? 1 : 0),
            Manager.Counter(
                "faults_total", "Mistakes of the daemon's own: what must never happen, and did.",
                faults.count),
        ]
    }

    private var connections: [Manager.Counter] {
        [
            Manager.Counter("calls_total", "Calls received.", pool.callCount),
            Manager.Counter(
                "connections_accepted_total", "Connections accepted.", listener.connectionCount),
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
        let registry = core.registry.counts
        let states = [TaskState.queued, .dormant, .running, .expiring].map { state in
            Manager.Counter(
                "tasks", "Tasks that have not ended, by their state.",
                core.registry.count(of: state), ["state": "\(state)"])
        }
        return states + [
            Manager.Counter(
                "tasks_live", "Tasks that have begun and not ended.", core.registry.liveCount),
            Manager.Counter(
                "tasks_queued", "Tasks that wait for a slot.", core.registry.queuedCount),
            Manager.Counter("begun_total", "Tasks begun.", registry.begunHeld, ["kind": "held"]),
            Manager.Counter("begun_total", "Tasks begun.", registry.begunRun, ["kind": "run"]),
            Manager.Counter(
                "handlers_fired_total", "Expiration handlers run: warnings given.",
                registry.handlersFired),
            Manager.Counter(
                "attempts_ended_total", "Attempts after which a task was queued again.",
                registry.attemptsEnded),
        ]
    }

    private var ended: [Manager.Counter] {
        Outcome.allCases.map { outcome in
            Manager.Counter(
                "ended_total", "Tasks ended.", core.registry.counts[outcome],
                ["outcome": "\(outcome)"])
        }
    }

    private var queue: [Manager.Counter] {
        let standing = core.registry.queueStanding(at: core.now)
        let places = [
            ("ready", standing.readyCount), ("early", standing.earlyCount),
            ("held_back", standing.heldBackCount),
        ]
        return [
            Manager.Counter(
                "slots", "Slots for commands that run at once.", core.registry.limits.slots),
            Manager.Counter("slots_taken", "Slots that are taken.", core.registry.slotsTaken),
        ]
            + places.map { place, count in
                Manager.Counter(
                    "queue_tasks",
                    "Tasks that wait: for a slot or a condition, for their time, or held back.",
                    count, ["place": place])
            } + [
                Manager.Counter(
                    "queue_oldest_wait_seconds",
                    "How long the task has been ready that was submitted first of those that are.",
                    Int(standing.oldestWait.components.seconds))
            ]
    }

    private var groups: [Manager.Counter] {
        let groups = core.registry.groups(for: Caller(owner: .root, seesAll: true))
        func counters(
            _ name: String, _ help: String, _ value: (GroupUse) -> Int
        ) -> [Manager.Counter] {
            groups.map { Manager.Counter(name, help, value($0.use), ["group": $0.name]) }
        }
        return groups.map {
            Manager.Counter("group_slots", "Slots of a group.", $0.slots, ["group": $0.name])
        } + counters("group_slots_taken", "Slots of a group that are taken.", \.slotsTaken)
            + counters("group_tasks_running", "Tasks of a group that have a slot.", \.runningCount)
            + counters("group_tasks_queued", "Tasks of a group that wait.", \.queuedCount)
            + groups.map {
                Manager.Counter(
                    "group_paused", "Whether a group is paused.", $0.isPaused ? 1 : 0,
                    ["group": $0.name])
            }
    }

    private var applications: [Manager.Counter] {
        [
            Manager.Counter(
                "applications_running", "Applications that run.",
                core.registry.runningApplicationCount),
            Manager.Counter(
                "applications_suspended", "Applications that are frozen.",
                core.registry.suspendedApplicationCount),
            Manager.Counter(
                "memory_pressure_signals_total",
                "Signs of the kernel that memory was short, while applications ran.",
                pressure.signalCount),
            Manager.Counter(
                "memory_pressure_kills_total",
                "Suspended applications that were killed since memory was short.",
                core.registry.counts.memoryPressureKills),
        ]
    }

    private func store(_ disk: StoreStatistics) -> [Manager.Counter] {
        var result = [
            Manager.Counter(
                "store_accepts_work", "Whether the store can write, so that new work is taken in.",
                core.registry.storeFault == nil ? 1 : 0),
            Manager.Counter(
                "store_commit_failures_total", "Commits that the disk did not take.",
                disk.failedCommits),
            Manager.Counter(
                "application_spans_dropped_total",
                "Past states of applications that were lost, since too many waited for the disk.",
                disk.droppedSpans),
            Manager.Counter(
                "store_unrecorded_ends", "Ended tasks whose end is not on disk yet.",
                core.registry.unstoredEndCount),
            Manager.Counter(
                "output_memory_bytes", "Kept output of ended tasks, in memory.", output.keptBytes),
            Manager.Counter(
                "output_disk_bytes", "Kept output of ended tasks, on disk.",
                disk.outputBytes),
        ]
        if let use = disk.use {
            result += [
                Manager.Counter("history_tasks", "Ended tasks in the history.", use.endedCount),
                Manager.Counter(
                    "store_size_bytes", "The database of tasks with its log.", use.fileBytes),
            ]
        }
        if let free = disk.use?.freeBytes {
            result.append(
                Manager.Counter(
                    "store_free_bytes", "What the file system of the database has left.", free))
        }
        return result
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

extension Manager.Histogram {
    fileprivate init(_ name: String, _ help: String, _ histogram: Histogram) {
        self.init()
        self.name = "bgtaskd_" + name
        self.help = help
        boundsNs = histogram.bounds.map { Int($0) }
        counts = histogram.counts
        sumNs = Int(histogram.sumNanoseconds)
    }
}
