import BudgetCore
import Containers
import Testing

@Suite("The memory of a busy hour")
struct CompactionTests {
    @Test("few tasks that are left of many keep what is known of them, in little room")
    func fewAreLeft() throws {
        var clerk = Clerk { $0.tasksPerOwnerMax = 10_000 }
        var ids: [TaskID] = []
        for number in 0..<6000 {
            clerk.now = clerk.now + .milliseconds(1)
            ids.append(try clerk.begin("\(number)", holder: UInt64(1 + number % 3)))
        }
        let kept = ids.indices.filter { $0 % 100 == 7 }.map { ids[$0] }
        let before = kept.map { clerk.task($0) }
        for id in ids where !kept.contains(id) { _ = try clerk.end(id) }
        #expect(clerk.registry.footprint.slotCount < 1000)
        #expect(kept.map { clerk.task($0) } == before)
        #expect(clerk.registry.identifiers(of: Clerk.ann.owner) == kept)
        #expect(clerk.registry.footprint.deadlineCount == kept.count)
        let holder = HolderID(rawValue: 2)
        clerk.call { $0.holderGone(holder, reason: .connectionClosed, at: $1, &$2) }
        let left = kept.filter { clerk.task($0)?.state != .ended }
        #expect(left.count == 40 && !clerk.registry.holds(holder))
        clerk.pass(.seconds(200))
        #expect(left.allSatisfy { clerk.task($0)?.outcome == .overrun })
        let footprint = clerk.registry.footprint
        #expect(footprint.taskCount == 0 && footprint.ownerCount == 0)
    }
}
