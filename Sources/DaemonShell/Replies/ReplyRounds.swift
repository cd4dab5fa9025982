package import BudgetCore
internal import Containers

/// Clients for whom replies are to be made that nobody's call asks for now: events that wait, listings, output that is
/// followed.
///
/// An owner after the other makes a piece, and a turn makes so much: what costs time is charged, which is bytes and
/// looks at rows, so that neither many connections of one owner nor large events hold up the others.
package struct ReplyRounds {
    /// What a turn makes, in bytes.
    package static let turnMax = 1 << 20
    /// What is charged for each reply beside its bytes: writing it to its socket takes as long as copying so many.
    static let replyCost = 4096
    /// What is charged for a task that a listing looks at.
    static let rowCost = 256
    /// What is charged for a look at the processes of an application, which is many system calls.
    static let lookCost = 65_536
    /// An owner with more events waiting takes no calls, whose events would be more, until they are fewer.
    private static let waitingMax = 4096
    private static let waitingBytesMax = 4 << 20

    private var rounds = FairQueue<OwnerID, Client>()
    private var waiting: [OwnerID: (count: Int, bytes: Int)] = [:]
    private var heldBack: Set<OwnerID> = []
    private var left = ReplyRounds.turnMax

    package var isEmpty: Bool { rounds.count == 0 }

    package init() {}
    /// Whether an event may be written at once, before any that waits.
    package var isFree: Bool { isEmpty && left > 0 }

    /// Lets a client wait for its turn, once.
    package mutating func add(_ client: Client) {
        guard client.enter(.replies) else { return }
        rounds.add(client, of: client.ownerUse.owner)
    }

    /// The client who is next; `nil` where the turn is over.
    package mutating func next() -> Client? {
        guard left > 0, let client = rounds.next() else { return nil }
        client.leave(.replies)
        return client
    }

    package mutating func charge(_ cost: Int) { left -= cost }

    /// What was too much for this turn is charged to the next.
    package mutating func endTurn() { left = min(left, 0) + ReplyRounds.turnMax }

    /// Counts events that wait for a reader, or that wait no longer.
    package mutating func count(_ count: Int, bytes: Int, of owner: OwnerID) {
        var sum = waiting[owner] ?? (0, 0)
        sum = (sum.count + count, sum.bytes + bytes)
        waiting[owner] = sum.count > 0 ? sum : nil
        if sum.count > ReplyRounds.waitingMax || sum.bytes > ReplyRounds.waitingBytesMax {
            heldBack.insert(owner)
        } else {
            heldBack.remove(owner)
        }
    }

    package var holdsSomebodyBack: Bool { !heldBack.isEmpty }

    package func holdsBack(_ owner: OwnerID) -> Bool {
        // Asked with each call.
        !heldBack.isEmpty && heldBack.contains(owner)
    }
}
