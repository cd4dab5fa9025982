package import LinuxSystem

/// Somebody who is called when a descriptor is ready.
package protocol DescriptorHandler: AnyObject {
    /// Takes note of it; nothing is decided before all that came has been read.
    func ready(_ readiness: Readiness)
}

/// Descriptors of connections, pipes, sockets and processes in one inner epoll, which is a single source of the loop:
/// a source for each would cost the loop half its calls.
package final class DescriptorPoll {
    /// Names a descriptor from its `add` to its `remove`, and no later one.
    package struct Registration {
        fileprivate let token: UInt64
        fileprivate let descriptor: Int32
    }

    /// A place for a handler. Its generation is in the token, so that what came for one handler is never taken for
    /// what came for another that has its place.
    private struct Slot {
        var handler: (any DescriptorHandler)?
        var generation: UInt32 = 0
    }

    /// Room for one read, for whoever reads something now.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    private let epoll: Epoll
    private var batch = EpollBatch(capacity: 256)
    private var slots: [Slot] = []
    private var free: [UInt32] = []

    package init() throws(SystemError) {
        epoll = try Epoll()
    }

    deinit {
        buffer.deallocate()
    }

    /// Readable when one of the descriptors is ready.
    var descriptor: Int32 { epoll.descriptor }

    /// Follows a descriptor, which stays the caller's.
    package func add(
        _ descriptor: Int32, _ interest: Readiness, _ handler: any DescriptorHandler
    ) throws(SystemError) -> Registration {
        let index = free.popLast() ?? UInt32(slots.count)
        if Int(index) == slots.count { slots.append(Slot()) }
        let token = UInt64(slots[Int(index)].generation) << 32 | UInt64(index)
        do throws(SystemError) {
            try epoll.add(descriptor, interest, token: token)
        } catch {
            free.append(index)
            throw error
        }
        slots[Int(index)].handler = handler
        return Registration(token: token, descriptor: descriptor)
    }

    /// Follows something else of it from now on.
    package func modify(_ registration: Registration, _ interest: Readiness) throws(SystemError) {
        try epoll.modify(registration.descriptor, interest, token: registration.token)
    }

    /// Ends it, before the descriptor is closed.
    package func remove(_ registration: Registration) {
        let index = Int(truncatingIfNeeded: registration.token & 0xFFFF_FFFF)
        guard slots[index].generation == UInt32(truncatingIfNeeded: registration.token >> 32)
        else { return }
        slots[index].handler = nil
        slots[index].generation &+= 1
        free.append(UInt32(index))
        // It was added, so that this does not fail.
        try? epoll.remove(registration.descriptor)
    }

    /// Calls the handlers of what is ready.
    ///
    /// - Returns: whether anything was.
    package func poll() throws(SystemError) -> Bool {
        try epoll.poll(into: &batch)
        for index in 0..<batch.count {
            let (token, readiness) = batch[index]
            let slot = Int(truncatingIfNeeded: token & 0xFFFF_FFFF)
            guard slots[slot].generation == UInt32(truncatingIfNeeded: token >> 32) else {
                continue
            }
            slots[slot].handler?.ready(readiness)
        }
        return batch.count > 0
    }

    /// Calls nobody any more.
    func removeAll() {
        for index in slots.indices { slots[index].handler = nil }
    }
}
