package import BudgetCore
internal import Containers
internal import LinuxSystem
internal import Systemd

/// An adoption that has not come to its end: its processes are looked at, then their units.
package final class PendingAdoption {
    let client: Client
    /// The answer that is owed for it.
    let ticket: PendingReplies.Ticket
    package let key: ApplicationKey
    /// Those that were given.
    let processIDs: [Int32]
    /// `nil` until they have been looked at.
    private(set) var processes: AdoptedProcesses?
    private(set) var units: [ManagedUnit] = []
    /// Units of which the manager has told.
    private var describedCount = 0

    package init(
        _ client: Client, _ ticket: PendingReplies.Ticket, _ key: ApplicationKey,
        _ processIDs: [Int32]
    ) {
        self.client = client
        self.ticket = ticket
        self.key = key
        self.processIDs = processIDs
    }

    func found(_ processes: AdoptedProcesses, _ units: [ManagedUnit]) {
        self.processes = processes
        self.units = units
    }

    /// Whose turn it takes.
    var account: OwnerID { client.ownerUse.owner }

    /// The manager of one of its units says that it can be frozen.
    ///
    /// - Returns: whether this was the last.
    func unitWasDescribed() -> Bool {
        describedCount += 1
        return describedCount == units.count
    }
}

/// The adoptions that have not come to their end.
///
/// A look at processes is one at all there are: one is taken at a time, and the accounts have their turns, so that
/// somebody with many adoptions holds up nobody else's.
package struct Adoptions {
    private var pending: [ApplicationKey: PendingAdoption] = [:]
    private var waiting = KeyedFairQueue<OwnerID, ApplicationKey, PendingAdoption>()
    /// The one whose processes are being looked at.
    private(set) var lookedAt: PendingAdoption?

    package init() {}

    subscript(key: ApplicationKey) -> PendingAdoption? { pending[key] }

    func areAdopting(_ key: ApplicationKey) -> Bool { pending[key] != nil }

    /// Whether an adoption is still wanted.
    func isPending(_ adoption: PendingAdoption) -> Bool { pending[adoption.key] === adoption }

    /// The one with processes of that number.
    func first(of number: UInt64) -> PendingAdoption? {
        pending.values.first { $0.processes?.identifier == number }
    }

    package mutating func add(_ adoption: PendingAdoption) {
        pending[adoption.key] = adoption
        waiting.add(adoption, as: adoption.key, of: adoption.account)
    }

    /// The next whose processes are to be looked at; `nil` while those of another are.
    package mutating func next() -> PendingAdoption? {
        guard lookedAt == nil else { return nil }
        lookedAt = waiting.next()
        return lookedAt
    }

    package mutating func wereLookedAt(_ adoption: PendingAdoption) {
        if lookedAt === adoption { lookedAt = nil }
    }

    mutating func remove(_ adoption: PendingAdoption) {
        guard isPending(adoption) else { return }
        pending[adoption.key] = nil
        if adoption.processes == nil, lookedAt !== adoption {
            waiting.remove(adoption.key, of: adoption.account)
        }
    }

    /// Forgets one whose caller is gone, unless its processes have been looked at.
    package mutating func withdraw(_ adoption: PendingAdoption) {
        if adoption.processes == nil { remove(adoption) }
    }
}
