import CFaultyVFS
import Glibc
import TestKit

/// A disk below SQLite that is full, broken, or gone in the middle of a write, when it is told to.
///
/// It knows what was synced, and so what a power cut may leave.
///
/// `@unchecked Sendable`: SQLite calls it on the thread that uses the store, and each history has one.
final class Disk: @unchecked Sendable {
    /// What is wrong with it, for as long as it is.
    enum Fault: CaseIterable {
        case none
        /// Writes find no room.
        case full
        /// Half of a write is done.
        case torn
        /// What was written may have reached the disk, and may not.
        case unsynced
    }

    /// A file: what survives a power cut, and what may.
    fileprivate struct File {
        var durable: [UInt8]
        var pending: [Change] = []
    }

    fileprivate enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
    }

    let name: String
    let folder: String
    var fault = Fault.none
    /// Operations that still go well before the fault is there.
    var operationsBeforeFault = 0
    /// Nothing is written any more: the program that used it has been stopped.
    var isDead = false
    /// After so many operations it is dead; in the middle of the next, where that is a write.
    var operationsLeft: Int?
    /// How many operations failed because of `fault`.
    private(set) var refusals = 0
    private var layer: OpaquePointer?
    private var files: [String: File] = [:]

    /// The disk for the database files in `folder`.
    init(folder: String, number: UInt64) throws {
        self.folder = folder
        name = "crash-\(number)-\(UInt64.random(in: 0 ... .max))"
        layer = faulty_vfs_new(
            name,
            { context, operation, path, offset, bytes, count in
                guard let context, let path else { return 0 }
                let disk = Unmanaged<Disk>.fromOpaque(context).takeUnretainedValue()
                let data = UnsafeRawBufferPointer(start: bytes, count: Int(count))
                return disk.perform(operation, String(cString: path), Int(offset), data)
            }, Unmanaged.passUnretained(self).toOpaque())
        guard layer != nil else { throw Broken(what: "sqlite3_vfs_register", errno: ENOMEM) }
    }

    deinit {
        if let layer { faulty_vfs_free(layer) }
    }

    /// Whether nothing can be written now.
    var isFailing: Bool { fault != .none && operationsBeforeFault == 0 }

    /// The program is gone; the disk is there for the next.
    func revive() {
        isDead = false
        operationsLeft = nil
    }

    // MARK: - What SQLite asks for

    private func perform(
        _ operation: faulty_operation, _ path: String, _ offset: Int, _ data: UnsafeRawBufferPointer
    ) -> Int32 {
        guard !isDead else { return EIO }
        if operationsLeft == 0 {
            isDead = true
            guard operation == FAULTY_WRITE, offset.isMultiple(of: 512) else { return EIO }
            note(path, .write(offset: offset, bytes: half(data)))
            return EIO | Int32(FAULTY_TORN)
        }
        operationsLeft = operationsLeft.map { $0 - 1 }
        let answer = faultAnswer(operation, path, offset, data)
        if answer != 0 { refusals += 1 } else { take(operation, path, offset, data) }
        return answer
    }

    private func faultAnswer(
        _ operation: faulty_operation, _ path: String, _ offset: Int, _ data: UnsafeRawBufferPointer
    ) -> Int32 {
        guard operationsBeforeFault == 0 else {
            operationsBeforeFault -= 1
            return 0
        }
        switch fault {
        case .full where operation == FAULTY_WRITE: return ENOSPC
        case .torn where operation == FAULTY_WRITE:
            note(path, .write(offset: offset, bytes: half(data)))
            return EIO | Int32(FAULTY_TORN)
        case .unsynced where operation == FAULTY_SYNC: return EIO
        default: return 0
        }
    }

    private func take(
        _ operation: faulty_operation, _ path: String, _ offset: Int, _ data: UnsafeRawBufferPointer
    ) {
        switch operation {
        case FAULTY_WRITE: note(path, .write(offset: offset, bytes: Array(data)))
        case FAULTY_TRUNCATE: note(path, .truncate(size: offset))
        case FAULTY_DELETE: files[path] = nil
        case FAULTY_SYNC:
            for change in files[path]?.pending ?? [] { change.apply(to: &files[path]) }
            files[path]?.pending = []
        default: files[path] = files[path] ?? File(durable: [])
        }
    }

    private func half(_ data: UnsafeRawBufferPointer) -> [UInt8] {
        Array(data.prefix(data.count / 2))
    }

    private func note(_ path: String, _ change: Change) {
        files[path, default: File(durable: [])].pending.append(change)
    }

    // MARK: - Power cuts

    /// Cuts the power: of what was not synced some is there, torn and in any order.
    func cutPower(using random: inout SeededGenerator) throws {
        for (path, file) in files.sorted(by: { $0.key < $1.key }) {
            var left: File? = File(durable: file.durable)
            let changes =
                Bool.random(using: &random) ? file.pending : file.pending.shuffled(using: &random)
            for change in changes where Bool.random(using: &random) {
                change.torn(using: &random).apply(to: &left)
            }
            files[path] = left
            try write(left?.durable ?? [], to: path)
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        guard let stream = fopen(path, "w") else { throw Broken(what: path, errno: errno) }
        defer { fclose(stream) }
        guard fwrite(bytes, 1, bytes.count, stream) == bytes.count else {
            throw Broken(what: path, errno: errno)
        }
    }
}

extension Disk.Change {
    fileprivate func apply(to file: inout Disk.File?) {
        switch self {
        case .write(let offset, let bytes):
            let end = offset + bytes.count
            let size = file?.durable.count ?? 0
            if size < end { file?.durable += [UInt8](repeating: 0, count: end - size) }
            file?.durable.withUnsafeMutableBytes { target in
                target[offset..<end].copyBytes(from: bytes)
            }
        case .truncate(let size):
            guard let count = file?.durable.count, size < count else { return }
            file?.durable.removeLast(count - size)
        }
    }

    /// Now and then only the first sectors of a write.
    fileprivate func torn(using random: inout SeededGenerator) -> Self {
        guard case .write(let offset, let bytes) = self, bytes.count > 512,
            Int.random(in: 0..<4, using: &random) == 0
        else { return self }
        let sectors = Int.random(in: 0..<bytes.count / 512, using: &random)
        return .write(offset: offset, bytes: Array(bytes.prefix(sectors * 512)))
    }
}

/// The machine does not do what the test needs of it.
struct Broken: Error {
    let what: String
    let errno: Int32
}
