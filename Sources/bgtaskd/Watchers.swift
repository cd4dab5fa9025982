internal import BudgetCore

/// Who waits for events: of one task, of all tasks of an owner, or of everybody's.
struct Watchers {
    private var ofTask: [TaskID: [Client]] = [:]
    private var ofOwner: [OwnerID: [Client]] = [:]
    /// Operators who asked for all.
    private var ofEverybody: [Client] = []
    private var waitDeadlines: [(until: Instant, client: Client)] = []

    /// When the first timeout of a `Wait` is over.
    var nextDeadline: Instant? { waitDeadlines.lazy.map(\.until).min() }

    func areWatching(_ id: TaskID, of owner: OwnerID) -> Bool {
        if ofTask.isEmpty, ofOwner.isEmpty, ofEverybody.isEmpty { return false }
        return ofTask[id] != nil || ofOwner[owner] != nil || !ofEverybody.isEmpty
    }

    /// Everybody who may be told of a task, those first who wait for just this one.
    func all(of task: BackgroundTask) -> [Client] {
        clients(of: task.id) + (ofOwner[task.owner] ?? []) + ofEverybody
    }

    func clients(of id: TaskID) -> [Client] {
        ofTask[id] ?? []
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
            ofTask[task, default: []].append(client)
        } else if case .watch(nil, _, by: let caller) = client.openCall, caller.seesAll {
            ofEverybody.append(client)
        } else {
            ofOwner[client.caller.owner, default: []].append(client)
        }
        if case .wait(_, let until) = client.openCall, until != .never {
            waitDeadlines.append((until, client))
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
            waitDeadlines.removeAll { $0.client === client }
        case .watch(let id?, _, _): remove(client, from: id)
        case .watch(nil, _, let caller) where caller.seesAll:
            ofEverybody.removeAll { $0 === client }
        case .watch(nil, _, let caller):
            ofOwner[caller.owner]?.removeAll { $0 === client }
            if ofOwner[caller.owner]?.isEmpty == true { ofOwner[caller.owner] = nil }
        case .list, .groupOrder, .lookUp, .history, .applicationWatch, .application, .adoption:
            break
        }
    }

    /// The clients whose `Wait` has waited long enough.
    func takeExpired(at now: Instant) -> [Client] {
        waitDeadlines.filter { $0.until <= now }.map(\.client)
    }

    private mutating func remove(_ client: Client, from id: TaskID) {
        guard let index = ofTask.index(forKey: id) else { return }
        if ofTask.values[index].count == 1 {
            if ofTask.values[index][0] === client { ofTask.remove(at: index) }
            return
        }
        ofTask.values[index].removeAll { $0 === client }
        if ofTask.values[index].isEmpty { ofTask.remove(at: index) }
    }
}
