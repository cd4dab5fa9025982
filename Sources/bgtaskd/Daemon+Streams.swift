internal import BudgetCore
internal import Systemd
internal import TaskAPI
internal import Varlink

extension Daemon {
    /// Bytes of a listing or of output that are made before the reader has taken some.
    static let pumpMax = 262_144
    /// Tasks that one listing looks at in one turn, and all listings together.
    private static let listScanMax = 512
    static let listScansPerTurn = 4096

    /// Tells everybody who watches a task what happened to it.
    func tellWatchers(_ happening: Happening, _ record: TaskRecord, at now: Instant) {
        let id = record.task.id
        if let kind = Tasks.EventKind(happening) {
            var task = Tasks.Task(record, in: registry, at: now)
            if happening == .attemptEnded { task.tellAttempts(of: record, at: now) }
            for client in watchers.all(of: record.task) { send(kind, task, to: client) }
        }
        guard happening == .ended else { return }
        for client in watchers.clients(of: id) { finish(client, with: record, at: now) }
    }

    /// Tells complete lines of output to those who watch with output, several in one event: an event
    /// carries the whole task, and a flood of short lines would be many times its size.
    func tellOutput(
        _ bytes: [UInt8], _ stream: OutputStream, _ record: TaskRecord, at now: Instant
    ) {
        let readers = watchers.outputReaders(of: record.task)
        guard !readers.isEmpty else { return }
        var event = Tasks.Event()
        event.kind = .output
        event.task = Tasks.Task(record, in: registry, at: now)
        event.stream = stream.rawValue
        for piece in LineCutter.pieces(of: bytes) {
            let isWhole = piece.last == UInt8(ascii: "\n")
            event.text = String(decoding: piece.dropLast(isWhole ? 1 : 0), as: UTF8.self)
            for client in readers { send(event, to: client) }
        }
    }

    private func send(_ kind: Tasks.EventKind, _ task: Tasks.Task, to client: Client) {
        var event = Tasks.Event()
        event.kind = kind
        event.task = task
        event.reason = task.attempts?.last?.reason ?? task.reason
        if kind == .status { event.text = task.status ?? "" }
        switch client.openCall {
        case .begin(let id):
            guard kind != .ended else { return }
            client.eventCount += 1
            event.number = client.eventCount
            var output = Tasks.Begin.Output()
            output.id = id.number
            output.event = event
            deliver(output, to: client)
        case .watch(let id, _, _):
            guard id == nil || kind != .ended else { return }
            send(event, to: client)
        case .wait, .output, .list, .order, .groupOrder, .lookUp, .history, .applicationWatch,
            .application, .adoption, nil:
            break
        }
    }

    private func send(_ event: Tasks.Event, to client: Client) {
        client.eventCount += 1
        var output = Tasks.Watch.Output()
        output.event = event
        output.event.number = client.eventCount
        deliver(output, to: client)
    }

    /// Sends an event; a reader that leaves too many unread is cut off.
    ///
    /// One whose application is suspended cannot read: what it has no room for is counted in the numbers of its
    /// events alone.
    func deliver<M: Message>(_ output: M, to client: Client) {
        guard !client.isClosed, !isFrozenAndFull(client) else { return }
        client.reply(output, continues: true)
        makePending(client)
        if client.connection.pendingOutputCount > Daemon.pumpMax { client.send() }
        account(client)
        guard !client.isClosed, isOverflowing(client) else { return }
        client.isClosed = true
        statistics.slowReaders += 1
        logRefusal(.slowReaderCutOff, client.credentials, "it left its events unread")
    }

    /// A task has ended: the last reply to those who wait for just that.
    private func finish(_ client: Client, with record: TaskRecord, at now: Instant) {
        guard let openCall = client.openCall, !client.isClosed else { return }
        var event = Tasks.Event()
        event.kind = .ended
        event.number = client.eventCount + 1
        event.task = Tasks.Task(record, in: registry, at: now)
        event.reason = event.task.reason
        switch openCall {
        case .begin(let id):
            var output = Tasks.Begin.Output()
            output.id = id.number
            output.event = event
            watchers.remove(client)
            client.reply(output)
        case .watch:
            var output = Tasks.Watch.Output()
            output.event = event
            watchers.remove(client)
            client.reply(output)
        case .wait:
            var output = Tasks.Wait.Output()
            output.task = event.task
            output.task?.tellAttempts(of: record, at: now)
            watchers.remove(client)
            client.reply(output)
        case .output: pump(client)
        case .list, .order, .groupOrder, .lookUp, .history, .applicationWatch, .application,
            .adoption:
            return
        }
        resume(client)
    }

