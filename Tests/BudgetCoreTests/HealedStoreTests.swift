import BudgetCore
import Testing

@Suite("What a disk that takes writes again is told")
struct HealedStoreTests {
    @Test("ends that it refused are recorded in the order in which they came about")
    func endsInOrder() throws {
        var clerk = Clerk()
        let ids = try (0..<3).map { _ in try clerk.run() }
        let order = [ids[1], ids[2], ids[0]]
        clerk.disk = .fails
        for id in order {
            clerk.pass(.seconds(1))
            clerk.finish(id)
        }
        clerk.disk = .writes
        clerk.ordered = []
        clerk.heal()
        #expect(clerk.ordered == order.map { .ended($0) })
    }

    @Test("a cancel that it refused is not recorded after the end of its task")
    func cancelAndEnd() throws {
        var clerk = Clerk()
        let id = try clerk.queue { $0.retry = Retry(attempts: 2) }
        clerk.disk = .fails
        try clerk.cancel(id)
        clerk.disk = .waits
        clerk.finish(id)
        clerk.ordered = []
        clerk.heal()
        #expect(clerk.ordered.isEmpty)
        clerk.finishWriting()
        #expect(clerk.task(id)?.outcome == .cancelled)
    }
}
