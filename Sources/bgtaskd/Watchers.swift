internal import BudgetCore

/// Who waits for events: of one task, of all tasks of an owner, or of everybody's.
struct Watchers {
    private var ofTask: [TaskID: ClientList] = [:]
    private var ofOwner: [OwnerID: ClientList] = [:]
    /// Operators who asked for all.
    private var ofEverybody = ClientList()
    private var waits = Deadlines<UInt64>()
    private var waiters: [UInt64: Client] = [:]

    /// When the first timeout of a `Wait` is over.
    var nextDeadline: Instant? { mutating get { waits.first } }

    func areWatching(_ id: TaskID, of owner: OwnerID) -> Bool {
        if ofTask.isEmpty, ofOwner.isEmpty, ofEverybody.isEmpty { return false }
        return ofTask[id] != nil || ofOwner[owner] != nil || !ofEverybody.isEmpty
    }

    /// Everybody who may be told of a task, those first who wait for just this one.
    func all(of task: BackgroundTask) -> [Client] {
        var all = clients(of: task.id)
        if let own = ofOwner[task.owner] { all += own.all }
        all += ofEverybody.all
        return all
    }

    func clients(of id: TaskID) -> [Client] {
        ofTask[id].map { Array($0.all) } ?? []
    }

    /// Those who follow the output of a task.
    func followers(of id: TaskID) -> [Client] {
        guard !ofTask.isEmpty else { return [] }
        return clients(of: id).filter {
            if case .output = $0.openCall { true } else { false }
        }
    }

    /// Those for whom a line of a task's output is an event.
    func outputReaders(of task: BackgroundTask) -> [Client] {
        guard areWatching(task.id, of: task.owner) else { return [] }
        return all(of: task).filter {
            if case .watch(_, output: true, by: _) = $0.openCall { true } else { false }
        }
    }

    mutating func add(_ client: Client, task: TaskID?) {
        switch client.openCall {
        case .list, .groupOrder, .lookUp, .history: return
        default: break
        }
        if let task {
            ofTask[task, default: ClientList()].add(client)
        } else if case .watch(nil, _, by: let caller) = client.openCall, caller.seesAll {
            ofEverybody.add(client)
        } else {
            ofOwner[client.caller.owner, default: ClientList()].add(client)
        }
        if case .wait(_, let until) = client.openCall, until != .never {
            waits[client.token] = until
            waiters[client.token] = client
        }
    }

    mutating func remove(_ client: Client) {
        guard let openCall = client.openCall else { return }
        client.openCall = nil
        client.eventCount = 0
        switch openCall {
        case .begin(let id), .output(let id, _, _), .order(let id, _): remove(client, from: id)
        case .wait(let id, _):
            remove(client, from: id)
            waits[client.token] = nil
            waiters[client.token] = nil
        case .watch(let id?, _, _): remove(client, from: id)
        case .watch(nil, _, let caller) where caller.seesAll: ofEverybody.remove(client)
        case .watch(nil, _, let caller):
            ofOwner[caller.owner]?.remove(client)
            if ofOwner[caller.owner]?.isEmpty == true { ofOwner[caller.owner] = nil }
        case .list, .groupOrder, .lookUp, .history, .applicationWatch, .applicationList,
            .application, .adoption, .account:
            break
        }
    }

    /// The clients whose `Wait` has waited long enough.
    func expired(at now: Instant) -> [Client] {
        waits.due(at: now).compactMap { waiters[$0] }
    }

    private mutating func remove(_ client: Client, from id: TaskID) {
        guard let index = ofTask.index(forKey: id) else { return }
        ofTask.values[index].remove(client)
        if ofTask.values[index].isEmpty { ofTask.remove(at: index) }
    }
}
