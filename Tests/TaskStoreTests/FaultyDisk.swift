import CFaultyVFS
import Glibc
import TestKit

/// A layer below SQLite that fails when it is told to, and remembers what was written in which order.
///
/// `@unchecked Sendable`: SQLite calls it on the thread that uses the store, and each test has one.
final class FaultyDisk: @unchecked Sendable {
    /// Something that changes the disk.
    struct Operation {
        enum Kind {
            case open
            case write(offset: Int, bytes: [UInt8])
            case sync
            case truncate(size: Int)
            case delete
        }

        var path: String
        var kind: Kind
    }

    let name: String
    private var layer: OpaquePointer?
    /// What has reached the disk, or would have.
    private(set) var operations: [Operation] = []
    /// Whether operations are remembered.
    var isRecording = false
    /// How many operations have come since this was last set to 0.
    var count = 0
    /// The errno that the operation answers with, by its number among `count`.
    var fault: (_ number: Int, _ operation: Operation) -> Int32 = { _, _ in 0 }

    /// Added to an errno: half of a write is done before it fails.
    static let torn = Int32(FAULTY_TORN)

    init() throws {
        name = "faulty-\(UInt64.random(in: 0 ... .max))"
        layer = faulty_vfs_new(
            name,
            { context, operation, path, offset, bytes, count in
                guard let context, let path else { return 0 }
                let disk = Unmanaged<FaultyDisk>.fromOpaque(context).takeUnretainedValue()
                let data = UnsafeRawBufferPointer(start: bytes, count: Int(count))
                return disk.perform(
                    operation, String(cString: path), Int(offset), Array(data))
            }, Unmanaged.passUnretained(self).toOpaque())
        guard layer != nil else {
            throw Folder.Failure(what: "sqlite3_vfs_register", errno: ENOMEM)
        }
    }

    deinit {
        if let layer { faulty_vfs_free(layer) }
    }

    private func perform(
        _ operation: faulty_operation, _ path: String, _ offset: Int, _ bytes: [UInt8]
    ) -> Int32 {
        let kind: Operation.Kind =
            switch operation {
            case FAULTY_WRITE: .write(offset: offset, bytes: bytes)
            case FAULTY_SYNC: .sync
            case FAULTY_TRUNCATE: .truncate(size: offset)
            case FAULTY_DELETE: .delete
            default: .open
            }
        var done = Operation(path: path, kind: kind)
        defer { count += 1 }
        let answer = fault(count, done)
        guard isRecording else { return answer }
        if answer == 0 {
            operations.append(done)
        } else if answer & FaultyDisk.torn != 0, case .write = kind {
            done.kind = .write(offset: offset, bytes: Array(bytes.prefix(bytes.count / 2)))
            operations.append(done)
        }
        return answer
    }

    // MARK: - Power cuts

    /// What the files may hold when the power is cut after so many operations, by their names: all that was
    /// synced, and of what came after it some, torn and in any order.
    func filesAfterPowerCut(
        at cut: Int, using random: inout SeededGenerator
    ) -> [String: [UInt8]] {
        var durable: [String: [UInt8]] = [:]
        var pending: [String: [Operation.Kind]] = [:]
        for operation in operations.prefix(cut) {
            let path = operation.path
            switch operation.kind {
            case .open: durable[path] = durable[path] ?? []
            case .delete: (durable[path], pending[path]) = (nil, nil)
            case .write, .truncate: pending[path, default: []].append(operation.kind)
            case .sync:
                for change in pending[path] ?? [] { change.apply(to: &durable[path, default: []]) }
                pending[path] = nil
            }
        }
        for (path, changes) in pending.sorted(by: { $0.key < $1.key }) {
            let isOrdered = Bool.random(using: &random)
            for change in isOrdered ? changes : changes.shuffled(using: &random) {
                if isOrdered, Int.random(in: 0..<changes.count + 1, using: &random) == 0 { break }
                if !isOrdered, Bool.random(using: &random) { continue }
                change.torn(using: &random).apply(to: &durable[path, default: []])
            }
        }
        return durable
    }
}

extension FaultyDisk.Operation.Kind {
    func apply(to file: inout [UInt8]) {
        switch self {
        case .write(let offset, let bytes):
            if file.count < offset + bytes.count {
                file += [UInt8](repeating: 0, count: offset + bytes.count - file.count)
            }
            file.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        case .truncate(let size):
            if size < file.count { file.removeSubrange(size...) }
        case .open, .sync, .delete: break
        }
    }

    /// Now and then only the first sectors of a write.
    func torn(using random: inout SeededGenerator) -> Self {
        guard case .write(let offset, let bytes) = self, bytes.count > 512,
            Int.random(in: 0..<4, using: &random) == 0
        else { return self }
        let sectors = Int.random(in: 0..<bytes.count / 512, using: &random)
        return .write(offset: offset, bytes: Array(bytes.prefix(sectors * 512)))
    }
}
