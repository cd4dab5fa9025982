package import BudgetCore
internal import TaskAPI
internal import Varlink

/// Who is told what happens: to one task, to all tasks of an owner, to everybody's, and to applications.
package final class Subscriptions {
    private let core: Core
    private let pool: ConnectionPool
    private let streams: ReplyStreams
    private var byTask: [TaskID: ClientList] = [:]
    private var byOwner: [OwnerID: ClientList] = [:]
    /// Operators who asked for all tasks.
    private var ofEverybody = ClientList()
    /// What they are told where they are very many.
    private var fanOut = FanOut()
    private var applicationsByOwner: [OwnerID: ClientList] = [:]
    /// Operators who asked for all applications.
    private var applicationsOfEverybody = ClientList()

    package init(_ core: Core, _ pool: ConnectionPool, _ streams: ReplyStreams) {
        self.core = core
        self.pool = pool
        self.streams = streams
    }

    // MARK: - Who

    /// Tells a client from now on.
    ///
    /// - Parameter told: events that it has been told already.
    /// - Returns: the stream that its events go to.
    @discardableResult
    package func add(_ client: Client, _ subject: EventStream.Subject, told: Int = 0) -> EventStream
    {
        let stream = EventStream(subject, count: told)
        client.open(.events(stream))
        switch subject {
        case .begun(let id), .task(let id, _, _): byTask[id, default: ClientList()].add(client)
        case .tasks(_, _, let caller) where caller.seesAll: ofEverybody.add(client)
        case .tasks(_, _, let caller): byOwner[caller.owner, default: ClientList()].add(client)
        case .applications(_, let caller) where caller.seesAll: applicationsOfEverybody.add(client)
        case .applications(_, let caller):
            applicationsByOwner[caller.owner, default: ClientList()].add(client)
        }
        return stream
    }

    /// Tells a client no more.
    package func remove(_ client: Client, _ stream: EventStream) {
        streams.drop(client, stream)
        switch stream.subject {
        case .begun(let id), .task(let id, _, _): byTask.remove(client, of: id)
        case .tasks(_, _, let caller) where caller.seesAll: ofEverybody.remove(client)
        case .tasks(_, _, let caller): byOwner.remove(client, of: caller.owner)
        case .applications(_, let caller) where caller.seesAll:
            applicationsOfEverybody.remove(client)
        case .applications(_, let caller): applicationsByOwner.remove(client, of: caller.owner)
        }
    }

    /// Lets a client that reads a task's output know of what is printed.
    func addReader(_ client: Client, of id: TaskID) {
        byTask[id, default: ClientList()].add(client)
    }

    func removeReader(_ client: Client, of id: TaskID) { byTask.remove(client, of: id) }

    /// Whether somebody is to be told of a task.
    package func areThere(for id: TaskID, of owner: OwnerID) -> Bool {
        if byTask.isEmpty, byOwner.isEmpty, ofEverybody.isEmpty { return false }
        return byTask[id] != nil || byOwner[owner] != nil || !ofEverybody.isEmpty
    }

    /// Everybody who may be told of a task, those first who wait for just this one.
    private func all(of task: BackgroundTask) -> [Client] {
        let all = followers(of: task).reduce(clients(of: task.id)) { $0 + $1.all }
        return all.filter { $0.eventStream?.includes(task) ?? true }
    }

    /// Who follows all tasks, this one included.
    private func followers(of task: BackgroundTask) -> [ClientList] {
        [byOwner[task.owner] ?? ClientList(), ofEverybody].filter { !$0.isEmpty }
    }

    private func clients(of id: TaskID) -> [Client] { byTask[id].map { Array($0.all) } ?? [] }

    // MARK: - Tasks

    /// Tells everybody what happened to a task.
    package func publish(_ happening: Happening, _ record: TaskRecord) {
        if let kind = Tasks.EventKind(happening) {
            var event = Tasks.Event()
            event.kind = kind
            event.task = Tasks.Task(record, in: core.registry, at: core.now)
            if happening == .attemptEnded { event.task.tellAttempts(of: record, at: core.now) }
            event.reason = event.task.attempts?.last?.reason ?? event.task.reason
            if kind == .status { event.text = event.task.status ?? "" }
            publish(event, of: record.task)
        }
        if happening == .ended { publishEnd(of: record) }
    }

    private func publish(_ event: Tasks.Event, of task: BackgroundTask) {
        // It is written once for all of them.
        var shared: SharedMessage?
        for client in clients(of: task.id) where !client.isClosed {
            guard let stream = client.eventStream else { continue }
            switch stream.subject {
            case .begun(let id):
                // The last one ends the call.
                guard event.kind != .ended else { continue }
                var output = Tasks.Begin.Output()
                output.id = id.number
                output.event = event
                output.event?.number = stream.told()
                streams.write(output, for: client, of: stream)
            // The last one ends the call.
            case .task where event.kind == .ended: continue
            case .task:
                let message = shared ?? SharedMessage(event)
                shared = message
                streams.deliver(.event(message), to: client, of: stream)
            case .tasks, .applications: break
            }
        }
        let followers = followers(of: task)
        if !followers.isEmpty { tell(shared ?? SharedMessage(event), of: task, followers) }
    }

    // MARK: - Those who follow all tasks

    /// So many are told of an event at once; where there are more, the others wait with those before them.
    private static let toldAtOnce = 32
    /// How many are told in a turn of what waits.
    private static let toldPerTurn = 1024

    private func tell(
        _ message: SharedMessage, isOutput: Bool = false, of task: BackgroundTask,
        _ followers: [ClientList]
    ) {
        let account = followers[0].all.first { _ in true }?.ownerUse.owner ?? task.owner
        let event = FanOut.Event(
            message: message, task: task, isOutput: isOutput, account: account,
            followers: followers)
        guard !fanOut.isEmpty || followers.reduce(0, { $0 + $1.count }) > Self.toldAtOnce else {
            for client in followers.lazy.flatMap(\.all) { tell(client, event) }
            return
        }
        fanOut.append(event)
        streams.count(1, bytes: message.byteCount, of: account)
    }

    private func tell(_ client: Client, _ event: FanOut.Event) {
        guard !client.isClosed, let stream = client.eventStream, case .tasks = stream.subject,
            stream.includes(event.task), stream.tellsOutput || !event.isOutput
        else { return }
        streams.deliver(.event(event.message), to: client, of: stream)
    }

    /// Whether some are still to be told of an event.
    var isTelling: Bool { !fanOut.isEmpty }

    /// Goes on with what very many are told.
    func tellMore() {
        guard isTelling else { return }
        let told = fanOut.tell(atMost: Self.toldPerTurn) { tell($0, $1) }
        for event in told { streams.count(-1, bytes: -event.message.byteCount, of: event.account) }
    }

    /// A task has ended: the last reply to those who follow just this one.
    private func publishEnd(of record: TaskRecord) {
        var shared: SharedMessage?
        for client in clients(of: record.task.id) where !client.isClosed {
            guard let stream = client.eventStream else {
                streams.readerHasRoom(client)
                continue
            }
            if case .begun(let id) = stream.subject {
                finish(client, stream, of: id, record)
            } else {
                let message = shared ?? SharedMessage(event(endOf: record))
                shared = message
                streams.deliver(.last(message), to: client, of: stream)
            }
        }
    }

    private func finish(
        _ client: Client, _ stream: EventStream, of id: TaskID, _ record: TaskRecord
    ) {
        var output = Tasks.Begin.Output()
        output.id = id.number
        output.event = event(endOf: record)
        output.event?.number = stream.told()
        remove(client, stream)
        client.closeCall()
        client.reply(output)
        pool.resume(client)
    }

    private func event(endOf record: TaskRecord) -> Tasks.Event {
        var event = Tasks.Event()
        event.kind = .ended
        event.task = Tasks.Task(record, in: core.registry, at: core.now)
        event.reason = event.task.reason
        return event
    }

    // MARK: - Output

    /// Tells complete lines of output to those who watch with output, several in one event: an event carries the whole
    /// task, and a flood of short lines would be many times its size.
    package func publishOutput(_ bytes: [UInt8], _ output: OutputStream, of task: TaskID) {
        wakeReaders(of: task)
        guard let record = core.registry.record(task),
            areThere(for: task, of: record.task.owner)
        else { return }
        let readers = clients(of: task).compactMap { client in
            client.eventStream.flatMap { $0.tellsOutput ? (client, $0) : nil }
        }
        let followers = followers(of: record.task).filter { list in
            list.all.contains { $0.eventStream?.tellsOutput == true }
        }
        guard !readers.isEmpty || !followers.isEmpty else { return }
        var event = Tasks.Event()
        event.kind = .output
        event.task = Tasks.Task(record, in: core.registry, at: core.now)
        event.stream = output.rawValue
        for piece in LineCutter.pieces(of: bytes) {
            let isWhole = piece.last == UInt8(ascii: "\n")
            event.text = String(decoding: piece.dropLast(isWhole ? 1 : 0), as: UTF8.self)
            let message = SharedMessage(event)
            for (client, stream) in readers {
                streams.deliver(.event(message), to: client, of: stream)
            }
            if !followers.isEmpty { tell(message, isOutput: true, of: record.task, followers) }
        }
    }

    /// Goes on for those who follow the output of a task.
    private func wakeReaders(of task: TaskID) {
        guard !byTask.isEmpty else { return }
        for client in clients(of: task) { streams.readerHasRoom(client) }
    }

    /// Whether somebody who reads what a task prints has not been written what there is: then it is to wait in the
    /// task's pipe, where it costs nobody anything.
    func areReadersBehind(_ id: TaskID) -> Bool {
        guard !streams.isEmpty || isTelling, let task = core.registry.record(id)?.task else {
            return false
        }
        return all(of: task).contains { client in
            if let stream = client.eventStream {
                return stream.tellsOutput && (stream.isWaiting || isTelling)
            }
            return client.pager != nil && client.isIn(.replies)
        }
    }

    // MARK: - Applications

    /// Tells everybody what an application is told.
    func publish(_ event: ApplicationEvent, of key: ApplicationKey) {
        let told = readers(of: key)
        guard !told.isEmpty else { return }
        // It is written once for all of them.
        let message = SharedMessage(Applications.Event(event, of: key))
        for (client, stream) in told { streams.deliver(.event(message), to: client, of: stream) }
    }

    /// Everybody who is to be told of an application, the owner's own first.
    private func readers(of key: ApplicationKey) -> [(Client, EventStream)] {
        var clients: [Client] = []
        if let own = applicationsByOwner[key.owner] { clients += own.all }
        clients += applicationsOfEverybody.all
        return clients.compactMap { client in
            guard let stream = client.eventStream, case .applications(let id, _) = stream.subject,
                id == nil || id == key.id
            else { return nil }
            return (client, stream)
        }
    }
}

