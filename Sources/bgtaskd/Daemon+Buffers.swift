internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Settings
internal import Varlink

// What all connections of one owner hold in their buffers, and what comes of it when that is too much.
extension Daemon {
    /// Counts a client's buffers for its owner.
    func account(_ client: Client) {
        let bytes = client.connection.bufferedBytes
        owners[client.caller.owner]?.bufferedBytes += bytes - client.bufferedBytes
        if bytes < client.bufferedBytes { mayHaveRoom = true }
        client.bufferedBytes = bytes
    }

    /// Reads again from those whose owner has room for them now.
    func resumeReading() {
        guard mayHaveRoom else { return }
        mayHaveRoom = false
        let waiting = withoutRoom
        withoutRoom = []
        for client in waiting {
            client.waitsForRoom = false
            if !client.isClosed { watch(client) }
        }
    }

    /// Whether a client may send more, as far as its owner's buffers go. One with little in its own
    /// always may, so that connections that are stuck do not shut out the others.
    func hasRoom(_ client: Client) -> Bool {
        let used = owners[client.caller.owner]?.bufferedBytes ?? 0
        return used < loaded.settings.limits.bufferBytesPerOwnerMax
            || client.connection.bufferedBytes < Daemon.bufferShare
    }

    /// Whether all who fill the owner's buffers would wait for each other for ever: each has a part of
    /// a message, which becomes no less by itself, and is not read.
    func isDeadlocked(by client: Client) -> Bool {
        guard !canDrain(client) else { return false }
        return clients.values.allSatisfy { other in
            other === client || other.caller.owner != client.caller.owner
                || other.bufferedBytes < Daemon.bufferShare
                || other.waitsForRoom && !canDrain(other)
        }
    }

    /// Whether what a client has in its buffers can become less by itself: calls to take, replies to send.
    func canDrain(_ client: Client) -> Bool {
        client.connection.callsWaiting > 0 || client.connection.isCallInProgress
            || client.connection.pendingOutputCount > 0
    }

    func refuseMore(of client: Client) {
        let limit = loaded.settings.limits.bufferBytesPerOwnerMax
        logRefusal(
            "a connection was closed for want of room", client.credentials,
            "bufferBytesPerOwnerMax (\(limit))")
        close(client, at: now)
    }

    /// What a connection may hold in its buffers, however full those of its owner's others are.
    private static let bufferShare = 65_536

    /// Whether an event would be more than a slow reader may leave unread.
    func isOverflowing(_ client: Client) -> Bool {
        let used = owners[client.caller.owner]?.bufferedBytes ?? 0
        return client.connection.pendingOutputCount > 4 << 20
            || used > loaded.settings.limits.bufferBytesPerOwnerMax
                && client.connection.pendingOutputCount > Daemon.bufferShare
    }
}
