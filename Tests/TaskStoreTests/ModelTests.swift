import BudgetCore
import Glibc
import TaskStore
import TestKit
import Testing

@Suite("The store holds what a dictionary would, whatever happens")
struct ModelTests {
    @Test("random changes with openings, faults, checkpoints and prunings", arguments: 1...60)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try Folder()
        let disk = try FaultyDisk()
        var store: TaskStore? = try folder.open(vfs: disk.name)
        var model = Model()
        for step in 0..<80 {
            let open = try #require(store)
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                if Bool.random(using: &random) { try open.close() }
                store = nil
                store = try folder.open(vfs: disk.name)
            case 1:
                try? withFaults(disk, &random) { try open.checkpoint() }
            case 2:
                try? withFaults(disk, &random) { try open.probe() }
            case 3:
                #expect(throws: StoreError.self) {
                    try open.apply([
                        .submitted(Samples.task(1 << 50)), .ended(.invalid, Samples.end(1)),
                    ])
                }
            case 4...8:
                try applyWithFaults(open, &model, disk, &random)
            default:
                try open.apply(model.changes(using: &random))
            }
            if step % 8 == 0 || step == 79, let store {
                #expect(try model.difference(from: store) == nil, "seed \(seed), step \(step)")
            }
        }
    }

    /// Either all changes are there or none.
    private func applyWithFaults(
        _ store: TaskStore, _ model: inout Model, _ disk: FaultyDisk,
        _ random: inout SeededGenerator
    ) throws {
        var next = model
        let changes = next.changes(using: &random)
        do {
            try withFaults(disk, &random) { try store.apply(changes) }
            model = next
        } catch let error as StoreError {
            #expect(error.mayHeal, "\(error)")
            #expect(try model.difference(from: store) == nil)
        }
    }

    private func withFaults(
        _ disk: FaultyDisk, _ random: inout SeededGenerator, _ body: () throws -> Void
    ) throws {
        disk.count = 0
        let first = Int.random(in: 0..<8, using: &random)
        let last = first + Int.random(in: 0..<3, using: &random)
        let error =
            [EIO, ENOSPC, EIO | FaultyDisk.torn, EROFS].randomElement(using: &random) ?? EIO
        disk.fault = { number, _ in (first...last).contains(number) ? error : 0 }
        defer { disk.fault = { _, _ in 0 } }
        try body()
    }

    @Test(
        "copies of the files between any two changes hold just what was committed",
        arguments: 1...10)
    func copies(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try Folder()
        let store = try folder.open()
        var model = Model()
        for step in 0..<40 {
            try store.apply(model.changes(using: &random))
            if step % 7 == 6 { try store.checkpoint() }
            let image = try Folder()
            for name in ["tasks.db", "tasks.db-wal"] {
                try Folder.write(
                    Folder.bytes(folder.path + "/" + name), to: image.path + "/" + name)
            }
            #expect(try model.difference(from: image.open()) == nil, "seed \(seed), step \(step)")
        }
    }
}
