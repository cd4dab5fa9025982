import BudgetCore
import Testing

@Suite("What one owner may have of the slots")
struct SlotShareTests {
    private static let front = ApplicationKey(owner: Clerk.ann.owner, id: "front")

    private static func clerk(slots: Int = 4, share: Int? = 3) -> Clerk {
        Clerk {
            $0.slots = slots
            $0.slotsPerOwnerMax = share
        }
    }

    private static func submission(by caller: Caller = Clerk.ann) -> Submission {
        var submission = Clerk.submission(by: caller)
        submission.application = "front"
        return submission
    }

    private static func move(_ clock: ApplicationClock?, _ clerk: inout Clerk) {
        clerk.call { $0.applicationMoved(front, to: clock, at: $1, &$2) }
    }

    @Test("an owner at the share waits for it, and the turn goes to the next")
    func share() throws {
        var clerk = Self.clerk()
        let anns = try (0..<5).map { _ in try clerk.queue() }
        #expect(clerk.states(anns) == [.running, .running, .running, .queued, .queued])
        #expect(clerk.hold(anns[3]) == .slotsPerOwnerMax(3))
        let bobs = try (0..<2).map { _ in try clerk.queue(by: Clerk.bob) }
        #expect(clerk.states(bobs) == [.running, .queued])
        #expect(clerk.hold(bobs[1]) == .slots(4))
        #expect(clerk.hold(anns[3]) == .slotsPerOwnerMax(3))
        clerk.finish(anns[0])
        #expect(clerk.states(anns + bobs).count { $0 == .running } == 4)
        #expect(clerk.states(bobs) == [.running, .running])
    }

    @Test("the uids that are given to a user have one share and one turn with the user")
    func subordinates() throws {
        var clerk = Self.clerk()
        let own = (0..<9).map { Caller(owner: OwnerID(rawValue: 100_000 + $0)) }
        clerk.registry.replaceAccounts(
            Accounts([.init(uids: 100_000...165_535, user: Clerk.ann.owner)]))
        let anns = try own[..<5].map { try clerk.queue(by: $0) } + [try clerk.queue()]
        #expect(clerk.states(anns).count { $0 == .running } == 3)
        #expect(clerk.hold(anns[3]) == .slotsPerOwnerMax(3))
        let bobs = try (0..<3).map { _ in try clerk.queue(by: Clerk.bob) }
        #expect(clerk.states(bobs) == [.running, .queued, .queued])
        // Somebody new among them does not go before who has less.
        let new = try own[5...].map { try clerk.queue(by: $0) }
        clerk.finish(anns[0])
        #expect(clerk.states(bobs) == [.running, .running, .queued])
        #expect(clerk.states(new).allSatisfy { $0 == .queued })
    }

    @Test("left out, the share is all slots, and those are what is waited for")
    func noShare() throws {
        var clerk = Self.clerk(slots: 2, share: nil)
        let ids = try (0..<3).map { _ in try clerk.queue() }
        #expect(clerk.states(ids) == [.running, .running, .queued])
        let found = try clerk.registry.explain(ids[2], for: Clerk.ann, at: clerk.now)
        #expect(found.map(\.rule) == ["slots"])
    }

    @Test("root's share is a number of its own")
    func root() throws {
        var clerk = Self.clerk(share: 1)
        let all = try (0..<2).map { _ in try clerk.queue(by: Clerk.root) }
        #expect(clerk.states(all) == [.running, .running])
        clerk.call {
            $0.limits.slotsOfRootMax = 2
            $0.limitsChanged(at: $1, &$2)
        }
        let third = try clerk.queue(by: Clerk.root)
        #expect(clerk.hold(third) == .slotsPerOwnerMax(2))
    }

    @Test("the dormant take no slot and count in the share; back from the front they take one")
    func dormant() throws {
        var clerk = Self.clerk(slots: 4, share: 3)
        Self.move(.foreground, &clerk)
        let anns = try (0..<5).map { _ in try clerk.submit(Self.submission()) }
        #expect(clerk.states(anns) == [.dormant, .dormant, .dormant, .queued, .queued])
        #expect(clerk.hold(anns[3]) == .slotsPerOwnerMax(3))
        let others = try [Clerk.bob, Clerk.bob, Clerk.bob, Clerk.root, Clerk.root].map {
            try clerk.queue(by: $0)
        }
        #expect(clerk.states(others) == [.running, .running, .running, .running, .queued])
        // More run than there are slots, and nothing new starts until there are as many again.
        Self.move(nil, &clerk)
        #expect(clerk.states(anns).prefix(3) == [.running, .running, .running])
        for id in others.prefix(3) { clerk.finish(id) }
        #expect(clerk.task(others[4])?.state == .queued)
        clerk.finish(others[3])
        #expect(clerk.task(others[4])?.state == .running)
    }

    @Test("a command that becomes dormant gives the slot of its group back as well")
    func dormantInGroup() throws {
        var clerk = Self.clerk()
        clerk.registry.limits.groupSlots = ["net": 1]
        var submission = Self.submission()
        submission.queueing.group = "net"
        _ = try clerk.submit(submission)
        let bob = try clerk.queue(by: Clerk.bob) { $0.group = "net" }
        #expect(clerk.task(bob)?.state == .queued)
        Self.move(.foreground, &clerk)
        #expect(clerk.task(bob)?.state == .running)
    }

    @Test("who is told to end while dormant takes a slot again")
    func cancelledDormant() throws {
        var clerk = Self.clerk(slots: 1, share: 1)
        Self.move(.foreground, &clerk)
        let id = try clerk.submit(Self.submission())
        try clerk.cancel(id)
        let bob = try clerk.queue(by: Clerk.bob)
        #expect(clerk.hold(bob) == .slots(1))
        clerk.finish(id)
        #expect(clerk.task(bob)?.state == .running)
    }

    @Test("a caller sees of a group what is the caller's own, and an operator sees all")
    func groups() throws {
        var clerk = Self.clerk()
        clerk.registry.limits.groupSlots = ["net": 1]
        for caller in [Clerk.ann, Clerk.bob, Clerk.bob] {
            _ = try clerk.queue(by: caller) { $0.group = "net" }
        }
        let callers = [Clerk.ann, Clerk.bob, Clerk.root, Clerk.rootWithAll]
        let uses = callers.map { clerk.registry.groups(for: $0).first?.use }
        #expect(uses.map { $0?.runningCount } == [1, 0, 0, 1])
        #expect(uses.map { $0?.queuedCount } == [0, 2, 0, 2])
    }
}
