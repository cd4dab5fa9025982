import BudgetCore
import TaskStore
import Testing

@Suite("The history can be read while changes are written")
struct ConcurrencyTests {
    @Test(
        "each answer is of one moment, between two commits",
        arguments: [TaskStore.Durability.commit, .memory])
    func moments(durability: TaskStore.Durability) async throws {
        let folder = try Folder()
        let store = try TaskStore.open(path: folder.database, durability: durability)
        let reader = try store.historyReader()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for pair in UInt64(0)..<200 {
                    let tasks = [Samples.task(pair * 2 + 1), Samples.task(pair * 2 + 2)]
                    try store.apply(tasks.map(StoreChange.submitted))
                    try store.apply(tasks.map { .ended($0.id, Samples.end(Int(pair))) })
                    try store.checkpointIfDue()
                }
            }
            group.addTask {
                var count = 0
                while count < 400 {
                    let page = try reader.history(countMax: 1000)
                    #expect(page.tasks.count % 2 == 0)
                    #expect(page.tasks.count >= count)
                    #expect(page.tasks.first.map { $0.id.rawValue % 2 == 0 } ?? true)
                    count = page.tasks.count
                }
            }
            try await group.waitForAll()
        }
        try reader.close()
        try store.close()
    }
}
