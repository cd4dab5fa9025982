import BudgetCore
import Glibc
import TaskStore
import TestKit
import Testing

@Suite("After a power cut the store holds what was committed")
struct PowerCutTests {
    /// A commit that was tried, and how many operations the disk had done before and after.
    private struct Attempt {
        /// What the store holds where it is there.
        var model: Model
        var begun: Int
        /// `nil` where it failed.
        var committed: Int?
    }

    @Test(
        "wherever the power is cut, with what was not synced lost, torn or out of order",
        arguments: 1...Effort.choose(6, 200))
    func cuts(seed: UInt64) throws {
        try check(seed: seed, isFaulty: false)
    }

    @Test(
        "what a failing disk refused can come back only until the next commit",
        arguments: 1...Effort.choose(6, 200))
    func cutsAfterFaults(seed: UInt64) throws {
        try check(seed: seed, isFaulty: true)
    }

    private func check(seed: UInt64, isFaulty: Bool) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try Folder()
        let disk = try FaultyDisk()
        disk.isRecording = true
        let attempts = try record(folder, disk, isFaulty: isFaulty, &random)
        for _ in 0..<25 {
            let cut = cut(near: attempts, of: disk.operations.count, &random)
            let image = try Folder()
            for (path, bytes) in disk.filesAfterPowerCut(at: cut, using: &random) {
                let name = path.split(separator: "/").last.map(String.init) ?? path
                try Folder.write(bytes, to: image.path + "/" + name)
            }
            let store = try image.open()
            let last = attempts.lastIndex { $0.committed.map { $0 <= cut } ?? false } ?? 0
            let possible = attempts[last...].filter { $0.begun < cut || $0.committed == 0 }
            let differences =
                try (possible.isEmpty ? [attempts[last]] : possible)
                .map { try $0.model.difference(from: store) }
            #expect(
                differences.contains(nil),
                "seed \(seed), cut at \(cut) of \(disk.operations.count): \(differences)")
        }
    }

    /// Anywhere, and often where a commit begins: there what was refused before it is still whole.
    private func cut(
        near attempts: [Attempt], of count: Int, _ random: inout SeededGenerator
    ) -> Int {
        let begun = attempts.randomElement(using: &random)?.begun ?? 0
        return Bool.random(using: &random)
            ? begun : Int.random(in: 0...count, using: &random)
    }

    /// Fills a store over several lives of it.
    private func record(
        _ folder: Folder, _ disk: FaultyDisk, isFaulty: Bool, _ random: inout SeededGenerator
    ) throws -> [Attempt] {
        var model = Model()
        var attempts = [Attempt(model: model, begun: 0, committed: 0)]
        for _ in 0..<3 {
            let store = try folder.open(vfs: disk.name)
            for _ in 0..<15 {
                var next = model
                let changes = next.changes(using: &random)
                var attempt = Attempt(model: next, begun: disk.operations.count)
                if isFaulty, Bool.random(using: &random) { failSoon(disk, &random) }
                do throws(StoreError) {
                    try store.apply(changes)
                    model = next
                    attempt.committed = disk.operations.count
                } catch {
                    #expect(isFaulty)
                }
                disk.fault = { _, _ in 0 }
                attempts.append(attempt)
                if Int.random(in: 0..<6, using: &random) == 0 { try store.checkpoint() }
            }
            try store.probe()
            attempts.append(
                Attempt(
                    model: model, begun: disk.operations.count, committed: disk.operations.count))
            if Bool.random(using: &random) { try store.close() }
        }
        return attempts
    }

    private func failSoon(_ disk: FaultyDisk, _ random: inout SeededGenerator) {
        disk.count = 0
        let isSync = Bool.random(using: &random)
        let at = Int.random(in: 0..<12, using: &random)
        disk.fault = { number, operation in
            if isSync, case .sync = operation.kind { return EIO }
            return number == at ? EIO | FaultyDisk.torn : 0
        }
    }
}
