internal import BudgetCore
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

/// Who watches applications: those of one owner, or everybody's.
struct ApplicationWatchers {
    private var ofOwner: [OwnerID: ClientList] = [:]
    /// Operators who asked for all.
    private var ofEverybody = ClientList()

    /// Everybody who is to be told of an application, the owner's own first.
    func all(of key: ApplicationKey) -> [Client] {
        let everybody = ofEverybody.all.filter { $0.watches(key) }
        guard let own = ofOwner[key.owner] else { return everybody }
        return own.all.filter { $0.watches(key) } + everybody
    }

    mutating func add(_ client: Client) {
        guard case .applicationWatch(_, let caller) = client.openCall else { return }
        if caller.seesAll {
            ofEverybody.add(client)
        } else {
            ofOwner[caller.owner, default: ClientList()].add(client)
        }
    }

    mutating func remove(_ client: Client, _ caller: Caller) {
        guard !caller.seesAll else { return ofEverybody.remove(client) }
        ofOwner[caller.owner]?.remove(client)
        if ofOwner[caller.owner]?.isEmpty == true { ofOwner[caller.owner] = nil }
    }
}

extension Client {
    fileprivate func watches(_ key: ApplicationKey) -> Bool {
        guard case .applicationWatch(let id, _) = openCall else { return false }
        return id == nil || id == key.id
    }
}

extension Daemon {
    func watchApplications(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let input = try decode(call, as: Applications.Watch.Input.self)
        guard call.more else { throw .service(.expectedMore) }
        let caller = try caller(client, all: input.all)
        let known: [ApplicationKey]
        if let id = input.id {
            let key = ApplicationKey(owner: caller.owner, id: id)
            _ = try ask { registry, _ throws(Refusal) in try registry.application(key) }
            known = [key]
        } else {
            known = registry.applicationKeys(of: caller.seesAll ? nil : caller.owner)
        }
        client.openCall = .applicationWatch(input.id, by: caller)
        client.eventCount = 0
        applicationWatchers.add(client)
        for key in known { deliver(.present(key), to: client) }
        if let id = input.id {
            tellBacklog(of: ApplicationKey(owner: caller.owner, id: id), to: client)
        }
    }

    /// Tells an application that watches itself what it has missed since its start.
    private func tellBacklog(of key: ApplicationKey, to client: Client) {
        guard let application = applications[key], !application.backlog.isTaken,
            client.origin == application.origin
        else { return }
        let (events, missed) = application.backlog.take()
        for event in events { deliver(.event(told(event, of: key)), to: client) }
        if missed > 0 { deliver(.missed(missed), to: client) }
    }

    /// Logs what an application is told, and tells those who watch it.
    func tell(_ event: ApplicationEvent, of key: ApplicationKey, at now: Instant) {
        journal.write(event, of: key, at: now)
        applications[key]?.backlog.add(event)
        let watching = applicationWatchers.all(of: key)
        guard !watching.isEmpty else { return }
        // It is written once for all of them.
        let told = told(event, of: key)
        for client in watching { deliver(.event(told), to: client) }
    }

    private func told(_ event: ApplicationEvent, of key: ApplicationKey) -> SharedMessage {
        SharedMessage(Applications.Event(event, of: key))
    }

    /// What a frozen reader may leave unread; what comes then is counted and not kept.
    private static let frozenReaderMax = 16_384

    /// Whether a reader has no room, and cannot help it: its application is suspended.
    func isFrozenAndFull(_ client: Client) -> Bool {
        guard client.connection.pendingOutputCount > Daemon.frozenReaderMax,
            registry.suspendedApplicationCount > 0
        else { return false }
        guard let origin = client.origin, applications.areRunning(origin) else { return false }
        return registry.isSuspended(origin.key)
    }
}
