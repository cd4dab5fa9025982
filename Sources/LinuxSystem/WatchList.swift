/// Is told when one of its descriptors is ready.
protocol WatchOwner: AnyObject {
    /// - Parameters:
    ///   - role: which of its descriptors, in the owner's own numbering.
    ///   - events: the owner appends what has happened.
    func ready(role: Int, _ events: inout [ProcessEvent])
}

/// The descriptors of all tasks in one epoll.
final class WatchList {
    /// Slot and generation: a stale token never matches a reused slot.
    struct Token: Equatable {
        fileprivate let slot: Int
        fileprivate let generation: UInt32

        fileprivate var number: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
    }

    private struct Slot {
        var owner: (any WatchOwner)?
        var role = 0
        var generation: UInt32 = 0
    }

    private let epoll: Epoll
    private var batch = EpollBatch(capacity: 64)
    private var slots: [Slot] = []
    private var free: [Int] = []

    init() throws(SystemError) {
        epoll = try Epoll()
    }

    var descriptor: Int32 { epoll.descriptor }

    /// Watches a descriptor; the owner lives at least as long.
    func add(
        _ descriptor: Int32,
        _ readiness: Readiness,
        owner: any WatchOwner,
        role: Int
    ) throws(SystemError) -> Token {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot()) }
        let token = Token(slot: slot, generation: slots[slot].generation)
        do {
            try epoll.add(descriptor, readiness, token: token.number)
        } catch {
            free.append(slot)
            throw error
        }
        slots[slot].owner = owner
        slots[slot].role = role
        return token
    }

    /// Changes what is waited for.
    func change(_ token: Token, _ descriptor: Int32, _ readiness: Readiness) throws(SystemError) {
        guard slots[token.slot].generation == token.generation else { return }
        try epoll.modify(descriptor, readiness, token: token.number)
    }

    /// Ends a watch, before its descriptor is closed.
    func remove(_ token: Token, _ descriptor: Int32) {
        guard slots[token.slot].generation == token.generation else { return }
        // Fails only where it is not watched, which is what is wanted.
        try? epoll.remove(descriptor)
        slots[token.slot].owner = nil
        slots[token.slot].generation &+= 1
        free.append(token.slot)
    }

    /// Tells the owners of what is ready now; one batch, without waiting.
    func poll(_ events: inout [ProcessEvent]) throws(SystemError) {
        try epoll.poll(into: &batch)
        for index in 0..<batch.count {
            let number = batch[index].token
            let slot = slots[Int(number & 0xffff_ffff)]
            // An earlier event of this batch may have ended the watch.
            guard slot.generation == UInt32(number >> 32), let owner = slot.owner else { continue }
            owner.ready(role: slot.role, &events)
        }
    }
}
