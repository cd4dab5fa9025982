package import BudgetCore
internal import Containers

/// The answers that are owed: calls that wait for something to happen, each with a ticket.
///
/// Whoever has the ticket answers it, or whoever knows what it is about: the core names what the disk has, or what an
/// application has done. A client who is gone is owed nothing.
package final class PendingReplies {
    /// Stands for one answer; the core knows it by its number.
    package struct Ticket: Hashable {
        let number: UInt64

        package init(number: UInt64) {
            self.number = number
        }
    }

    /// What answers may be about.
    package enum Subject: Hashable {
        /// Submissions and cancels of a task that wait for the disk.
        case order(TaskID)
        /// Orders about a group that wait for the disk: it answers one after the other, in their order.
        case group(String)
        /// The same of orders about all tasks of an owner, and of changes of a queued task.
        case owner(OwnerID)
        case change(TaskID)
        /// The same of orders of how many slots there are, of a group or of the daemon.
        case slots(String?)
        /// The same of orders that a user gave to forget tasks that have ended.
        case cleaning(OwnerID)
        /// The end of a task.
        case end(TaskID)
        /// That the times of a command are those that were set last.
        case times(TaskID)

        /// Whether the disk answers about it in the order of the orders, also of those who are gone.
        var isAnsweredInOrder: Bool {
            switch self {
            case .group, .owner, .change, .slots, .cleaning: true
            case .order, .end, .times: false
            }
        }
    }

    /// Answers the client; called once, where it was not refused.
    package typealias Completion = (Client) -> Void

    private struct Pending {
        /// `nil` once they are gone.
        var client: Client?
        let subject: Subject?
        let completion: Completion
        /// Called when it was not refused, whether anybody still waits for that or not.
        let succeeded: (() -> Void)?
        /// Called where the client is gone before.
        let dropped: (() -> Void)?
    }

    private let pool: ConnectionPool
    private let numbers: NumberSource
    private var pending: [Ticket: Pending] = [:]
    /// The oldest first.
    private var tickets: [Subject: KeyedQueue<Ticket, Ticket>] = [:]
    private var deadlines = Deadlines<UInt64>()

    package init(_ pool: ConnectionPool, _ numbers: NumberSource) {
        self.pool = pool
        self.numbers = numbers
    }

    /// A ticket for an answer that is going to be owed.
    package func newTicket() -> Ticket { Ticket(number: numbers.next()) }

    /// Keeps a client's call open until it is answered.
    ///
    /// - Parameters:
    ///   - ticket: `nil` for a new one.
    ///   - until: when it is answered at the latest; `.never` without a limit.
    ///   - succeeded: called when it was not refused; where the disk answers in order, also of who is gone.
    ///   - dropped: called where the client is gone before.
    package func open(
        _ client: Client, _ ticket: Ticket? = nil, about subject: Subject? = nil,
        until: Instant = .never, succeeded: (() -> Void)? = nil, dropped: (() -> Void)? = nil,
        completion: @escaping Completion
    ) {
        let ticket = ticket ?? newTicket()
        pending[ticket] = Pending(
            client: client, subject: subject, completion: completion, succeeded: succeeded,
            dropped: dropped)
        if let subject { tickets[subject, default: KeyedQueue()].append(ticket, as: ticket) }
        if until != .never { deadlines[ticket.number] = until }
        client.open(.reply(ticket))
    }

    // MARK: - What was waited for has happened

    /// Answers one, or says why it was refused.
    package func resolve(_ ticket: Ticket, _ failure: CallFailure? = nil) {
        guard let reply = remove(ticket) else { return }
        if failure == nil { reply.succeeded?() }
        guard let client = reply.client, !client.isClosed else { return }
        client.closeCall()
        if let failure { client.reply(failure) } else { reply.completion(client) }
        pool.resume(client)
    }

    /// Answers all that are about something.
    package func resolveAll(_ subject: Subject, _ refusal: Refusal?) {
        for ticket in waiting(for: subject) { resolve(ticket, refusal.map { .refused($0) }) }
    }

    /// Answers the oldest that is about something.
    package func resolveFirst(_ subject: Subject, _ refusal: Refusal?) {
        guard let ticket = tickets[subject]?.first else { return }
        resolve(ticket, refusal.map { .refused($0) })
    }

    /// Whether somebody waits for something.
    package func isAwaited(_ subject: Subject) -> Bool {
        !tickets.isEmpty && tickets[subject] != nil
    }

    /// Answers all that are about something with what they all get.
    package func resolveAll(_ subject: Subject, by reply: Completion) {
        for ticket in waiting(for: subject) {
            guard let client = remove(ticket)?.client, !client.isClosed else { continue }
            client.closeCall()
            reply(client)
            pool.resume(client)
        }
    }

    // MARK: - It has not happened

    /// When the first has waited long enough.
    package var nextDeadline: Instant? { deadlines.first }

    /// Answers those that have waited long enough.
    package func expire(at now: Instant) {
        for number in deadlines.due(at: now) { resolve(Ticket(number: number)) }
    }

    /// A client is gone, who has waited for this.
    package func drop(_ ticket: Ticket) {
        // Those of who is gone are waited for too.
        if pending[ticket]?.subject?.isAnsweredInOrder == true {
            pending[ticket]?.client = nil
            return
        }
        remove(ticket)?.dropped?()
    }

    private func waiting(for subject: Subject) -> [Ticket] {
        tickets[subject].map { Array($0.all) } ?? []
    }

    @discardableResult
    private func remove(_ ticket: Ticket) -> Pending? {
        guard let reply = pending.removeValue(forKey: ticket) else { return nil }
        if let subject = reply.subject {
            tickets[subject]?.remove(ticket)
            if tickets[subject]?.isEmpty == true { tickets[subject] = nil }
        }
        deadlines[ticket.number] = nil
        return reply
    }
}
