import BudgetCore
import Testing

@Suite("docs/architecture.md, rule 30: tasks that take several slots")
struct WideTaskTests {
    @Test(
        "rule 30: it starts when so many are free; its owner's others wait behind it, nobody else does"
    )
    func reservation() throws {
        var clerk = Clerk { $0.slots = 3 }
        let (first, second) = (try clerk.queue(), try clerk.queue())
        let wide = try clerk.queue { $0.slots = 3 }
        let narrow = try clerk.queue()
        #expect(
            clerk.states([first, second, wide, narrow]) == [.running, .running, .queued, .queued])
        #expect(clerk.hold(wide) == .slotsNeeded(3))
        #expect(clerk.hold(narrow) == .slotsReserved)
        let bobs = try clerk.queue(by: Clerk.bob)
        #expect(clerk.task(bobs)?.state == .running)
        clerk.finish(bobs)
        clerk.finish(first)
        #expect(clerk.task(narrow)?.state == .queued)
        clerk.finish(second)
        #expect(clerk.states([wide, narrow]) == [.running, .queued])
        #expect(clerk.hold(narrow) == .slots(3))
        clerk.finish(wide)
        #expect(clerk.task(narrow)?.state == .running)
    }

    @Test("rule 30: those of a group are kept of the group alone")
    func group() throws {
        var clerk = Clerk {
            $0.slots = 6
            $0.groupSlots = ["net": 2]
        }
        let first = try clerk.queue { $0.group = "net" }
        let wide = try clerk.queue {
            $0.group = "net"
            $0.slots = 2
        }
        let narrow = try clerk.queue { $0.group = "net" }
        let other = try clerk.queue()
        #expect(
            clerk.states([first, wide, narrow, other]) == [.running, .queued, .queued, .running])
        #expect(clerk.hold(wide) == .groupSlotsNeeded(2, group: "net"))
        clerk.finish(first)
        #expect(clerk.states([wide, narrow]) == [.running, .queued])
    }

    @Test("rule 30: it counts in its owner's share as so many, and others are served meanwhile")
    func share() throws {
        var clerk = Clerk {
            $0.slots = 4
            $0.slotsPerOwnerMax = 2
        }
        let first = try clerk.queue()
        let wide = try clerk.queue { $0.slots = 2 }
        let narrow = try clerk.queue()
        let bobs = try clerk.queue(by: Clerk.bob)
        #expect(
            clerk.states([first, wide, narrow, bobs]) == [.running, .queued, .queued, .running])
        clerk.finish(first)
        #expect(clerk.states([wide, narrow]) == [.running, .queued])
        #expect(clerk.hold(narrow) == .slotsPerOwnerMax(2))
    }

    @Test(
        "rule 30: more than there are for its owner is refused; where there are fewer later, it takes all"
    )
    func limits() throws {
        var clerk = Clerk {
            $0.slots = 4
            $0.slotsPerOwnerMax = 3
            $0.groupSlots = ["net": 2]
        }
        #expect(throws: Refusal.limitReached(limit: "slots", value: 4)) {
            try clerk.queue { $0.slots = 5 }
        }
        #expect(throws: Refusal.limitReached(limit: "slotsPerOwnerMax", value: 3)) {
            try clerk.queue { $0.slots = 4 }
        }
        #expect(throws: Refusal.limitReached(limit: "groupSlots", value: 2)) {
            try clerk.queue {
                $0.slots = 3
                $0.group = "net"
            }
        }
        #expect(throws: Refusal.invalidParameter("slots")) { try clerk.queue { $0.slots = 0 } }
        let first = try clerk.queue()
        let wide = try clerk.queue { $0.slots = 3 }
        clerk.call {
            $0.limits.slots = 1
            $0.limitsChanged(at: $1, &$2)
        }
        clerk.finish(first)
        #expect(clerk.task(wide)?.state == .running)
    }
}
