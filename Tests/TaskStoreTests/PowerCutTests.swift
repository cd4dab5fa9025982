import BudgetCore
import Glibc
import TaskStore
import TestKit
import Testing

@Suite("After a power cut the store holds what was committed")
struct PowerCutTests {
    /// A model, and how many operations the disk had done when it was first and last the truth.
    private struct Epoch {
        var model: Model
        /// What it became was asked for, and may be there already, after this many.
        var asked = Int.max
        /// What it became was answered for, and it must not come back, after this many.
        var answered = Int.max
    }

    @Test(
        "wherever the power is cut, with what was not synced lost, torn or out of order",
        arguments: 1...Effort.choose(6, 200))
    func cuts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try Folder()
        let disk = try FaultyDisk()
        disk.isRecording = true
        let epochs = try record(folder, disk, &random)
        for _ in 0..<25 {
            let cut = Int.random(in: 0...disk.operations.count, using: &random)
            let image = try Folder()
            for (path, bytes) in disk.filesAfterPowerCut(at: cut, using: &random) {
                let name = path.split(separator: "/").last.map(String.init) ?? path
                try Folder.write(bytes, to: image.path + "/" + name)
            }
            let store = try image.open()
            let possible = epochs.indices.filter { index in
                cut <= epochs[index].answered && (index == 0 || epochs[index - 1].asked < cut)
            }
            let differences = try possible.map { try epochs[$0].model.difference(from: store) }
            #expect(
                differences.contains(nil),
                "seed \(seed), cut at \(cut) of \(disk.operations.count): \(differences)")
        }
    }

    /// Fills a store over several lives of it.
    private func record(
        _ folder: Folder, _ disk: FaultyDisk, _ random: inout SeededGenerator
    ) throws -> [Epoch] {
        var epochs = [Epoch(model: Model())]
        for _ in 0..<3 {
            let store = try folder.open(vfs: disk.name)
            for _ in 0..<15 {
                var model = epochs[epochs.count - 1].model
                let changes = model.changes(using: &random)
                epochs[epochs.count - 1].asked = disk.operations.count
                try store.apply(changes)
                epochs[epochs.count - 1].answered = disk.operations.count - 1
                epochs.append(Epoch(model: model))
                if Int.random(in: 0..<6, using: &random) == 0 { try store.checkpoint() }
            }
            if Bool.random(using: &random) { try store.close() }
        }
        return epochs
    }
}
