import BudgetCore
import Glibc
import TaskStore
import TestKit
import Testing

@Suite("The store holds what a dictionary would, whatever happens")
struct ModelTests {
    @Test(
        "random changes with openings, faults and checkpoints",
        arguments: 1...Effort.choose(12, 400))
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try Folder()
        let disk = try FaultyDisk()
        var model = Model()
        for life in 0..<6 {
            let store = try folder.open(vfs: disk.name)
            for step in 0..<14 {
                try act(on: store, &model, disk, &random)
                guard step == 13 else { continue }
                let difference = try model.difference(from: store)
                #expect(difference == nil, "seed \(seed), life \(life)")
            }
            if Bool.random(using: &random) { try store.close() }
        }
    }

    private func act(
        on store: TaskStore, _ model: inout Model, _ disk: FaultyDisk,
        _ random: inout SeededGenerator
    ) throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: try? withFaults(disk, &random) { try store.checkpoint() }
        case 1: try? withFaults(disk, &random) { try store.probe() }
        case 2:
            #expect(throws: StoreError.self) {
                let task = Samples.task(1 << 50)
                try store.apply([.submitted(task), .ended(.invalid, Samples.end(1))])
            }
        case 3...8: try applyWithFaults(store, &model, disk, &random)
        default: #expect(try store.apply(model.changes(using: &random)) == model.applied)
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
            var applied: Applied?
            try withFaults(disk, &random) { applied = try store.apply(changes) }
            #expect(applied == next.applied)
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
        arguments: 1...Effort.choose(4, 40))
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
