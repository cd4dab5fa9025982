internal import BudgetCore

/// Who waits for events: of one task, or of all.
struct Watchers {
    private var ofTask: [TaskID: [Client]] = [:]
    private(set) var ofAll: [Client] = []
    private var waitDeadlines: [(until: Instant, client: Client)] = []

    /// When the first timeout of a `Wait` is over.
    var nextDeadline: Instant? { waitDeadlines.map(\.until).min() }

    func areWatching(_ id: TaskID) -> Bool {
        !ofAll.isEmpty || ofTask[id] != nil
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

    /// Whether a line of a task's output is an event for somebody.
    func wantOutput(of id: TaskID) -> Bool {
        (ofAll + clients(of: id)).contains {
            if case .watch(_, output: true, all: _) = $0.openCall { true } else { false }
        }
    }

    mutating func add(_ client: Client, task: TaskID?) {
        if case .list = client.openCall { return }
        if let task {
            ofTask[task, default: []].append(client)
        } else {
            ofAll.append(client)
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
        case .begin(let id), .output(let id, _, _): remove(client, from: id)
        case .wait(let id, _):
            remove(client, from: id)
            waitDeadlines.removeAll { $0.client === client }
        case .watch(let id?, _, _): remove(client, from: id)
        case .watch(nil, _, _): ofAll.removeAll { $0 === client }
        case .list: break
        }
    }

    /// The clients whose `Wait` has waited long enough.
    func takeExpired(at now: Instant) -> [Client] {
        waitDeadlines.filter { $0.until <= now }.map(\.client)
    }

    private mutating func remove(_ client: Client, from id: TaskID) {
        ofTask[id]?.removeAll { $0 === client }
        if ofTask[id]?.isEmpty == true { ofTask[id] = nil }
    }
}
