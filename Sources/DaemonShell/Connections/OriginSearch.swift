internal import BudgetCore
internal import Containers
internal import LinuxSystem

/// Finds the applications whose processes have opened connections.
///
/// A connection is looked at when it is accepted, with one look at one process, and again only where an application is
/// adopted, whose processes may have connections from before.
package final class OriginSearch {
    /// Connections looked at in a turn.
    private static let turnMax = 32

    private let core: Core
    private let applications: RunningApplications
    private let withAncestors: Bool
    private var waiting = FairQueue<OwnerID, Client>()

    /// - Parameter withAncestors: whether processes are known by those that they descend from.
    package init(_ core: Core, _ applications: RunningApplications, withAncestors: Bool) {
        self.core = core
        self.applications = applications
        self.withAncestors = withAncestors
    }

    /// Looks where a connection comes from.
    func find(of client: Client) {
        let owner = client.caller.owner
        guard applications.areThere(of: owner),
            let process = ProcessOrigin(
                peerOf: client.descriptor, client.credentials,
                withAncestors: withAncestors)
        else { return }
        client.comes(from: applications.origin(process, of: owner))
    }

    /// Has connections looked at once more, a few in a turn.
    func findAnew(_ clients: some Sequence<Client>, of owner: OwnerID) {
        for client in clients
        where client.origin == nil && client.caller.owner == owner && client.enter(.origins) {
            waiting.add(client, of: owner)
        }
    }

    /// Goes on with that, as far as a turn goes.
    func findMore() {
        guard waiting.count > 0 else { return }
        var count = 0
        while count < Self.turnMax, let client = waiting.next() {
            client.leave(.origins)
            count += 1
            if !client.isClosed, client.origin == nil { find(of: client) }
        }
        if waiting.count > 0 { core.continueLater() }
    }

    /// Whether a connection comes from an application that is suspended.
    func isSuspended(_ client: Client) -> Bool {
        guard core.registry.suspendedApplicationCount > 0, let origin = client.origin,
            applications.areRunning(origin)
        else { return false }
        return core.registry.isSuspended(origin.key)
    }
}
