import BudgetCore
import Testing

@Suite("Who is let in when connections are used up")
struct AdmissionTests {
    private static let alice = OwnerID(rawValue: 1001)
    private static let bob = OwnerID(rawValue: 1002)
    private static let admission = Admission(countMax: 10, countPerAccountMax: 8)

    private func decide(
        _ account: OwnerID, _ counts: [OwnerID: Int], count: Int? = nil, reserve: Int = 0
    ) -> Admission.Decision {
        Self.admission.decide(
            connections: count ?? counts.values.reduce(0, +), ofAccount: counts[account] ?? 0,
            reserve: reserve
        ) {
            counts.max { ($0.value, $0.key) < ($1.value, $1.key) }.map { ($0.key, $0.value) }
        }
    }

    @Test("as long as there is room everybody is, up to the limit of an account")
    func room() {
        #expect(decide(Self.alice, [:]) == .admitted)
        #expect(decide(Self.alice, [Self.alice: 7, Self.bob: 2]) == .admitted)
        #expect(
            decide(Self.alice, [Self.alice: 8]) == .refused(limit: "clientsPerOwnerMax", value: 8))
    }

    @Test("the first connection of an account takes the place of one of the account with most")
    func first() {
        #expect(decide(Self.bob, [Self.alice: 8, .root: 2]) == .inPlaceOfOne(of: Self.alice))
        #expect(decide(.root, [Self.alice: 5, Self.bob: 5]) == .inPlaceOfOne(of: Self.bob))
        // One that is being closed is counted among all, and is nobody's any more.
        #expect(
            decide(.root, [Self.alice: 5, Self.bob: 4], count: 10) == .inPlaceOfOne(of: Self.alice))
    }

    @Test("a second one is refused, and a first one where nobody has more than one")
    func refused() {
        let refusal = Admission.Decision.refused(limit: "clientsMax", value: 10)
        #expect(decide(Self.bob, [Self.alice: 8, Self.bob: 2]) == refusal)
        let ones = Dictionary(uniqueKeysWithValues: (1...10).map { (OwnerID(rawValue: $0), 1) })
        #expect(decide(Self.bob, ones) == refusal)
    }

    @Test("who has a reserve goes beyond the limit, and no further")
    func reserve() {
        let counts = [Self.alice: 8, OwnerID.root: 2]
        #expect(decide(.root, counts, reserve: 2) == .admitted)
        #expect(
            decide(.root, [Self.alice: 8, .root: 4], reserve: 2)
                == .refused(limit: "clientsMax", value: 10))
    }
}
