import BudgetCore
import Testing

@Suite("docs/architecture.md, pairing")
struct PairingTests {
    @Test("rule 1: begin returns ids above zero that are never used again")
    func identifiersAreUnique() throws {
        var clerk = Clerk()
        var seen: Set<TaskID> = []
        for _ in 0..<3000 {
            let id = try clerk.begin()
            #expect(id.rawValue > 0)
            #expect(seen.insert(id).inserted)
            #expect(try clerk.end(id) == .completed)
        }
    }

    @Test("rule 1: ids never leave the range that is reserved on disk")
    func identifiersStayReserved() throws {
        var registry = BackgroundTaskRegistry(
            limits: RegistryLimits(), profiles: Clerk.profiles, identifiers: 41...42)
        var actions: [Action] = []
        let now = Instant(nanoseconds: 5)
        let request = BeginRequest(
            name: "a", owner: Clerk.ann.owner, holder: HolderID(rawValue: 1))
        #expect(try registry.begin(request, at: now, &actions).rawValue == 41)
        let end = TaskID(rawValue: 42 + 4096)
        #expect(actions.first == .store(.identifiersReserved(through: end)))
        #expect(try registry.begin(request, at: now, &actions).rawValue == 42)
        #expect(
            throws: Refusal.notAccepting(
                "no task numbers are reserved on disk yet; try again in a moment")
        ) {
            try registry.begin(request, at: now, &actions)
        }
        registry.stored(.identifiersReserved(through: end), at: .init(nanoseconds: 0), &actions)
        #expect(try registry.begin(request, at: now, &actions).rawValue == 43)
        #expect(actions.count { $0 == .store(.identifiersReserved(through: end)) } == 1)
    }

    @Test("rule 2: an ended task ends once, and no handler fires after it")
    func endsOnce() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        _ = try clerk.end(id)
        clerk.pass(.seconds(1000))
        #expect(clerk.count(.ended, id) == 1)
        #expect(clerk.count(.handlerFired, id) == 0)
        #expect(clerk.registry.nextDeadline == nil)
    }

    @Test("rule 3: an end before the handler is due: it never fires")
    func endBeforeHandler() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        clerk.pass(.seconds(175) - .nanoseconds(1))
        #expect(try clerk.end(id) == .completed)
        #expect(clerk.count(.handlerFired, id) == 0)
    }

    @Test("rule 3: an end inside the handler's window is expired, without a kill")
    func endInsideWindow() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        clerk.pass(.seconds(175))
        #expect(clerk.count(.handlerFired, id) == 1)
        clerk.pass(.seconds(5) - .nanoseconds(1))
        #expect(try clerk.end(id) == .expired)
        #expect(!clerk.history.contains(.killAll(id)))
    }

    @Test("rule 3: an end at the hard limit is too late, also where the timer was not yet served")
    func endAtHardLimit() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        clerk.now = clerk.now + .seconds(180)
        #expect(try clerk.end(id) == .overrun)
        #expect(clerk.count(.ended, id) == 1)
    }

    @Test("rule 4: N begins and one end leave N - 1")
    func pairsAreCounted() throws {
        var clerk = Clerk()
        let ids = try (0..<7).map { _ in try clerk.begin() }
        _ = try clerk.end(ids[3])
        #expect(clerk.registry.liveCount == 6)
        #expect(clerk.registry.identifiers(of: nil) == ids.filter { $0 != ids[3] })
    }

    @Test("rule 4: what remains of a run task is killed before its end is recorded")
    func remainsAreKilledFirst() throws {
        var clerk = Clerk()
        let id = try clerk.run()
        clerk.exit(id, .status(0))
        #expect(clerk.latest == [.killAll(id)])
        #expect(clerk.task(id)?.state == .running)
        clerk.gone(id)
        #expect(clerk.latest == [.tell(.ended, id)])
        #expect(clerk.task(id)?.outcome == .completed)
    }

    @Test("rule 4: the end of an own ended task answers with its outcome and changes nothing")
    func endOfEnded() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        clerk.pass(.seconds(176))
        _ = try clerk.end(id)
        let before = clerk.task(id)
        clerk.pass(.seconds(60))
        #expect(try clerk.end(id) == .expired)
        #expect(clerk.latest.isEmpty)
        #expect(clerk.task(id) == before)
    }

    @Test("rule 4: the end of an unknown id is refused, of 0 it is a no-op")
    func endOfUnknown() throws {
        var clerk = Clerk()
        #expect(throws: Refusal.noSuchTask(TaskID(rawValue: 9))) {
            try clerk.end(TaskID(rawValue: 9))
        }
        #expect(try clerk.end(.invalid) == nil)
        #expect(clerk.latest.isEmpty)
    }

    @Test("rule 4: the end of a running command is its own, not its owner's")
    func endOfRunTask() throws {
        var clerk = Clerk()
        let id = try clerk.run()
        #expect(throws: Refusal.self) { try clerk.end(id) }
        #expect(clerk.task(id)?.state == .running)
    }

    @Test("rule 5: another's id looks like one that never was", arguments: [false, true])
    func foreignIdentifiers(isEnded: Bool) throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        if isEnded { _ = try clerk.end(id) }
        let refusal = Refusal.noSuchTask(id)
        #expect(throws: refusal) { try clerk.end(id, by: Clerk.bob) }
        #expect(throws: refusal) { try clerk.extend(id, by: Clerk.bob) }
        #expect(throws: refusal) { try clerk.cancel(id, by: Clerk.bob) }
        #expect(throws: refusal) { try clerk.registry.record(id, for: Clerk.bob) }
        #expect(throws: refusal) {
            try clerk.registry.explain(id, for: Clerk.bob, at: clerk.now)
        }
        #expect(throws: refusal) {
            try clerk.call {
                try $0.simulateExpiration(id, by: Clerk.bob, at: $1, &$2)
            }
        }
        #expect(clerk.registry.identifiers(of: Clerk.bob.owner).isEmpty)
        #expect(clerk.registry.identifiers(of: Clerk.bob.owner, includingEnded: true).isEmpty)
    }

    @Test("rule 5: root sees and orders what is another's with all, and else nothing of it")
    func operators() throws {
        var clerk = Clerk()
        let id = try clerk.begin()
        #expect(throws: Refusal.noSuchTask(id)) {
            try clerk.registry.record(id, for: Clerk.root)
        }
        #expect(throws: Refusal.noSuchTask(id)) { try clerk.cancel(id, by: Clerk.root) }
        #expect(throws: Refusal.noSuchTask(id)) { try clerk.end(id, by: Clerk.rootWithAll) }
        #expect(try clerk.registry.record(id, for: Clerk.rootWithAll).task.id == id)
        try clerk.cancel(id, by: Clerk.rootWithAll)
        #expect(clerk.task(id)?.outcome == .cancelled)
    }

    @Test("a holder that goes away abandons what it held, and nothing else")
    func abandoned() throws {
        var clerk = Clerk()
        let mine = try clerk.begin(holder: 1)
        let also = try clerk.begin(holder: 1)
        let other = try clerk.begin(holder: 2)
        clerk.call {
            $0.holderGone(
                HolderID(rawValue: 1), reason: .connectionClosed, at: $1, &$2)
        }
        #expect(clerk.latest == [.tell(.ended, mine), .tell(.ended, also)])
        #expect(clerk.task(mine)?.outcome == .abandoned)
        #expect(clerk.task(other)?.state == .running)
    }

    @Test("a holder that held very much abandons it in pieces, each task once")
    func abandonedInPieces() throws {
        var clerk = Clerk()
        let ids = try (0..<5).map { _ in try clerk.begin(holder: 1) }
        var isDone: [Bool] = []
        var told: [Action] = []
        while isDone.last != true {
            clerk.call {
                var allowance = 2
                isDone.append(
                    $0.holderGone(
                        HolderID(rawValue: 1), reason: .connectionClosed, allowance: &allowance,
                        at: $1, &$2))
            }
            told += clerk.latest
        }
        #expect(isDone == [false, false, true])
        #expect(told == ids.map { .tell(.ended, $0) })
    }

    @Test("ended held tasks stay known within their limit, the newest longest")
    func endedRing() throws {
        var clerk = Clerk { $0.endedHeldMax = 3 }
        let ids = try (0..<5).map { _ in
            let id = try clerk.begin()
            _ = try clerk.end(id)
            return id
        }
        #expect(clerk.registry.identifiers(of: nil, includingEnded: true) == Array(ids.suffix(3)))
        #expect(throws: Refusal.noSuchTask(ids[0])) { try clerk.end(ids[0]) }
        #expect(try clerk.end(ids[4]) == .completed)
    }
}
