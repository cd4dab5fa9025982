internal import BudgetCore
internal import Systemd
internal import TaskAPI
internal import Varlink

extension Daemon {
    /// Bytes of a listing or of output that are made before the reader has taken some.
    static let pumpMax = 262_144
    /// Tasks that one listing looks at before others have their turn.
    private static let listScanMax = 512

    /// Tells everybody who watches a task what happened to it.
    func tellWatchers(_ happening: Happening, _ record: TaskRecord, at now: Instant) {
        if let kind = Tasks.EventKind(happening) {
            var event = Tasks.Event()
            event.kind = kind
            event.task = Tasks.Task(record, in: registry, at: now)
            if happening == .attemptEnded { event.task.tellAttempts(of: record, at: now) }
            event.reason = event.task.attempts?.last?.reason ?? event.task.reason
            if kind == .status { event.text = event.task.status ?? "" }
            tell(event, to: watchers.all(of: record.task))
        }
        guard happening == .ended else { return }
        tellEnd(of: record, at: now)
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
            let told = SharedMessage(event)
            for client in readers { deliver(.event(told), to: client) }
        }
    }

    /// Whether somebody who reads what a task prints has not been written what there is: then it is to wait in the
    /// task's pipe, where it costs nobody anything.
    func areReadersBehind(_ id: TaskID) -> Bool {
        guard !rounds.isEmpty, let task = registry.record(id)?.task else { return false }
        return watchers.all(of: task).contains { client in
            switch client.openCall {
            case .watch(_, output: true, by: _): !client.events.isEmpty
            case .output: client.isInRounds
            default: false
            }
        }
    }

    private func tell(_ event: Tasks.Event, to clients: [Client]) {
        // It is written once for all of them.
        var told: SharedMessage?
        for client in clients where !client.isClosed {
            switch client.openCall {
            case .begin(let id):
                guard event.kind != .ended else { continue }
                client.eventCount += 1
                var output = Tasks.Begin.Output()
                output.id = id.number
                output.event = event
                output.event?.number = client.eventCount
                guard !isFrozenAndFull(client) else { continue }
                client.reply(output, continues: true)
                written(for: client)
            case .watch(let id, _, _):
                guard id == nil || event.kind != .ended else { continue }
                let message = told ?? SharedMessage(event)
                told = message
                deliver(.event(message), to: client)
            case .wait, .output, .list, .order, .groupOrder, .lookUp, .history, .applicationWatch,
                .applicationList, .application, .adoption, .account, nil:
                break
            }
        }
    }

    /// Writes an event for a reader, or lets it wait behind those that do.
    func deliver(_ entry: EventLine.Entry, to client: Client) {
        guard !client.isClosed else { return }
        if client.events.isEmpty, rounds.isFree { return write(entry, for: client) }
        client.events.append(entry)
        statistics.eventsWaited += 1
        rounds.count(1, bytes: entry.byteCount, of: client.ownerUse.owner)
        rounds.add(client)
        account(client)
        cutOffIfSlow(client)
    }

    /// Writes an event; a reader that leaves too many unread is cut off.
    ///
    /// One whose application is suspended cannot read: what it has no room for is counted in the numbers of its
    /// events alone.
    private func write(_ entry: EventLine.Entry, for client: Client) {
        // Several for one reader are sent together.
        rounds.charge(entry.byteCount + (client.isPending ? 0 : ReplyRounds.replyCost))
        switch entry {
        case .event(let message):
            client.eventCount += 1
            guard !isFrozenAndFull(client) else { return }
            client.reply(message, number: client.eventCount, continues: true)
            written(for: client)
        case .last(let message):
            let number = client.eventCount + 1
            watchers.remove(client)
            client.reply(message, number: number, continues: false)
            resume(client)
        case .missed(let count): client.eventCount += count
        case .present(let key):
            guard let application = try? registry.application(key) else { return }
            client.eventCount += 1
            guard !isFrozenAndFull(client) else { return }
            let event = Applications.Event(present: application, now, registry)
            client.reply(
                SharedMessage(event), number: client.eventCount, continues: true)
            written(for: client)
        }
    }

    private func written(for client: Client) {
        makePending(client)
        if client.connection.pendingOutputCount > Daemon.pumpMax { client.send() }
        account(client)
        cutOffIfSlow(client)
    }

    private func cutOffIfSlow(_ client: Client) {
        guard !client.isClosed, isOverflowing(client) else { return }
        client.isClosed = true
        makePending(client)
        statistics.slowReaders += 1
        logRefusal(.slowReaderCutOff, client.credentials, "it left its events unread")
    }

    /// Forgets what a client that is closed was still to be written.
    func dropEvents(of client: Client) {
        guard !client.events.isEmpty else { return }
        rounds.count(
            -client.events.count, bytes: -client.events.byteCount, of: client.ownerUse.owner)
        client.events.removeAll()
    }

    private func tellEnd(of record: TaskRecord, at now: Instant) {
        var (told, answer): (SharedMessage?, SharedMessage?) = (nil, nil)
        for client in watchers.clients(of: record.task.id) where !client.isClosed {
            switch client.openCall {
            case .watch:
                let message =
                    told ?? SharedMessage(Tasks.Event(endOf: record, in: registry, at: now))
                told = message
                deliver(.last(message), to: client)
            case .wait:
                let message = answer ?? waitAnswer(record, at: now)
                answer = message
                watchers.remove(client)
                client.reply(message, continues: false)
                resume(client)
            default: finish(client, with: record, at: now)
            }
        }
    }

    private func waitAnswer(_ record: TaskRecord, at now: Instant) -> SharedMessage {
        var output = Tasks.Wait.Output()
        output.task = Tasks.Task(record, in: registry, at: now)
        output.task?.tellAttempts(of: record, at: now)
        return SharedMessage(output)
    }

    /// A task has ended: the last reply to those who wait for just that.
    private func finish(_ client: Client, with record: TaskRecord, at now: Instant) {
        switch client.openCall {
        case .begin(let id):
            var event = Tasks.Event(endOf: record, in: registry, at: now)
            event.number = client.eventCount + 1
            var output = Tasks.Begin.Output()
            output.id = id.number
            output.event = event
            watchers.remove(client)
            client.reply(output)
            resume(client)
        case .output: wantReplies(client)
        default: break
        }
    }

    /// The time of a `Wait` is over: the answer is without a task.
    func answerWaitTimeout(_ client: Client) {
        watchers.remove(client)
        client.reply(Tasks.Wait.Output())
        resume(client)
    }

    /// Lets a client wait for its turn, if its call makes replies as fast as they are taken.
    func wantReplies(_ client: Client) {
        guard client.hasOpenCall, !client.isClosed else { return }
        switch client.openCall {
        case .list, .output, .applicationList: rounds.add(client)
        case .history(let listing): pumpHistory(client, listing)
        default: break
        }
    }

    /// Makes a piece of what a client whose turn it is waits for.
    func makePiece(for client: Client) {
        switch client.openCall {
        case .list(let cursor): makePiece(of: cursor, for: client)
        case .output(let id, let position, let follow):
            makePiece(ofOutput: id, from: position, follow: follow, for: client)
        case .applicationList(let cursor): makePiece(of: cursor, for: client)
        case .watch, .applicationWatch: writeNextEvent(for: client)
        default: break
        }
    }

    private func writeNextEvent(for client: Client) {
        guard let entry = client.events.popFirst() else { return }
        rounds.count(-1, bytes: -entry.byteCount, of: client.ownerUse.owner)
        write(entry, for: client)
        account(client)
        if !client.isClosed, !client.events.isEmpty { rounds.add(client) }
    }

    private func makePiece(of start: ListCursor, for client: Client) {
        var cursor = start
        let now = now
        let before = client.heldBytes
        var rows = 0
        defer {
            let made = max(client.heldBytes - before, 0)
            rounds.charge(rows * ReplyRounds.rowCost + made)
            // What waits for its reader to take something goes on when that is so.
            if made > 0 { makePending(client) }
        }
        while rows < Daemon.listScanMax {
            rows += 1
            guard mayMakeMore(for: client) else {
                return keep(cursor, of: client)
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
        if !client.isClosed { rounds.add(client) }
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

    /// Output that one reader is made before others have their turn.
    private static let outputPieceMax = 32_768

    private func makePiece(
        ofOutput id: TaskID, from start: Int, follow: Bool, for client: Client
    ) {
        var position = start
        let before = client.connection.pendingOutputCount
        var made = 0
        defer { rounds.charge(made) }
        while made < Daemon.outputPieceMax, mayMakeMore(for: client),
            let piece = outputPieces.piece(of: id, at: position, in: outputs[id])
        {
            position = piece.next
            client.reply(piece.message, continues: true)
            made = client.connection.pendingOutputCount - before + ReplyRounds.replyCost
            makePending(client)
        }
        guard !client.isClosed else { return }
        client.openCall = .output(id, position: position, follow: follow)
        let end = outputs[id]?.end ?? position
        let isAtEnd = outputs[id]?.piece(at: position) == nil
        let hasEnded = registry.record(id)?.task.state ?? .ended == .ended
        guard isAtEnd else {
            // One that has left too much unread goes on when it has taken some.
            if made >= Daemon.outputPieceMax { rounds.add(client) }
            return
        }
        guard !follow || hasEnded else { return }
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

extension SharedMessage {
    /// An event of a watch, whose readers each count their own.
    init(_ event: Tasks.Event) { self.init(event, as: "event", number: "number") }

    init(_ event: Applications.Event) { self.init(event, as: "event", number: "number") }
}

extension Tasks.Event {
    /// The last event of a task.
    init(endOf record: TaskRecord, in registry: borrowing BackgroundTaskRegistry, at now: Instant) {
        self.init()
        kind = .ended
        task = Tasks.Task(record, in: registry, at: now)
        reason = task.reason
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
