internal import BudgetCore
internal import LinuxSystem

/// Connections that are to be looked at once more, since an application has taken their processes over.
struct OriginSearch {
    /// Connections looked at in a turn.
    private static let turnMax = 32

    private var waiting = OwnerRounds<Client>()

    var isEmpty: Bool { waiting.count == 0 }

    /// Lets the connections of an owner be looked at.
    mutating func add(_ clients: some Sequence<Client>, of owner: OwnerID) {
        for client in clients where !client.awaitsOrigin {
            client.awaitsOrigin = true
            waiting.add(client, of: owner)
        }
    }

    /// Those whose turn it is.
    mutating func take() -> [Client] {
        var taken: [Client] = []
        while taken.count < OriginSearch.turnMax, let client = waiting.next() {
            client.awaitsOrigin = false
            if !client.isClosed { taken.append(client) }
        }
        return taken
    }
}

// Whose process has opened a connection. It is looked for when that is accepted, with one look at one process,
// and again only where an application is adopted, whose processes may have connections from before.
extension Daemon {
    func findOrigin(of client: Client) {
        let owner = client.caller.owner
        guard applications.areThere(of: owner),
            let process = ProcessOrigin(
                peerOf: client.descriptor.rawValue, client.credentials,
                withAncestors: host.containment.hasSupervisors)
        else { return }
        client.origin = applications.origin(process, of: owner)
    }

    func findOriginsAnew(of owner: OwnerID) {
        guard let use = owners[accountSource.accounts.account(of: owner)] else { return }
        originSearch.add(
            use.members.all.lazy.filter { $0.origin == nil && $0.caller.owner == owner },
            of: owner)
    }

    /// Goes on with that, as far as a turn goes.
    func findMoreOrigins() {
        guard !originSearch.isEmpty else { return }
        for client in originSearch.take() where client.origin == nil { findOrigin(of: client) }
        if !originSearch.isEmpty { continueLater() }
    }
}
