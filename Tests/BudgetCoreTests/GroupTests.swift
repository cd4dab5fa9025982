import BudgetCore
import Testing

@Suite("docs/architecture.md, rule 23: slots, groups and priorities")
struct GroupTests {
    @Test("rule 23: a group has slots of its own; who waits for them lets others pass")
    func groupSlots() throws {
        var clerk = Clerk {
            $0.slots = 3
            $0.groupSlots = ["net": 1]
        }
        let first = try clerk.queue { $0.group = "net" }
        let second = try clerk.queue { $0.group = "net" }
        let other = try clerk.queue()
        #expect(clerk.states([first, second, other]) == [.running, .queued, .running])
        #expect(clerk.hold(second) == .groupSlots(1, group: "net"))
        clerk.finish(other)
        #expect(clerk.task(second)?.state == .queued)
        clerk.finish(first)
        #expect(clerk.task(second)?.state == .running)
    }

    @Test("rule 23: a group takes slots of the daemon, and no more than there are")
    func daemonSlots() throws {
        var clerk = Clerk {
            $0.slots = 2
            $0.groupSlots = ["net": 5]
        }
        let ids = try (0..<3).map { _ in try clerk.queue { $0.group = "net" } }
        #expect(clerk.states(ids) == [.running, .running, .queued])
        #expect(clerk.hold(ids[2]) == .slots(2))
        #expect(clerk.registry.groups(for: Clerk.rootWithAll).first?.use.runningCount == 2)
        #expect(clerk.registry.groups(for: Clerk.rootWithAll).first?.use.queuedCount == 1)
    }

    @Test("rule 23: of one owner's tasks the higher priority goes first, then who came first")
    func priority() throws {
        var clerk = Clerk { $0.slots = 1 }
        let first = try clerk.queue()
        let ids = try [0, 5, 5, -3, 9].map { priority in
            try clerk.queue { $0.priority = priority }
        }
        let served = clerk.serveAll(of: [first] + ids)
        #expect(served == [first, ids[4], ids[1], ids[2], ids[0], ids[3]])
    }

    @Test("rule 23: a priority counts also where the higher one waits behind other conditions")
    func priorityAcrossGates() throws {
        var clerk = Clerk {
            $0.slots = 1
            $0.groupSlots = ["net": 1]
        }
        clerk.conditions(.network)
        let first = try clerk.queue()
        let plain = try clerk.queue()
        let group = try clerk.queue {
            $0.group = "net"
            $0.priority = 1
        }
        let network = try clerk.queue {
            $0.conditions = .network
            $0.priority = 2
        }
        let served = clerk.serveAll(of: [first, plain, group, network])
        #expect(served == [first, network, group, plain])
    }

    @Test("new limits start what they let start, and stop nothing")
    func reload() throws {
        var clerk = Clerk {
            $0.slots = 1
            $0.groupSlots = ["net": 1]
        }
        let ids = try (0..<4).map { number in
            try clerk.queue { $0.group = number < 3 ? "net" : nil }
        }
        clerk.call {
            $0.limits.slots = 3
            $0.limitsChanged(at: $1, &$2)
        }
        #expect(clerk.states(ids) == [.running, .queued, .queued, .running])
        clerk.call {
            $0.limits.groupSlots = [:]
            $0.limitsChanged(at: $1, &$2)
        }
        #expect(clerk.states(ids) == [.running, .running, .queued, .running])
        clerk.call {
            $0.limits.slots = 1
            $0.limitsChanged(at: $1, &$2)
        }
        #expect(clerk.states(ids) == [.running, .running, .queued, .running])
        clerk.finish(ids[0])
        clerk.finish(ids[1])
        #expect(clerk.task(ids[2])?.state == .queued)
        clerk.finish(ids[3])
        #expect(clerk.task(ids[2])?.state == .running)
    }

    @Test("values out of their range are refused by name")
    func ranges() throws {
        var clerk = Clerk()
        let wrong: [(String, (inout Queueing) -> Void)] = [
            ("priority", { $0.priority = 1001 }),
            ("priority", { $0.priority = -1001 }),
            ("earliestBeginMs", { $0.earliestBegin = .seconds(-1) }),
            ("minimumIntervalMs", { $0.minimumInterval = .seconds(367 * 86_400) }),
            ("retry.delayMs", { $0.retry = Retry(attempts: 2, delay: .seconds(-1)) }),
            ("retry.attempts", { $0.retry = Retry(attempts: 0) }),
            ("retry.attempts", { $0.retry = Retry(attempts: 101) }),
        ]
        for (name, configure) in wrong {
            #expect(throws: Refusal.invalidParameter(name)) { try clerk.queue("upload", configure) }
        }
        #expect(clerk.registry.queuedCount == 0)
    }

