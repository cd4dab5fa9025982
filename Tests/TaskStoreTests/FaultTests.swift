import BudgetCore
import Glibc
import TaskStore
import TestKit
import Testing

@Suite(
    "A disk that fails costs nothing that was committed, and the store goes on when it is healed")
struct FaultTests {
    private let folder: Folder
    private let disk: FaultyDisk
    private let store: TaskStore

    init() throws {
        folder = try Folder()
        disk = try FaultyDisk()
        store = try folder.open(vfs: disk.name)
    }

    struct Fault: CustomTestStringConvertible, Sendable {
        var errno: Int32
        var cause: StoreError.Cause
        var testDescription: String { errorName }

        var errorName: String { "\(String(cString: strerror(errno & 0xFFFF))) \(errno >> 16)" }

        static let all = [
            Fault(errno: ENOSPC, cause: .diskFull),
            Fault(errno: EDQUOT, cause: .diskFull),
            Fault(errno: EIO, cause: .inputOutput),
            Fault(errno: EIO | FaultyDisk.torn, cause: .inputOutput),
            Fault(errno: EROFS, cause: .readOnly),
        ]
    }

    private func changes(_ round: UInt64, bytes: Int = 3000) -> [StoreChange] {
        (UInt64(1)...10).map { number in
            var task = Samples.task(round * 1000 + number)
            task.work.environment = ["A": String(repeating: "x", count: bytes)]
            return .submitted(task)
        }
    }

    /// The ids that the changes of a round bring.
    private func identifiers(of round: UInt64) -> [UInt64] {
        (1...10).map { round * 1000 + $0 }
    }

    /// What any connection sees.
    private func identifiers() throws -> [UInt64] {
        try Visitor(folder.database).rows("SELECT id FROM tasks ORDER BY id").compactMap {
            UInt64($0)
        }
    }

    @Test("each write and sync of a commit in turn", arguments: Fault.all)
    func commits(fault: Fault) throws {
        try store.apply(changes(0))
        var expected = try identifiers()
        var number = 0
        for round in UInt64(1)... {
            disk.count = 0
            disk.fault = { at, _ in at == number ? fault.errno : 0 }
            do throws(StoreError) {
                try store.apply(changes(round))
                expected += identifiers(of: round)
                if disk.count <= number { break }
            } catch {
                #expect(error.cause == fault.cause, "\(error)")
                #expect(error.mayHeal)
                #expect(try identifiers() == expected, "operation \(number)")
                disk.fault = { _, _ in 0 }
                try store.probe()
                try store.apply(changes(round))
                expected += identifiers(of: round)
            }
            #expect(try identifiers() == expected)
            number += 1
        }
        #expect(number > 10)
        try expectSound(expected)
    }

    @Test("each operation of a checkpoint in turn", arguments: Fault.all)
    func checkpoints(fault: Fault) throws {
        var expected: [UInt64] = []
        var number = 0
        for round in UInt64(1)... {
            try store.apply(changes(round))
            expected += identifiers(of: round)
            disk.count = 0
            disk.fault = { at, _ in at == number ? fault.errno : 0 }
            do throws(StoreError) {
                try store.checkpoint()
                if disk.count <= number { break }
            } catch {
                #expect(error.operation == "checkpoint")
                #expect(error.cause == fault.cause)
            }
            disk.fault = { _, _ in 0 }
            #expect(try identifiers() == expected)
            try store.checkpoint()
            number += 1
        }
        disk.fault = { _, _ in 0 }
        #expect(number > 10)
        try expectSound(expected)
    }

    @Test("a disk that fails for good is told by each commit and by the probe, until it is healed")
    func broken() throws {
        try store.apply(changes(1))
        let before = try identifiers()
        disk.fault = { _, _ in EIO }
        for round in UInt64(2)...5 {
            #expect(throws: StoreError.self) { try store.apply(changes(round)) }
            #expect(throws: StoreError.self) { try store.probe() }
            #expect(try identifiers() == before)
        }
        disk.fault = { _, _ in 0 }
        try store.probe()
        #expect(try identifiers() == before)
        try store.apply(changes(6))
        try expectSound(before + identifiers(of: 6))
    }

    @Test("a transaction larger than the cache, which is in the log before it is committed")
    func spilled() throws {
        try store.apply(changes(1))
        let before = try identifiers()
        let large = changes(2, bytes: 1_500_000)
        disk.count = 0
        try store.apply(large)
        let count = disk.count
        for (round, number) in zip(UInt64(3)..., [count / 3, count / 2, count - 2, count - 1]) {
            disk.count = 0
            disk.fault = { at, _ in at == number ? EIO : 0 }
            #expect(throws: StoreError.self) { try store.apply(changes(round, bytes: 1_500_000)) }
            disk.fault = { _, _ in 0 }
            #expect(try identifiers() == before + identifiers(of: 2))
        }
        try store.apply(changes(9))
        try expectSound(before + identifiers(of: 2) + identifiers(of: 9))
    }

    @Test("each operation of the first opening in turn; the next one makes the store")
    func openings() throws {
        var number = 0
        while true {
            let folder = try Folder()
            disk.count = 0
            disk.fault = { at, _ in at == number ? EIO : 0 }
            do throws(StoreError) {
                _ = try folder.open(vfs: disk.name)
            } catch {
                #expect(error.cause == .inputOutput, "\(error)")
            }
            let isDone = disk.count <= number
            disk.fault = { _, _ in 0 }
            let store = try folder.open(vfs: disk.name)
            try store.apply(changes(1))
            #expect(try store.live().count == 10)
            if isDone { break }
            number += 1
        }
        #expect(number > 10)
    }

    @Test("an error says what was tried, on which file, and what the disk said")
    func words() throws {
        disk.fault = { _, _ in EIO }
        let error = #expect(throws: StoreError.self) { try store.apply(changes(1)) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix("commit \(folder.database): Input/output error ("), "\(text)")
        disk.fault = { _, _ in ENOSPC }
        let full = #expect(throws: StoreError.self) { try store.apply(changes(1)) }
        #expect(full?.text.hasPrefix("no space left on the disk (") == true)
    }

    /// What another opening finds is sound and whole.
    private func expectSound(_ expected: [UInt64]) throws {
        let image = try Folder()
        for name in ["tasks.db", "tasks.db-wal"] {
            try Folder.write(
                Folder.bytes(folder.path + "/" + name), to: image.path + "/" + name)
        }
        #expect(try image.open().live().map(\.id.rawValue) == expected)
        #expect(try Visitor(image.database).rows("PRAGMA integrity_check") == ["ok"])
    }
}
