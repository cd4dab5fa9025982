import BudgetCore
import Testing

@Suite("docs/architecture.md, rule 32: slots by order")
struct SlotOrderTests {
    private func order(
        _ clerk: inout Clerk, _ slots: Int?, group: String? = nil, isKept: Bool = false
    ) throws {
        try clerk.call {
            try $0.setSlots(
                SlotOrder(group: group, slots: slots), isKept: isKept, at: $1, &$2)
        }
    }

    @Test("rule 32: it holds at once, over a reload too, until it is taken back")
    func order() throws {
        var clerk = Clerk {
            $0.slots = 1
            $0.groupSlots = ["net": 1]
            $0.leavesOneSlot = true
        }
        let ids = try (0..<5).map { _ in try clerk.queue() }
        #expect(clerk.states(ids).count { $0 == .running } == 1)
        try order(&clerk, 4)
        // Nobody has all of them but root.
        #expect(clerk.states(ids).count { $0 == .running } == 3)
        var limits = clerk.registry.limits
        (limits.slots, limits.groupSlots) = (2, ["net": 1])
        let read = limits
        clerk.call { registry, _, _ in registry.replaceLimits(read) }
        #expect(clerk.registry.limits.slots == 4)
        try order(&clerk, 3, group: "net")
        #expect(clerk.registry.limits.groupSlots == ["net": 3])
        try order(&clerk, nil)
        #expect(clerk.registry.limits.slots == 2)
        clerk.call { registry, _, _ in registry.replaceLimits(RegistryLimits()) }
        #expect(clerk.registry.limits.groupSlots == [:])
    }

    @Test("rule 32: one that is kept holds once the disk has it")
    func kept() throws {
        var clerk = Clerk { $0.slots = 1 }
        clerk.disk = .waits
        try order(&clerk, 2, isKept: true)
        #expect(clerk.registry.limits.slots == 1)
        clerk.finishWriting()
        #expect(clerk.registry.limits.slots == 2)
        #expect(clerk.history.contains(.answerSlots(nil, nil)))
        clerk.disk = .fails
        try order(&clerk, 3, isKept: true)
        #expect(clerk.registry.limits.slots == 2)
        #expect(clerk.history.contains(.answerSlots(nil, .notAccepting("the disk is full"))))
        var next = Clerk { $0.slots = 1 }
        next.call { registry, _, _ in registry.restore(slotOrders: SlotOrders([nil: 2])) }
        #expect(next.registry.limits.slots == 2)
    }

    @Test("rule 32: an order that is answered late does not undo the one after it")
    func late() throws {
        var clerk = Clerk { $0.groupSlots = ["net": 1] }
        clerk.disk = .waits
        try order(&clerk, 8, isKept: true)
        try order(&clerk, 2)
        clerk.finishWriting()
        #expect(clerk.registry.limits.slots == 2)
        try order(&clerk, 5, group: "net")
        clerk.call { registry, _, _ in registry.replaceLimits(RegistryLimits()) }
        // It has left the settings, and can still be taken back.
        clerk.disk = .writes
        try order(&clerk, nil, group: "net", isKept: true)
        #expect(throws: Refusal.noSuchGroup("net")) { try order(&clerk, nil, group: "net") }
    }

    @Test("rule 32: a group that is not set and a number out of range are refused")
    func refusals() throws {
        var clerk = Clerk()
        #expect(throws: Refusal.noSuchGroup("net")) { try order(&clerk, 1, group: "net") }
        for slots in [0, 10_001] {
            #expect(throws: Refusal.invalidParameter("slots")) { try order(&clerk, slots) }
        }
    }
}
