import BudgetCore
import Testing

@Suite("What is remembered of ended tasks")
struct EndedTaskTests {
    @Test("one owner's many ended tasks do not push out another's")
    func fairness() throws {
        var clerk = Clerk { $0.endedHeldMax = 10 }
        let kept = try clerk.begin(by: Clerk.bob)
        _ = try clerk.end(kept, by: Clerk.bob)
        var ids: [TaskID] = []
        for _ in 0..<100 {
            ids.append(try clerk.begin())
            _ = try clerk.end(try #require(ids.last))
            clerk.registry.forgetExcess()
        }
        #expect(clerk.registry.record(kept)?.task.outcome == .completed)
        #expect(clerk.registry.endedIdentifiers(of: nil) == [kept] + ids.suffix(9))
    }

    @Test("owners who have as many give in turn, the oldest first")
    func turns() throws {
        var clerk = Clerk { $0.endedHeldMax = 4 }
        let callers = [Clerk.ann, Clerk.bob]
        var ids: [TaskID] = []
        for number in 0..<20 {
            let caller = callers[number % 2]
            ids.append(try clerk.begin(by: caller))
            _ = try clerk.end(ids[number], by: caller)
            clerk.registry.forgetExcess()
        }
        #expect(clerk.registry.endedIdentifiers(of: nil) == Array(ids.suffix(4)))
    }
}
