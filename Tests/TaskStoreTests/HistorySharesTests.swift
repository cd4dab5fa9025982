import BudgetCore
import TaskStore
import TestKit
import Testing

@Suite("What each owner has of the history, and who loses some")
struct HistorySharesTests {
    /// What is too much goes by these rules, said the slow way.
    private struct Model {
        var shares: [OwnerID: HistoryShares.Share] = [:]

        func excess(over bounds: HistoryBounds) -> HistoryShares.Excess? {
            let total = shares.values.reduce(into: HistoryShares.Share()) { $0 += $1 }
            if total.count > bounds.countMax, let (owner, lead) = most(\.count, bounds.accounts) {
                let few = min(max(bounds.countMax / 1000, 1), 32)
                let taken = min(total.count - bounds.countMax, max(lead, few))
                return HistoryShares.Excess(owner: owner, countMax: taken, bytesMax: .max)
            }
            guard total.bytes > bounds.bytesMax, let (owner, lead) = most(\.bytes, bounds.accounts)
            else { return nil }
            let few = min(max(bounds.bytesMax / 1000, 1), 65_536)
            let taken = min(total.bytes - bounds.bytesMax, max(lead, few))
            return HistoryShares.Excess(owner: owner, countMax: .max, bytesMax: taken)
        }

        private func most(
            _ measure: KeyPath<HistoryShares.Share, Int>, _ accounts: Accounts
        ) -> (owner: OwnerID, lead: Int)? {
            let owners = Dictionary(grouping: shares) { accounts.account(of: $0.key) }
            let sums = owners.mapValues { $0.reduce(0) { $0 + $1.value[keyPath: measure] } }
                .filter { $0.value > 0 }.sorted { ($1.value, $1.key) < ($0.value, $0.key) }
            guard let first = sums.first else { return nil }
            let owner = owners[first.key]?.map { ($0.value[keyPath: measure], $0.key) }.max {
                $0 < $1
            }
            return owner.map { ($0.1, first.value - (sums.dropFirst().first?.value ?? 0)) }
        }
    }

    /// Uids 10 to 19 are given to uid 1, and from some time on 20 to 29 to uid 2.
    private static let accounts = [
        Accounts([Accounts.Grant(uids: 10...19, user: OwnerID(rawValue: 1))]),
        Accounts([
            Accounts.Grant(uids: 10...19, user: OwnerID(rawValue: 1)),
            Accounts.Grant(uids: 20...29, user: OwnerID(rawValue: 2)),
        ]),
    ]

    @Test("who loses what is as the rules say it, whoever comes and goes", arguments: 0..<50)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model = Model()
        var shares = HistoryShares(counts: [:])
        shares.count([:], through: .all)
        for step in 0..<300 {
            let owner = OwnerID(rawValue: UInt32.random(in: 0..<30, using: &random))
            let before = model.shares[owner, default: HistoryShares.Share()]
            var change = HistoryShares.Share(count: 1, bytes: Int.random(in: 1...9, using: &random))
            if before.count > 0, Bool.random(using: &random) {
                let isLast = Int.random(in: 0..<3, using: &random) == 0
                change = HistoryShares.Share(
                    count: isLast ? -before.count : -1, bytes: isLast ? -before.bytes : 0)
            }
            shares.add(change, of: owner)
            model.shares[owner, default: HistoryShares.Share()] += change
            let bounds = HistoryBounds(
                countMax: [20, 1000].randomElement(using: &random) ?? 20, bytesMax: 50,
                ageMax: nil, accounts: Self.accounts[step / 150])
            #expect(shares.excess(over: bounds) == model.excess(over: bounds), "seed \(seed)")
        }
    }
}
