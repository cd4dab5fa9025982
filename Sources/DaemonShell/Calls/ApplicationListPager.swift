internal import BudgetCore
internal import TaskAPI

/// Lists applications, a few at a time: each that runs takes a look at its processes.
final class ApplicationListPager: Pager {
    /// Applications that are looked at before others have their turn.
    private static let pieceMax = 8
    /// What one takes in memory, about.
    private static let overhead = 512

    private let core: Core
    private let pool: ConnectionPool
    private let streams: ReplyStreams
    private let applications: RunningApplications
    private var keys: ArraySlice<ApplicationKey>
    private var found: [Applications.Application] = []

    init(
        _ core: Core, _ pool: ConnectionPool, _ streams: ReplyStreams,
        _ applications: RunningApplications, _ keys: [ApplicationKey]
    ) {
        self.core = core
        self.pool = pool
        self.streams = streams
        self.applications = applications
        self.keys = keys[...]
    }

    var heldBytes: Int { (keys.count + found.count) * Self.overhead }

    func readerHasRoom(_ client: Client) { streams.enqueue(client) }

    func release() { (keys, found) = ([], []) }

    func ended(for client: Client) {}

    func makePiece(for client: Client) {
        let next = keys.prefix(Self.pieceMax)
        keys = keys.dropFirst(next.count)
        for key in next { look(at: key) }
        guard keys.isEmpty else {
            pool.account(client)
            if !client.isClosed { streams.enqueue(client) }
            return
        }
        var output = Applications.List.Output()
        output.applications = found
        client.closeCall()
        client.reply(output)
        pool.resume(client)
    }

    private func look(at key: ApplicationKey) {
        // Others may have been forgotten since the call.
        guard let application = try? core.registry.application(key) else { return }
        let running = applications[key]
        let listed = Applications.Application(
            listed: application, running, in: core.registry, at: core.now)
        streams.charge(
            running == nil
                ? ReplyRounds.rowCost
                : ReplyRounds.lookCost + ReplyRounds.rowCost * listed.pids.count)
        found.append(listed)
    }
}
