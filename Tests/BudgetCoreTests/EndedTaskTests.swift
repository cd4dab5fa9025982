import BudgetCore
import TestKit
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

    @Test("those of subordinate uids count as their user's, and each is told of its own")
    func subordinates() throws {
        var clerk = Clerk { $0.endedHeldMax = 10 }
        let own = (UInt32(100_000)..<100_100).map { Caller(owner: OwnerID(rawValue: $0)) }
        clerk.registry.replaceAccounts(
            Accounts([.init(uids: 100_000...165_535, user: Clerk.ann.owner)]))
        func end(by caller: Caller) throws -> TaskID {
            let id = try clerk.begin(by: caller)
            _ = try clerk.end(id, by: caller)
            clerk.registry.forgetExcess()
            return id
        }
        func ended(_ caller: Caller) -> [TaskID] {
            clerk.registry.identifiers(of: caller.owner, includingEnded: true)
        }
        let kept = try (0..<5).map { _ in try end(by: Clerk.bob) }
        let anns = try end(by: Clerk.ann)
        #expect(ended(Clerk.ann) == [anns])
        let ids = try own.map { try end(by: $0) }
        #expect(ended(Clerk.bob) == kept)
        #expect(ended(Clerk.ann) == [])
        #expect(own.map(ended) == ids.map { ids.suffix(5).contains($0) ? [$0] : [] })
        // Who they are is another matter from now on: what has ended is found all the same.
        clerk.registry.replaceAccounts(Accounts())
        let last = try end(by: own[99])
        #expect(ended(own[99]) == [ids[99], last])
        for _ in 0..<20 { _ = try end(by: Clerk.bob) }
        #expect(ended(own[99]) == [ids[99], last])
        #expect(clerk.registry.identifiers(of: nil, includingEnded: true).count == 10)
    }

    @Test(
        "whoever counts as whom meanwhile, the user who has most gives, and each is told of its own",
        arguments: 0..<50)
    func accounts(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var clerk = Clerk { $0.endedHeldMax = 12 }
        let owners = (UInt32(1)...8).map { OwnerID(rawValue: $0) }
        var accounts = Accounts()
        var kept: [(id: TaskID, owner: OwnerID, account: OwnerID)] = []
        for _ in 0..<200 {
            if Int.random(in: 0..<20, using: &random) == 0 {
                let first = UInt32.random(in: 3...8, using: &random)
                let user = OwnerID(rawValue: .random(in: 1...2, using: &random))
                accounts = Accounts([.init(uids: first...8, user: user)])
                clerk.registry.replaceAccounts(accounts)
            }
            if Int.random(in: 0..<10, using: &random) == 0 {
                let ids = Set(kept.map(\.id).shuffled(using: &random).prefix(4))
                let caller = Caller(
                    owner: try #require(owners.randomElement(using: &random)),
                    seesAll: Bool.random(using: &random))
                try clerk.call { registry, _, actions in
                    _ = try registry.clean(
                        Array(ids) + [.invalid], stored: [], by: caller, &actions)
                }
                kept.removeAll {
                    ids.contains($0.id) && (caller.seesAll || $0.owner == caller.owner)
                }
            }
            let owner = try #require(owners.randomElement(using: &random))
            let id = try clerk.begin(by: Caller(owner: owner))
            _ = try clerk.end(id, by: Caller(owner: owner))
            clerk.registry.forgetExcess()
            let other = kept.first { $0.owner == owner && $0.account != owner }
            kept.append((id, owner, other?.account ?? accounts.account(of: owner)))
            if kept.count > 12 {
                let queues = Dictionary(grouping: kept, by: \.account).values
                let most = queues.max { ($0.count, $1[0].id) < ($1.count, $0[0].id) }
                kept.removeAll { $0.id == most?[0].id }
            }
            for owner in owners {
                #expect(
                    clerk.registry.identifiers(of: owner, includingEnded: true)
                        == kept.filter { $0.owner == owner }.map(\.id), "seed \(seed)")
            }
        }
    }

    @Test("what is cleaned from among many leaves the others in their order, and room for more")
    func cleanedFromAmongMany() throws {
        var random = SeededGenerator(seed: 1)
        var clerk = Clerk { $0.endedHeldMax = 2000 }
        var ids: [TaskID] = []
        for _ in 0..<2000 {
            ids.append(try clerk.begin())
            _ = try clerk.end(ids[ids.count - 1])
        }
        var kept = ids
        // The newest, the oldest, and any of the others.
        for _ in 0..<10 {
            let cleaned = Array(
                kept.suffix(20) + kept.prefix(20) + kept.shuffled(using: &random).prefix(110))
            try clerk.call { registry, _, actions in
                _ = try registry.clean(cleaned, stored: [], by: Clerk.ann, &actions)
            }
            let gone = Set(cleaned)
            kept.removeAll { gone.contains($0) }
            #expect(clerk.registry.identifiers(of: nil, includingEnded: true) == kept)
            #expect(clerk.registry.footprint.endedCount == kept.count)
        }
        while kept.count < 2005 {
            kept.append(try clerk.begin())
            _ = try clerk.end(kept[kept.count - 1])
        }
        #expect(
            clerk.registry.identifiers(of: nil, includingEnded: true) == Array(kept.suffix(2000)))
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

    @Test("ended tasks are forgotten at an order, once the disk has forgotten them")
    func cleaned() throws {
        var clerk = Clerk()
        let (own, other, live) = (try clerk.run(), try clerk.run(by: Clerk.bob), try clerk.run())
        for id in [own, other] {
            clerk.exit(id, .status(0))
            clerk.gone(id)
        }
        func order(_ ids: [TaskID]) throws {
            try clerk.call { registry, _, actions in
                _ = try registry.clean(ids, stored: [], by: Clerk.ann, &actions)
            }
        }
        #expect(throws: Refusal.notAccepting("task \(live) has not ended")) {
            try order([own, live])
        }
        #expect(throws: Refusal.limitReached(limit: "idsMax", value: 500)) {
            try order(Array(repeating: own, count: 501))
        }
        clerk.disk = .waits
        try order([own, other, own])
        #expect(clerk.ordered.last == .cleaned([own], by: Clerk.ann))
        #expect(clerk.task(own)?.state == .ended)
        clerk.finishWriting()
        #expect(clerk.task(own) == nil)
        #expect(clerk.task(other)?.state == .ended)
        #expect(clerk.history.contains(.answerCleaning(by: Clerk.ann.owner, nil)))
        clerk.disk = .fails
        try clerk.call { registry, _, actions in
            _ = try registry.clean([other], stored: [], by: Clerk.bob, &actions)
        }
        #expect(clerk.task(other)?.state == .ended)
        #expect(
            clerk.history.contains(
                .answerCleaning(by: Clerk.bob.owner, .notAccepting("the disk is full"))))
        #expect(throws: Refusal.notAccepting("the disk is full")) { try order([other]) }
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
