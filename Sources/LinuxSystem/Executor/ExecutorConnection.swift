internal import CExecutor
internal import Glibc

/// A connection to bgtask-executor: records go out in their order, as the other end reads them.
final class ExecutorConnection {
    /// How long the other end may wait for what goes with the next record, in nanoseconds.
    private static let holdingMax: Int64 = 20_000_000

    private let socket: OwnedDescriptor
    private var watch: (list: WatchList, token: WatchList.Token)?
    /// What the socket had no room for, oldest first.
    private var waiting: [(record: executor_record, descriptors: OutgoingDescriptors?)] = []
    private var firstWaiting = 0
    /// What goes with the next that is sent, oldest first.
    private var held: [executor_record] = []
    /// When to call ``sendHeld()`` at the latest, on CLOCK_MONOTONIC; `nil`: there is no need.
    private(set) var sendHeldAt: Int64?

    /// Takes over a connected socket.
    init(_ socket: consuming OwnedDescriptor) { self.socket = socket }

    /// - Throws: ENOENT or ECONNREFUSED where nobody listens; EAGAIN where too many wait to be accepted.
    init(path: String) throws(SystemError) {
        let address = try UnixAddress(path: path)
        let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        socket = OwnedDescriptor(try systemCall("socket") { Glibc.socket(AF_UNIX, type, 0) })
        let descriptor = socket.rawValue
        try systemCall("connect", path) { address.withPointer { connect(descriptor, $0, $1) } }
    }

    /// Tells `owner` when a record has come, and when there is room again for those that wait.
    func watch(in list: WatchList, owner: any WatchOwner) throws(SystemError) {
        watch = (list, try list.add(socket.rawValue, .input, owner: owner, role: 0))
    }

    /// Nobody is told any more.
    func endWatch() {
        if let watch { watch.list.remove(watch.token, socket.rawValue) }
        watch = nil
    }

    private func watchForRoom(_ waits: Bool) throws(SystemError) {
        guard let watch else { return }
        try watch.list.change(watch.token, socket.rawValue, waits ? [.input, .output] : .input)
    }

    /// How many records wait for room.
    var waitingCount: Int { waiting.count - firstWaiting }

    /// Sends a record, in its turn.
    ///
    /// - Throws: EPIPE where the other end is gone.
    func send(
        _ record: executor_record, _ descriptors: OutgoingDescriptors? = nil
    ) throws(SystemError) {
        // The moment stays: a timer that moves with each record costs more than one that comes for nothing.
        try sendBeforeNext()
        try sendInTurn(record, descriptors)
    }

    /// Has a record sent before the next one, or by ``sendHeld()``: the other end is woken once for both.
    func hold(_ record: executor_record) {
        held.append(record)
        sendHeldAt = sendHeldAt ?? MonotonicClock.now() + Self.holdingMax
    }

    /// Sends what was to go with the next record.
    func sendHeld() throws(SystemError) {
        sendHeldAt = nil
        try sendBeforeNext()
    }

    private func sendBeforeNext() throws(SystemError) {
        guard !held.isEmpty else { return }
        let records = held
        held.removeAll(keepingCapacity: true)
        for record in records { try sendInTurn(record, nil) }
    }

    private func sendInTurn(
        _ record: executor_record, _ descriptors: OutgoingDescriptors?
    ) throws(SystemError) {
        if waitingCount > 0 {
            waiting.append((record, descriptors))
        } else if !(try sendNow(record, descriptors)) {
            try watchForRoom(true)
            waiting.append((record, descriptors))
        }
    }

    /// Sends what waits, as far as there is room.
    func sendWaiting() throws(SystemError) {
        guard waitingCount > 0 else { return }
        while firstWaiting < waiting.count {
            guard try sendNow(waiting[firstWaiting].record, waiting[firstWaiting].descriptors)
            else { break }
            waiting[firstWaiting].descriptors = nil
            firstWaiting += 1
        }
        guard firstWaiting == waiting.count else {
            if firstWaiting > 256 {
                waiting.removeFirst(firstWaiting)
                firstWaiting = 0
            }
            return
        }
        waiting.removeAll(keepingCapacity: waiting.count < 64)
        firstWaiting = 0
        try watchForRoom(false)
    }

    /// - Returns: whether there was room.
    private func sendNow(
        _ record: executor_record, _ descriptors: OutgoingDescriptors?
    ) throws(SystemError) -> Bool {
        var record = record
        let all = descriptors?.all ?? []
        let error = executor_send(socket.rawValue, &record, all, all.count)
        switch error {
        case 0: return true
        case EAGAIN, ENOBUFS, ETOOMANYREFS: return false
        default: throw SystemError(operation: "send", errno: error, subject: "bgtask-executor")
        }
    }

    /// Takes one record, without waiting for one; `nil` where there is none.
    ///
    /// - Throws: EPIPE where the other end is gone; EMFILE where its descriptors could not be had.
    func receive() throws(SystemError) -> ExecutorMessage? {
        var message = executor_message()
        let error = executor_receive(socket.rawValue, &message)
        if error == EAGAIN { return nil }
        guard error == 0 else {
            throw SystemError(operation: "receive", errno: error, subject: "bgtask-executor")
        }
        let received = ExecutorMessage(message)
        guard message.length == Int(EXECUTOR_RECORD_BYTES),
            received.record.magic == UInt32(EXECUTOR_MAGIC),
            received.record.version == UInt16(EXECUTOR_VERSION)
        else {
            throw SystemError(
                operation: "receive", errno: EPROTO, subject: "bgtask-executor",
                detail: "it speaks another version of the protocol")
        }
        return received
    }

    /// Waits until something can be received, or be sent where records wait.
    ///
    /// - Returns: whether that is so before so many milliseconds are over.
    func wait(milliseconds: Int32) -> Bool {
        let events = Int16(POLLIN) | (waitingCount > 0 ? Int16(POLLOUT) : 0)
        var wanted = pollfd(fd: socket.rawValue, events: events, revents: 0)
        return poll(&wanted, 1, milliseconds) > 0
    }
}
