import BudgetCore
import DaemonShell
import Testing

@Suite("Whose processes are looked at next")
struct AdoptionTurnTests {
    private func adoption(_ owner: UInt32, countedFor account: UInt32) throws -> PendingAdoption {
        let key = ApplicationKey(owner: OwnerID(rawValue: owner), id: "application")
        return PendingAdoption(
            try .unconnected(countedFor: account), PendingReplies.Ticket(number: 1), key, [1])
    }

    @Test("the uids that are given to a user have one turn with the user")
    func subordinates() throws {
        var adoptions = Adoptions()
        let alices = try (0..<5).map { try adoption(100_000 + $0, countedFor: 1001) }
        for adoption in alices { adoptions.add(adoption) }
        let bobs = try adoption(1002, countedFor: 1002)
        adoptions.add(bobs)
        var order: [UInt32] = []
        // One of those that wait goes.
        adoptions.withdraw(alices[1])
        while let next = adoptions.next() {
            order.append(next.key.owner.rawValue)
            adoptions.wereLookedAt(next)
        }
        #expect(order == [100_000, 1002, 100_002, 100_003, 100_004])
    }
}
