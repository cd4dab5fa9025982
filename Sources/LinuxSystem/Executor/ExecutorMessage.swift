internal import CExecutor
internal import Glibc

/// One record of bgtask-executor, with the descriptors that came beside it.
struct ExecutorMessage: ~Copyable {
    let record: executor_record
    /// Those that nobody has taken, which are closed with it.
    private var descriptors: [Int32]

    init(_ message: executor_message) {
        var message = message
        record = withUnsafeBytes(of: &message.bytes) {
            $0.loadUnaligned(as: executor_record.self)
        }
        descriptors = withUnsafeBytes(of: &message.descriptors) {
            Array($0.bindMemory(to: Int32.self).prefix(message.count))
        }
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    /// The kinds of another version are none.
    var kind: executor_kind { executor_kind(UInt32(record.kind)) }

    func has(_ flag: executor_flag) -> Bool { record.flags & flag.rawValue != 0 }

    /// Takes the next descriptor; `nil` where there is none.
    mutating func takeDescriptor() -> OwnedDescriptor? {
        descriptors.isEmpty ? nil : OwnedDescriptor(descriptors.removeFirst())
    }

    /// A text in the place of the notes.
    var text: String {
        withUnsafeBytes(of: record.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Of HANDLER_FIRED: what for, where that is not its time.
    var stop: ProcessEvent.Stop? {
        guard has(EXECUTOR_BY_DRAIN) else { return nil }
        return has(EXECUTOR_BY_ABSENCE) ? .daemonAway : .executorStop
    }

    var exit: Exit {
        has(EXECUTOR_BY_SIGNAL) ? .signal(record.code) : .status(record.code)
    }
}

extension executor_record {
    /// A record of this version.
    init(_ kind: executor_kind, serial: UInt64) {
        self.init()
        magic = UInt32(EXECUTOR_MAGIC)
        version = UInt16(EXECUTOR_VERSION)
        self.kind = UInt16(kind.rawValue)
        self.serial = serial
    }

    mutating func set(_ times: CommandTimes) {
        (handler_at, limit_at) = (times.handlerAt, times.limitAt)
        withUnsafeMutableBytes(of: &notes) { bytes in
            times.notes.withUnsafeBytes {
                bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(bytes.count)))
            }
        }
    }

    var keptNotes: [UInt64] {
        withUnsafeBytes(of: notes) { Array($0.bindMemory(to: UInt64.self)) }
    }
}

/// Descriptors that wait to be sent.
final class OutgoingDescriptors {
    private(set) var all: [Int32] = []

    func add(_ descriptor: consuming OwnedDescriptor) { all.append(descriptor.take()) }

    deinit { for descriptor in all { close(descriptor) } }
}
