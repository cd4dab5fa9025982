internal import BudgetCore
internal import Containers
internal import TaskAPI
internal import TaskStore
internal import Varlink

/// Has the disk read for calls about tasks that only it knows, an account after the other.
final class HistoryLookups {
    /// Takes what was read.
    typealias Completion = (HistoryThread.Answer) -> Void

    /// Questions that the thread has at once: it answers one after the other.
    private static let askedMax = 2

    private struct Lookup {
        let client: Client
        let question: HistoryThread.Question
        let completion: Completion
    }

    private let core: Core
    private let thread: HistoryThread
    private let replies: PendingReplies
    private var waiting = KeyedFairQueue<OwnerID, UInt64, Lookup>()
    private var asked: [UInt64: Lookup] = [:]
    private var numberLast: UInt64 = 0

    init(_ core: Core, _ thread: HistoryThread, _ replies: PendingReplies) {
        self.core = core
        self.thread = thread
        self.replies = replies
    }

    /// Lets a client wait for its turn to have the disk read, once at a time.
    func ask(
        _ question: HistoryThread.Question, for client: Client, completion: @escaping Completion
    ) {
        waiting.add(
            Lookup(client: client, question: question, completion: completion), as: client.number,
            of: client.ownerUse.owner)
        askNext()
    }

    /// Forgets a client who waits no longer, so that a disk that does not answer keeps none that are gone.
    func forget(_ client: Client) { waiting.remove(client.number, of: client.ownerUse.owner) }

    private func askNext() {
        while asked.count < Self.askedMax, let lookup = waiting.next() {
            guard !lookup.client.isClosed else { continue }
            numberLast += 1
            asked[numberLast] = lookup
            thread.ask(lookup.question, number: numberLast)
        }
    }

    /// Takes what the disk has told.
    func takeAnswers() {
        for (number, answer) in thread.takeAnswers() {
            guard let lookup = asked.removeValue(forKey: number), !lookup.client.isClosed
            else { continue }
            lookup.completion(answer)
        }
        askNext()
    }

    /// Has the disk asked about a task, and the client answered.
    func find(
        _ id: TaskID, for caller: Caller, of client: Client,
        answer: @escaping (TaskRecord, Client) -> Void
    ) {
        let question = HistoryThread.Question.task(id, of: caller.seesAll ? nil : caller.owner)
        let missing = CallFailure.refused(.noSuchTask(id))
        find(by: question, of: client, missing: missing, answer: answer) { [core] found in
            guard case .task(let stored) = found else { return nil }
            return stored.flatMap { TaskRecord(ended: RestoredTask($0, core.clocks)) }
        }
    }

    /// Has the disk asked what a task of the client's was submitted with, and the client answered.
    ///
    /// - Parameter missing: what is answered where the disk knows no such task.
    func findSubmission(
        _ id: TaskID, of client: Client, missing: CallFailure,
        answer: @escaping (EndedSubmission, Client) -> Void
    ) {
        let question = HistoryThread.Question.submission(id, of: client.caller.owner)
        find(by: question, of: client, missing: missing, answer: answer) { found in
            guard case .submission(let submission) = found else { return nil }
            return submission
        }
    }

    /// Has the disk asked which of some tasks have ended, of those that the caller may see, and the client answered.
    func findEnded(
        _ ids: [TaskID], for caller: Caller, of client: Client,
        answer: @escaping (Set<TaskID>, Client) -> Void
    ) {
        let question = HistoryThread.Question.ended(ids, of: caller.seesAll ? nil : caller.owner)
        let missing = CallFailure.refused(.noSuchTask(.invalid))
        find(by: question, of: client, missing: missing, answer: answer) { found in
            guard case .ended(let ids) = found else { return nil }
            return ids
        }
    }

