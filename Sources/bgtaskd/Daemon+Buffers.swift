internal import BudgetCore
internal import LinuxSystem
internal import Settings
internal import Systemd
internal import Varlink

// What all connections of one owner hold in their buffers, and what comes of it when that is too much.
extension Daemon {
    /// Counts a client's buffers for its owner.
    func account(_ client: Client) {
        let growth = client.heldBytes - client.bufferedBytes
        guard growth != 0 else { return }
        client.ownerUse.bufferedBytes += growth
        client.bufferedBytes += growth
        if growth > 0 { closeIfExcessive(client) }
        lookAtWaiting(of: client.ownerUse)
    }

    /// Closes a client with which its owner's buffers have come to twice what they may hold: each connection
    /// may always have a little, and an answer that was begun is made to its end, but not without a limit.
    private func closeIfExcessive(_ client: Client) {
        let limit = loaded.settings.limits.bufferBytesPerOwnerMax
        let used = client.ownerUse.bufferedBytes
        guard used > 2 * limit, !client.isClosed else { return }
        logRefusal(
            .noRoomForConnection, client.credentials,
            "twice bufferBytesPerOwnerMax (\(limit))")
        client.isClosed = true
        releaseBuffers(of: client)
        makePending(client)
    }

    /// Lets go of all that a client that is closed has in its buffers.
    func releaseBuffers(of client: Client) {
        switch client.openCall {
        case .list, .applicationList: client.openCall = nil
        default: break
        }
        client.connection = ServerConnection()
        client.listedBytes = 0
        account(client)
    }

    /// Leaves a client unread until there is room among its owner's buffers.
    func waitForRoom(_ client: Client) {
        guard !client.waitsForRoom else { return }
        client.waitsForRoom = true
        client.ownerUse.waiting.append(client, as: ObjectIdentifier(client))
        lookAtWaiting(of: client.ownerUse)
    }

    /// Has those who wait for an owner's buffers looked at before the turn is over.
    private func lookAtWaiting(of use: OwnerUse) {
        guard !use.waiting.isEmpty, !use.isCrowded else { return }
        use.isCrowded = true
        crowded.append(use)
    }

    /// Goes on with owners whose buffers were full: as many of their clients are read again as there is
    /// room for, and where none ever would be, one is refused.
    func relieveCrowded() {
        var index = 0
        while index < crowded.count {
            let use = crowded[index]
            index += 1
            use.isCrowded = false
            resumeReading(of: use)
        }
        crowded.removeAll(keepingCapacity: true)
    }

    private func resumeReading(of use: OwnerUse) {
        let limit = loaded.settings.limits.bufferBytesPerOwnerMax
        var room = limit - use.bufferedBytes
        while room > 0, let client = use.waiting.popFirst() {
            client.waitsForRoom = false
            guard !client.isClosed else { continue }
            watch(client)
            room -= buffer.count
        }
        guard room <= 0, let last = use.waiting.last, isDeadlocked(use) else { return }
        refuseMore(of: last)
    }

    /// Whether a client may send more, as far as its owner's buffers go. One with little in its own
    /// always may, so that connections that are stuck do not shut out the others.
    func hasRoom(_ client: Client) -> Bool { room(for: client) > 0 }

    /// How many bytes of a client may be read now.
    private func room(for client: Client) -> Int {
        let used = client.ownerUse.bufferedBytes
        return max(
            loaded.settings.limits.bufferBytesPerOwnerMax - used,
            Daemon.bufferShare - client.connection.bufferedBytes)
    }

    /// Reads what a client has sent, as far as there is room for it.
    ///
    /// - Throws: where the peer broke the protocol.
    func receive(of client: Client) throws(ProtocolViolation) {
        let count = min(max(room(for: client), 0), buffer.count)
        guard count > 0 else { return }
        defer { account(client) }
        try client.receive(using: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }

    /// Whether more may be made for a client to read: it has left little unread, or it is not much yet and
    /// its owner's buffers have room.
    func mayMakeMore(for client: Client) -> Bool {
        let pending = client.connection.pendingOutputCount
        guard pending >= Daemon.outputShare else { return !client.isClosed }
        account(client)
        guard !client.isClosed else { return false }
        let used = client.ownerUse.bufferedBytes
        return pending < Daemon.pumpMax && used < loaded.settings.limits.bufferBytesPerOwnerMax
    }

    /// Whether all who fill an owner's buffers wait for each other for ever: each has a part of a message,
    /// which becomes no less by itself, and is not read.
    private func isDeadlocked(_ use: OwnerUse) -> Bool {
        use.members.all.allSatisfy { client in
            client.bufferedBytes - client.groupBytes < Daemon.bufferShare
                || client.waitsForRoom && !canDrain(client)
        }
    }

    /// Whether what a client has in its buffers can become less by itself: calls to take, replies to send.
    private func canDrain(_ client: Client) -> Bool {
        client.connection.callsWaiting > 0 || client.connection.isCallInProgress
            || client.connection.pendingOutputCount > 0
    }

    private func refuseMore(of client: Client) {
        let limit = loaded.settings.limits.bufferBytesPerOwnerMax
        logRefusal(
            .noRoomForConnection, client.credentials,
            "bufferBytesPerOwnerMax (\(limit))")
        close(client, at: now)
    }

    /// What a connection may send, however full the buffers of its owner's others are.
    private static let bufferShare = 4096
    /// What it may leave unread.
    static let outputShare = 16_384

    /// Whether an event would be more than a slow reader may leave unread.
    func isOverflowing(_ client: Client) -> Bool {
        let used = client.ownerUse.bufferedBytes
        let unread = client.connection.pendingOutputCount
        return unread > 4 << 20 || client.events.byteCount > 32 << 20
            || used > loaded.settings.limits.bufferBytesPerOwnerMax
                && unread + client.events.heldBytes > Daemon.outputShare
    }
}