    // MARK: - Pausing

    @Test("a group is paused once that is on disk, and then starts nothing until it is resumed")
    func pause() throws {
        var clerk = Clerk { $0.groupSlots = ["net": 2] }
        let running = try clerk.queue { $0.group = "net" }
        clerk.disk = .waits
        #expect(try clerk.pause("net") == true)
        #expect(clerk.steps == [.groupPaused("net", true)])
        #expect(clerk.registry.groups(for: Clerk.rootWithAll).first?.isPaused == false)
        clerk.finishWriting()
        #expect(clerk.latest == [.answerGroup("net", nil)])
        #expect(clerk.registry.groups(for: Clerk.rootWithAll).first?.isPaused == true)
        clerk.disk = .writes
        let waiting = try clerk.queue { $0.group = "net" }
        let other = try clerk.queue()
        #expect(clerk.states([running, waiting, other]) == [.running, .queued, .running])
        #expect(clerk.hold(waiting) == .paused(group: "net"))
        #expect(try clerk.pause("net") == false)
        #expect(try clerk.pause("net", false) == true)
        #expect(clerk.task(waiting)?.state == .running)
    }

    @Test("a pause that the disk refuses is refused, and changes nothing")
    func pauseRefused() throws {
        var clerk = Clerk { $0.groupSlots = ["net": 2] }
        clerk.disk = .fails
        #expect(try clerk.pause("net") == true)
        #expect(clerk.latest == [.answerGroup("net", .notAccepting("the disk is full"))])
        #expect(clerk.registry.groups(for: Clerk.rootWithAll).first?.isPaused == false)
        #expect(throws: Refusal.notAccepting("the disk is full")) { try clerk.pause("net") }
        clerk.disk = .writes
        clerk.heal()
        let id = try clerk.queue { $0.group = "net" }
        #expect(clerk.task(id)?.state == .running)
    }

    @Test("of two orders about a group that wait for the disk the last one counts")
    func pauseTwice() throws {
        var clerk = Clerk { $0.groupSlots = ["net": 2] }
        clerk.disk = .waits
        #expect(try clerk.pause("net") == true)
        #expect(try clerk.pause("net", false) == true)
        clerk.finishWriting()
        #expect(clerk.latest.count { $0 == .answerGroup("net", nil) } == 2)
        #expect(clerk.registry.groups(for: Clerk.rootWithAll).first?.isPaused == false)
    }

    @Test("a group that is not set is refused, for a task and for a pause")
    func unknownGroup() throws {
        var clerk = Clerk { $0.groupSlots = ["net": 2] }
        #expect(throws: Refusal.noSuchGroup("nte")) { try clerk.queue { $0.group = "nte" } }
        #expect(throws: Refusal.noSuchGroup("nte")) { try clerk.pause("nte") }
    }

    @Test(
        "a pause outlives a restart and its group's place in the settings, until it is taken back")
    func pauseRestored() throws {
        var clerk = Clerk { $0.groupSlots = ["net": 2] }
        let task = RestoredTask(7, Clerk.submission { $0.group = "net" })
        clerk.call {
            $0.restore(pausedGroups: ["net"])
            $0.restore([task], at: $1, &$2)
        }
        #expect(clerk.hold(task.id) == .paused(group: "net"))
        clerk.call {
            $0.limits.groupSlots = [:]
            $0.limitsChanged(at: $1, &$2)
        }
        #expect(clerk.hold(task.id) == .paused(group: "net"))
        #expect(throws: Refusal.noSuchGroup("net")) { try clerk.pause("net") }
        #expect(try clerk.pause("net", false))
        #expect(clerk.task(task.id)?.state == .running)
    }

    @Test(
        "of what is restored the highest priority starts first, whatever ran before it in the list")
    func restoredOrder() throws {
        var clerk = Clerk { $0.slots = 1 }
        let tasks = [
            RestoredTask(7, Clerk.submission()),
            RestoredTask(8, Clerk.submission(), begunAt: clerk.now),
            RestoredTask(9, Clerk.submission { $0.priority = 1 }),
        ]
        clerk.call { $0.restore(tasks, at: $1, &$2) }
        #expect(clerk.ordered == [.ended(tasks[1].id), .started(tasks[2].id)])
        #expect(clerk.registry.identifiers(of: Clerk.ann.owner) == [tasks[0].id, tasks[2].id])
    }
}
