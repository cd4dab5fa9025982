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
        #expect(clerk.registry.identifiers(of: nil, includingEnded: true) == [kept] + ids.suffix(9))
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
        #expect(clerk.registry.identifiers(of: nil, includingEnded: true) == Array(ids.suffix(4)))
    }

    @Test("ids are told a few at a time, in ascending order, of one owner and of all")
    func batches() throws {
        var clerk = Clerk { $0.endedHeldMax = 400 }
        var ids: [Caller: [TaskID]] = [:]
        for number in 0..<1000 {
            let caller = number % 3 == 0 ? Clerk.bob : Clerk.ann
            let id = try clerk.begin(by: caller)
            if number % 4 == 1 { _ = try clerk.end(id, by: caller) }
            ids[caller, default: []].append(id)
        }
        let all = ids.values.joined().sorted()
        let cases: [(OwnerID?, [TaskID])] = [
            (nil, all), (Clerk.ann.owner, ids[Clerk.ann] ?? []),
            (Clerk.bob.owner, ids[Clerk.bob] ?? []),
        ]
        for (owner, wanted) in cases {
            for includingEnded in [false, true] {
                var found: [TaskID] = []
                while true {
                    let next = clerk.registry.identifiers(
                        of: owner, after: found.last ?? .invalid, includingEnded: includingEnded,
                        countMax: 7)
                    found += next
                    guard next.count == 7 else { break }
                }
                let live = wanted.filter { clerk.task($0)?.state != .ended }
                #expect(found == (includingEnded ? wanted : live))
            }
        }
    }
}