    /// Asks about one task; where nothing is found the client learns of that.
    private func find<Found>(
        by question: HistoryThread.Question, of client: Client, missing: CallFailure,
        answer: @escaping (Found, Client) -> Void,
        take: @escaping (HistoryThread.Answer) -> Found?
    ) {
        let ticket = replies.newTicket()
        var found: Found?
        replies.open(
            client, ticket, dropped: { [unowned self] in forget(client) },
            completion: { client in
                if let found {
                    answer(found, client)
                } else {
                    client.reply(missing)
                }
            })
        ask(question, for: client) { [replies] answer in
            if case .failed(let error) = answer {
                return replies.resolve(ticket, .unreadable(error))
            }
            found = take(answer)
            replies.resolve(ticket)
        }
    }
}

extension CallFailure {
    /// The history could not be read.
    static func unreadable(_ error: StoreError) -> CallFailure {
        .refused(.notAccepting("the history cannot be read: \(error.text)"))
    }
}

/// Lists tasks that have ended, page by page, as their reader takes them.
final class HistoryPager: Pager {
    /// Tasks that are read from the disk at once.
    private static let pageSize = 256
    /// The same where each task comes with up to ten attempts: a page is told in one go.
    private static let pageSizeWithAttempts = 32

    private let core: Core
    private let pool: ConnectionPool
    private let lookups: HistoryLookups
    private let filter: HistoryFilter
    private var cursor: HistoryCursor?
    /// What the one answer without `more` will hold; `nil` with `more`, where each task is a reply.
    private var collected: CollectedTasks?
    /// Whether the next page is read when the reader has taken what was made.
    private var wantsPage = false

    init(
        _ core: Core, _ pool: ConnectionPool, _ lookups: HistoryLookups, _ filter: HistoryFilter,
        more: Bool
    ) {
        self.core = core
        self.pool = pool
        self.lookups = lookups
        self.filter = filter
        collected = more ? nil : CollectedTasks()
    }

    var heldBytes: Int { collected?.heldBytes ?? 0 }

    func release() { collected = nil }

    func ended(for client: Client) { lookups.forget(client) }

    /// Has the first page read.
    func begin(for client: Client) { readPage(for: client) }

    func readerHasRoom(_ client: Client) {
        guard wantsPage, pool.mayMakeMore(for: client) else { return }
        wantsPage = false
        readPage(for: client)
    }

    /// Pages are made when they have been read.
    func makePiece(for client: Client) {}

    private func readPage(for client: Client) {
        let question = HistoryThread.Question.page(
            filter, after: cursor,
            countMax: filter.withAttempts ? Self.pageSizeWithAttempts : Self.pageSize)
        lookups.ask(question, for: client) { [unowned self] answer in
            switch answer {
            case .page(let page): send(page, to: client)
            case .failed(let error):
                client.closeCall()
                client.reply(.unreadable(error))
                pool.resume(client)
            case .task, .submission, .ended, .spans, .output: break
            }
        }
    }

    private func send(_ page: HistoryPage, to client: Client) {
        let clocks = core.clocks
        cursor = page.next
        var isComplete = page.next == nil
        for stored in page.tasks {
            guard let record = TaskRecord(ended: RestoredTask(stored, clocks)) else { continue }
            var task = Tasks.Task(record, in: core.registry, at: core.now)
            task.tellAttempts(of: record, at: core.now)
            guard collected != nil else {
                var output = Tasks.History.Output()
                output.task = task
                client.reply(output, continues: true)
                continue
            }
            guard collected?.take(task) == true else {
                isComplete = true
                break
            }
        }
        pool.account(client)
        pool.markDirty(client)
        // That may have been too much for its account's buffers: there is nobody to answer then.
        guard !client.isClosed else { return }
        if isComplete { finish(client) } else { wantsPage = true }
    }

    private func finish(_ client: Client) {
        var output = Tasks.History.Output()
        output.tasks = collected?.tasks
        output.truncated = collected?.isTruncated == true ? true : nil
        client.closeCall()
        client.reply(output)
        pool.resume(client)
    }
}
