internal import BudgetCore
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

/// Who watches applications: those of one owner, or everybody's.
struct ApplicationWatchers {
    private var ofOwner: [OwnerID: [Client]] = [:]
    /// Operators who asked for all.
    private var ofEverybody: [Client] = []

    /// Everybody who is to be told of an application, the owner's own first.
    func all(of key: ApplicationKey) -> [Client] {
        ((ofOwner[key.owner] ?? []) + ofEverybody).filter {
            guard case .applicationWatch(let id, _) = $0.openCall else { return false }
            return id == nil || id == key.id
        }
    }

    mutating func add(_ client: Client) {
        guard case .applicationWatch(_, let caller) = client.openCall else { return }
        if caller.seesAll {
            ofEverybody.append(client)
        } else {
            ofOwner[caller.owner, default: []].append(client)
        }
    }

    mutating func remove(_ client: Client, _ caller: Caller) {
        guard !caller.seesAll else { return ofEverybody.removeAll { $0 === client } }
        ofOwner[caller.owner]?.removeAll { $0 === client }
        if ofOwner[caller.owner]?.isEmpty == true { ofOwner[caller.owner] = nil }
    }
}

extension Daemon {
    func watchApplications(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let input = try decode(call, as: Applications.Watch.Input.self)
        guard call.more else { throw .service(.expectedMore) }
        let caller = try caller(client, all: input.all)
        let known: [ManagedApplication]
        if let id = input.id {
            let key = ApplicationKey(owner: caller.owner, id: id)
            known = [
                try ask { registry, _ throws(Refusal) in try registry.application(key) }
            ]
        } else {
            known = registry.applications(of: caller.seesAll ? nil : caller.owner)
        }
        client.openCall = .applicationWatch(input.id, by: caller)
        client.eventCount = 0
        applicationWatchers.add(client)
        for application in known {
            send(Applications.Event(present: application, now, registry), to: client)
        }
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
        for event in events { send(Applications.Event(event, of: key), to: client) }
        client.eventCount += missed
    }

    /// Logs what an application is told, and tells those who watch it.
    func tell(_ event: ApplicationEvent, of key: ApplicationKey, at now: Instant) {
        journal.write(event, of: key, at: now)
        applications[key]?.backlog.add(event)
        let watching = applicationWatchers.all(of: key)
        guard !watching.isEmpty else { return }
        let told = Applications.Event(event, of: key)
        for client in watching { send(told, to: client) }
    }

    private func send(_ event: Applications.Event, to client: Client) {
        client.eventCount += 1
        var output = Applications.Watch.Output()
        output.event = event
        output.event.number = client.eventCount
        deliver(output, to: client)
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
