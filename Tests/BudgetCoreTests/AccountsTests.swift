import BudgetCore
import TestKit
import Testing

@Suite("Subordinate uids count as their user")
struct AccountsTests {
    private static func grant(_ uids: ClosedRange<UInt32>, _ user: UInt32) -> Accounts.Grant {
        Accounts.Grant(uids: uids, user: OwnerID(rawValue: user))
    }

    private static func account(_ accounts: Accounts, _ uid: UInt32) -> UInt32 {
        accounts.account(of: OwnerID(rawValue: uid)).rawValue
    }

    @Test("a uid in a range is its user's, and every other one its own")
    func ranges() {
        let accounts = Accounts([
            Self.grant(165_536...231_071, 1002), Self.grant(100_000...165_535, 1001),
            Self.grant(4_000_000_000...UInt32.max, 1003),
        ])
        let expected: [(UInt32, UInt32)] = [
            (0, 0), (1001, 1001), (99_999, 99_999), (100_000, 1001), (165_535, 1001),
            (165_536, 1002), (231_071, 1002), (231_072, 231_072), (3_999_999_999, 3_999_999_999),
            (4_000_000_000, 1003), (UInt32.max, 1003),
        ]
        for (uid, user) in expected { #expect(Self.account(accounts, uid) == user, "\(uid)") }
        #expect(Self.account(Accounts(), 100_000) == 100_000)
    }

    @Test(
        "what subordinate uids have counts against their user's limits, and is the user's for nobody else"
    )
    func limits() throws {
        var clerk = Clerk {
            $0.tasksPerOwnerMax = 3
            $0.queueDepthPerOwnerMax = 2
        }
        clerk.registry.replaceAccounts(
            Accounts([Self.grant(100_000...165_535, Clerk.ann.owner.rawValue)]))
        let subordinates = (UInt32(100_000)..<100_005).map {
            Caller(owner: OwnerID(rawValue: $0))
        }
        let limit = Refusal.limitReached(limit: "tasksPerOwnerMax", value: 3)
        let first = try clerk.begin(by: subordinates[0])
        _ = try clerk.begin(by: subordinates[1])
        let own = try clerk.begin(by: Clerk.ann)
        for caller in [Clerk.ann] + subordinates {
            #expect(throws: limit) { try clerk.begin(by: caller) }
        }
        _ = try clerk.begin(by: Clerk.bob)
        #expect(clerk.registry.use(of: Clerk.ann.owner).live == 1)
        #expect(throws: Refusal.noSuchTask(first)) { try clerk.end(first, by: Clerk.ann) }
        _ = try clerk.end(first, by: subordinates[0])
        let second = try clerk.begin(by: subordinates[2])
        #expect(throws: limit) { try clerk.begin(by: Clerk.ann) }
        // Who they are is another matter from now on: what was charged is given back all the same.
        clerk.registry.replaceAccounts(Accounts())
        _ = try clerk.end(second, by: subordinates[2])
        _ = try clerk.end(own)
        for _ in 0..<2 { _ = try clerk.begin(by: Clerk.ann) }
    }

    @Test("so do commands, their bytes, and applications")
    func otherLimits() throws {
        var clerk = Clerk {
            $0.slots = 0
            $0.queueDepthPerOwnerMax = 2
            $0.workBytesPerOwnerMax = 300
        }
        clerk.registry.applicationRules.applicationsPerOwnerMax = 2
        clerk.registry.replaceAccounts(
            Accounts([Self.grant(100_000...165_535, Clerk.ann.owner.rawValue)]))
        func submission(_ uid: UInt32, _ command: [String] = ["true"]) -> Submission {
            Submission(name: "a", owner: OwnerID(rawValue: uid), work: Work(command: command))
        }
        let long = ["true", String(repeating: "x", count: 200)]
        _ = try clerk.submit(submission(100_000, long))
        #expect(throws: Refusal.limitReached(limit: "workBytesPerOwnerMax", value: 300)) {
            try clerk.submit(submission(Clerk.ann.owner.rawValue, long))
        }
        _ = try clerk.submit(submission(100_001))
        for uid in [100_002, Clerk.ann.owner.rawValue] {
            #expect(throws: Refusal.limitReached(limit: "queueDepthPerOwnerMax", value: 2)) {
                try clerk.submit(submission(uid))
            }
        }
        _ = try clerk.submit(submission(Clerk.bob.owner.rawValue, long))

        func register(_ id: String, _ uid: UInt32) throws {
            let key = ApplicationKey(owner: OwnerID(rawValue: uid), id: id)
            try clerk.call { registry, now, actions in
                try registry.register(
                    key, Registration(command: ["a"]), number: 1, at: now, &actions)
            }
        }
        try register("a", 100_000)
        try register("a", Clerk.ann.owner.rawValue)
        for uid in [100_001, Clerk.ann.owner.rawValue] {
            #expect(throws: Refusal.limitReached(limit: "applicationsPerOwnerMax", value: 2)) {
                try register("b", uid)
            }
        }
        try register("b", Clerk.bob.owner.rawValue)
    }

    @Test(
        "of ranges that overlap each uid has the one that begins first",
        arguments: 0..<Effort.choose(200))
    func overlaps(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let grants = (0..<Int.random(in: 0...8, using: &random)).map { number in
            let first = UInt32.random(in: 100...150, using: &random)
            let last = first + UInt32.random(in: 0...30, using: &random)
            return Self.grant(first...last, UInt32(number))
        }
        let accounts = Accounts(grants)
        for uid in UInt32(90)...190 {
            let candidates = grants.filter { $0.uids.contains(uid) }
            let first = candidates.map(\.uids.lowerBound).min()
            let users = candidates.filter { $0.uids.lowerBound == first }.map(\.user.rawValue)
            #expect(Self.account(accounts, uid) == users.first ?? uid, "seed \(seed), uid \(uid)")
        }
    }
}
