package import BudgetCore
internal import Containers

/// What one account has of the connections and their buffers; each of the account's clients has it at hand.
package final class OwnerUse {
    package let owner: OwnerID
    /// Connections that are not being closed.
    private(set) var members = ClientList()
    /// What they have in their buffers.
    private(set) var bufferedBytes = 0
    /// Those that are not read, because the buffers are full.
    private var unread = KeyedQueue<UInt64, Client>()
    /// Whether it is among those whose buffers are looked at before the turn is over.
    private var isToBeRelieved = false

    package init(_ owner: OwnerID) {
        self.owner = owner
    }

    func join(_ client: Client) { members.add(client) }

    /// Counts a connection no longer.
    ///
    /// - Returns: whether it was the last.
    func leave(_ client: Client) -> Bool {
        members.remove(client)
        return members.isEmpty
    }

    /// Counts what a client holds now.
    ///
    /// - Returns: by how many bytes that is more than before.
    func account(_ client: Client) -> Int {
        let growth = client.takeGrowth()
        bufferedBytes += growth
        return growth
    }

    // MARK: - Those that wait for room

    /// Whether somebody waits who is not going to be looked at already; they will be.
    func startsRelief() -> Bool {
        guard !unread.isEmpty, !isToBeRelieved else { return false }
        isToBeRelieved = true
        return true
    }

    func reliefBegins() { isToBeRelieved = false }

    /// Leaves a client unread until there is room.
    func waitForRoom(_ client: Client) {
        guard client.enter(.room) else { return }
        unread.append(client, as: client.number)
    }

    /// The next to be read again.
    func nextUnread() -> Client? {
        guard let client = unread.popFirst() else { return nil }
        client.leave(.room)
        return client
    }

    var lastUnread: Client? { unread.last }

    func forget(_ client: Client) {
        unread.remove(client.number)
        client.leave(.room)
    }
}
