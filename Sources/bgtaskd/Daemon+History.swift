internal import BudgetCore
internal import LinuxSystem
internal import TaskAPI
internal import TaskStore
internal import Varlink

/// What a call asks about a task that only the disk knows.
enum LookUp {
    case show, wait, explain
}

/// A listing of the history, and where it has come to.
struct HistoryListing {
    let filter: HistoryFilter
    var cursor: HistoryCursor?
    /// Whether there are no more pages.
    var isComplete = false
    /// What the one answer without `more` will hold; `nil` with `more`, where each task is a reply.
    var collected: CollectedTasks?
}

/// Clients whose calls wait for the disk to be read, an owner after the other.
struct QuestionQueue {
    /// Questions that the thread has at once: it answers one after the other.
    private static let askedMax = 2

    private var waiting = KeyedRounds<ObjectIdentifier, Client>()
    private var asked: [UInt64: Client] = [:]
    private var numberLast: UInt64 = 0

    mutating func add(_ client: Client) {
        waiting.add(client, as: ObjectIdentifier(client), of: client.ownerUse.owner)
    }

    /// The next client who may ask, and the number of the question.
    mutating func next() -> (client: Client, number: UInt64)? {
        while asked.count < QuestionQueue.askedMax, let client = waiting.next() {
            guard !client.isClosed else { continue }
            numberLast += 1
            asked[numberLast] = client
            return (client, numberLast)
        }
        return nil
    }

    /// Forgets a client who waits no longer, so that a disk that does not answer keeps none that are gone.
    mutating func remove(_ client: Client) {
        waiting.remove(ObjectIdentifier(client), of: client.ownerUse.owner)
    }

    mutating func takeAsker(of number: UInt64) -> Client? {
        asked.removeValue(forKey: number)
    }
}

extension Daemon {
    /// Tasks that are read from the disk at once.
    private static let pageSize = 256

    /// Answers `call` about a task from memory, or has the disk asked about it.
    ///
    /// - Returns: the record; `nil` where the disk is asked, and answers the client.
    func record(
        _ id: TaskID, for caller: Caller, _ lookUp: LookUp, of client: Client
    ) throws(CallFailure) -> TaskRecord? {
        do throws(Refusal) {
            return try registry.record(id, for: caller)
        } catch {
            // Another's task is asked for like one that never was, so that no time tells them apart.
            guard id != .invalid, id <= registry.identifierLast else { throw .refused(error) }
            open(.lookUp(id, lookUp, by: caller), task: nil, for: client)
            ask(client)
            return nil
        }
    }

    func history(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.History.Input.self)
        let caller = try caller(client, all: input.all)
        var filter = HistoryFilter()
        filter.owner = caller.seesAll ? nil : caller.owner
        filter.name = input.name
        filter.application = input.application
        filter.group = input.group
        filter.outcomes = input.outcomes.map(Outcome.those) ?? []
        filter.since = input.sinceMs.map { WallClock.now().earlier(by: .milliseconds($0)) }
        let listing = HistoryListing(
            filter: filter, collected: call.more ? nil : CollectedTasks())
        open(.history(listing), task: nil, for: client)
        ask(client)
    }

    /// Lets a client wait for its turn to have the disk read.
    private func ask(_ client: Client) {
        questions.add(client)
        askNext()
    }

    private func askNext() {
        while let (client, number) = questions.next() {
            switch client.openCall {
            case .lookUp(let id, _, let caller):
                historyThread.ask(
                    .task(id, of: caller.seesAll ? nil : caller.owner), number: number)
            case .history(let listing):
                historyThread.ask(
                    .page(listing.filter, after: listing.cursor, countMax: Daemon.pageSize),
                    number: number)
            default: _ = questions.takeAsker(of: number)
            }
        }
    }

    /// The disk has been read.
    func historyReady() {
        let now = now
        for (number, answer) in historyThread.takeAnswers() {
            guard let client = questions.takeAsker(of: number), !client.isClosed else { continue }
            take(answer, for: client, at: now)
        }
        askNext()
        endTurn(at: now)
    }

    private func take(_ answer: HistoryThread.Answer, for client: Client, at now: Instant) {
        switch (answer, client.openCall) {
        case (.task(let task), .lookUp(let id, let lookUp, let caller)):
            self.answer(client, id, lookUp, by: caller, with: task, at: now)
        case (.page(let page), .history(let listing)):
            send(page, of: listing, to: client, at: now)
        case (.failed(let error), _):
            watchers.remove(client)
            client.reply(
                .refused(.notAccepting("the history cannot be read: \(error.text)")))
            resume(client)
        default: break
        }
    }

    private func answer(
        _ client: Client, _ id: TaskID, _ lookUp: LookUp, by caller: Caller,
        with stored: StoredTask?, at now: Instant
    ) {
        watchers.remove(client)
        defer { resume(client) }
        let clocks = clocks(at: now)
        guard let stored, let record = TaskRecord(ended: RestoredTask(stored, clocks))
        else { return client.reply(.refused(.noSuchTask(id))) }
        let task = Tasks.Task(record, in: registry, at: now)
        switch lookUp {
        case .show:
            var output = Tasks.Show.Output()
            output.task = task
            output.task.tellAttempts(of: record, at: now)
            client.reply(output)
        case .wait:
            var output = Tasks.Wait.Output()
            output.task = task
            output.task?.tellAttempts(of: record, at: now)
            client.reply(output)
        case .explain:
            var output = Tasks.Explain.Output()
            output.explanations = [Tasks.Explanation(registry.explainEnd(record))]
            client.reply(output)
        }
    }

    private func send(
        _ page: HistoryPage, of start: HistoryListing, to client: Client, at now: Instant
    ) {
        var listing = start
        let clocks = clocks(at: now)
        listing.cursor = page.next
        listing.isComplete = page.next == nil
        for stored in page.tasks {
            guard let record = TaskRecord(ended: RestoredTask(stored, clocks)) else { continue }
            let task = Tasks.Task(record, in: registry, at: now)
            guard listing.collected != nil else {
                var output = Tasks.History.Output()
                output.task = task
                client.reply(output, continues: true)
                continue
            }
            guard listing.collected?.take(task) == true else {
                listing.isComplete = true
                break
            }
        }
        client.openCall = .history(listing)
        client.listedBytes = listing.collected?.heldBytes ?? 0
        account(client)
        makePending(client)
        // That may have been too much for its owner's buffers: there is nobody to answer then.
        guard !client.isClosed else { return }
        if listing.isComplete { finish(listing, of: client) } else { awaitNextPage(client) }
    }

    /// Goes on with a listing of the history, once the reader has taken what was made.
    func pumpHistory(_ client: Client, _ listing: HistoryListing) {
        guard client.wantsPage, mayMakeMore(for: client) else { return }
        client.wantsPage = false
        ask(client)
    }

    private func awaitNextPage(_ client: Client) {
        client.wantsPage = true
    }

    private func finish(_ listing: HistoryListing, of client: Client) {
        watchers.remove(client)
        client.listedBytes = 0
        var output = Tasks.History.Output()
        output.tasks = listing.collected?.tasks
        output.truncated = listing.collected?.isTruncated == true ? true : nil
        client.reply(output)
        resume(client)
    }
}