extension [TaskID: ClientList] {
    fileprivate mutating func remove(_ client: Client, of id: TaskID) {
        guard let index = index(forKey: id) else { return }
        values[index].remove(client)
        if values[index].isEmpty { remove(at: index) }
    }
}

extension [OwnerID: ClientList] {
    fileprivate mutating func remove(_ client: Client, of owner: OwnerID) {
        self[owner]?.remove(client)
        if self[owner]?.isEmpty == true { self[owner] = nil }
    }
}

extension SharedMessage {
    /// An event of a watch, whose readers each count their own.
    fileprivate init(_ event: Tasks.Event) {
        self.init(event, as: "event", number: "number")
    }

    init(_ event: Applications.Event) { self.init(event, as: "event", number: "number") }
}

extension Tasks.EventKind {
    /// `nil` for what is told in the journal alone.
    fileprivate init?(_ happening: Happening) {
        switch happening {
        case .queued: self = .queued
        case .began: self = .began
        case .dormant: self = .dormant
        case .resumed: self = .resumed
        case .extended: self = .extended
        case .status: self = .status
        case .handlerFired, .cancelling: self = .expiring
        case .attemptEnded: self = .attempt
        case .ended: self = .ended
        case .grewOld: self = .warning
        case .overrunning, .stuck: return nil
        }
    }
}