    /// The time of a `Wait` is over: the answer is without a task.
    func answerWaitTimeout(_ client: Client) {
        watchers.remove(client)
        client.reply(Tasks.Wait.Output())
        resume(client)
    }

    /// Goes on with a listing or with output, as fast as the reader takes it.
    func pump(_ client: Client) {
        guard client.hasOpenCall, !client.isClosed else { return }
        switch client.openCall {
        case .list(let cursor): pumpList(client, cursor)
        case .output(let id, let position, let follow):
            pumpOutput(client, id, position, follow: follow)
        case .history(let listing): pumpHistory(client, listing)
        default: break
        }
    }

    private func pumpList(_ client: Client, _ start: ListCursor) {
        var cursor = start
        let now = now
        client.hadTurn = listScansLeft > 0
        for _ in 0..<min(Daemon.listScanMax, listScansLeft) {
            listScansLeft -= 1
            guard mayMakeMore(for: client) else {
                keep(cursor, of: client)
                return makePending(client)
            }
            guard let id = cursor.next(in: registry) else { return finishList(client, cursor) }
            guard let record = registry.record(id), cursor.includes(record, at: now)
            else { continue }
            let task = Tasks.Task(record, in: registry, at: now)
            guard cursor.collected != nil else {
                var output = Tasks.List.Output()
                output.task = task
                client.reply(output, continues: true)
                continue
            }
            guard cursor.collected?.take(task) == true else {
                return finishList(client, cursor)
            }
        }
        keep(cursor, of: client)
        client.wantsTurn = true
        makePending(client)
        continueLater()
    }

    /// Keeps a listing for its next part, and counts what it holds.
    private func keep(_ cursor: ListCursor, of client: Client) {
        guard !client.isClosed else { return }
        client.openCall = .list(cursor)
        client.listedBytes = cursor.heldBytes
        account(client)
    }

    private func finishList(_ client: Client, _ cursor: ListCursor) {
        watchers.remove(client)
        client.listedBytes = 0
        var output = Tasks.List.Output()
        output.tasks = cursor.collected?.tasks
        output.truncated = cursor.collected?.isTruncated == true ? true : nil
        client.reply(output)
        resume(client)
    }

    private func pumpOutput(_ client: Client, _ id: TaskID, _ start: Int, follow: Bool) {
        var position = start
        while mayMakeMore(for: client),
            let piece = outputs[id]?.piece(at: position)
        {
            var output = Tasks.Output.Output()
            output.stream = piece.stream.rawValue
            output.text = String(decoding: piece.bytes, as: UTF8.self)
            output.dropped = piece.dropped > 0 ? piece.dropped : nil
            position = piece.next
            client.reply(output, continues: true)
            makePending(client)
        }
        client.openCall = .output(id, position: position, follow: follow)
        let end = outputs[id]?.end ?? position
        let isAtEnd = outputs[id]?.piece(at: position) == nil
        let hasEnded = registry.record(id)?.task.state ?? .ended == .ended
        guard isAtEnd, !follow || hasEnded else { return }
        watchers.remove(client)
        var output = Tasks.Output.Output()
        output.stream = OutputStream.stdout.rawValue
        output.dropped = end > position ? end - position : nil
        client.reply(output)
        resume(client)
    }

    /// A client's open call has had its last reply: those that wait behind it are taken next.
    func resume(_ client: Client) {
        account(client)
        makePending(client)
        if client.connection.callsWaiting > 0 { continueLater() }
    }
}

extension Tasks.EventKind {
    /// `nil` for what is told in the journal alone.
    init?(_ happening: Happening) {
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
