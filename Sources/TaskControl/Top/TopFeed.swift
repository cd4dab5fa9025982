internal import TaskAPI
internal import Varlink

/// What the daemon tells the live view, from a connection on: all tasks once, then what happens.
///
/// Each stream has a connection of its own, and so have the calls that are answered at once. Nothing here waits.
final class TopFeed {
    private let session: Session
    private let isOfEverybody: Bool
    private let tasks: DaemonConnection
    private let applications: DaemonConnection
    private let calls: DaemonConnection
    private var hasApplications = true
    private var pending: [Pending] = []
    /// What happened while the list of all tasks was under way, which comes before it.
    private var backlog: [TopModel.Event]? = []
    private var listed: [Tasks.Task] = []
    private var lastNumber = 0
    private var output: TopOutputFeed?
    /// Whether applications have changed since they were asked for.
    private var areApplicationsStale = true

    /// A call that has been sent, and what becomes of the replies.
    private struct Pending {
        let order: TopModel.Order?
        let sentAt: Int
        let isRefusalTold: Bool
        /// Takes a reply, if one has come.
        let take: (DaemonConnection) throws(Failure) -> (events: [TopModel.Event], continues: Bool)?
    }

    /// How many replies are taken before keys are looked at again.
    private static let repliesMax = 500

    /// Connects, and asks for everything.
    init(_ session: Session, isOfEverybody: Bool, at now: Int) throws(Failure) {
        let session = Session(
            console: session.console, global: session.global, privilege: .all(isOfEverybody))
        self.session = session
        self.isOfEverybody = isOfEverybody
        tasks = try session.connect()
        applications = try session.connect()
        calls = try session.connect()
        var watch = Tasks.Watch.Input()
        watch.all = all
        try tasks.send(Tasks.Watch.self, watch, more: true)
        var watchApplications = Applications.Watch.Input()
        watchApplications.all = all
        try applications.send(Applications.Watch.self, watchApplications, more: true)
        // Calls of one user are taken in turn, so that the watch has begun when this is answered: what happens after
        // the list is told, too.
        try ask(ServiceInterface.GetInfo.self, Empty(), at: now) { [weak self] _ throws(Failure) in
            try self?.list(at: now)
            return []
        }
    }

    private var all: Bool? { isOfEverybody ? true : nil }

    /// What is to be waited for.
    var descriptors: [Int32] {
        [tasks.descriptor, calls.descriptor]
            + (hasApplications ? [applications.descriptor] : [])
            + (output?.descriptor.map { [$0] } ?? [])
    }

    /// Since when an answer is waited for; `nil` where none is.
    var waitsSince: Int? { pending.first?.sentAt }

    // MARK: What comes

    /// Takes what has come.
    ///
    /// - Returns: what it tells, and whether there is more.
    func receive(at now: Int) throws(Failure) -> (events: [TopModel.Event], hasMore: Bool) {
        var (events, hasMore) = try takeAnswers()
        let happened = try takeEvents(at: now)
        if backlog == nil { events += happened } else { backlog? += happened }
        takeApplications()
        events += output?.receive(at: now) ?? []
        return (events, hasMore || happened.count >= TopFeed.repliesMax)
    }

    private func takeAnswers() throws(Failure) -> (events: [TopModel.Event], hasMore: Bool) {
        var events: [TopModel.Event] = []
        var count = 0
        while let first = pending.first, count < TopFeed.repliesMax {
            do throws(Failure) {
                guard let (told, continues) = try first.take(calls) else { return (events, false) }
                if !continues { pending.removeFirst() }
                events += told
            } catch {
                guard error.refusal != nil else { throw error }
                pending.removeFirst()
                if first.isRefusalTold { events.append(.refused(first.order, error.line)) }
            }
            count += 1
        }
        return (events, count == TopFeed.repliesMax)
    }

    private func takeEvents(at now: Int) throws(Failure) -> [TopModel.Event] {
        var events: [TopModel.Event] = []
        do throws(Failure) {
            while events.count < TopFeed.repliesMax,
                let (reply, _) = try tasks.replyIfReady(Tasks.Watch.self)
            {
                let number = reply.event.number.clamped(to: 0...(.max - 1))
                let isMissing = number > lastNumber + 1
                lastNumber = number
                events.append(.happened(reply.event))
                if isMissing, backlog == nil {
                    backlog = []
                    try list(at: now)
                }
            }
        } catch {
            // That not everybody may watch the tasks of all users is the answer to the list, too.
            guard error.refusal != nil, isOfEverybody else { throw error }
        }
        return events
    }

    /// What an event of an application leaves out, the list of them has.
    private func takeApplications() {
        while hasApplications {
            do throws(Failure) {
                guard try applications.replyIfReady(Applications.Watch.self) != nil else { return }
                areApplicationsStale = true
            } catch {
                hasApplications = false
            }
        }
    }

    // MARK: What is asked

    private func ask<M: Method>(
        _ method: M.Type, _ input: M.Input, for order: TopModel.Order? = nil,
        isRefusalTold: Bool = false, at now: Int,
        _ read: @escaping (M.Output) throws(Failure) -> [TopModel.Event]
    ) throws(Failure) {
        try calls.send(method, input)
        pending.append(
            Pending(order: order, sentAt: now, isRefusalTold: isRefusalTold || order != nil) {
                connection throws(Failure) in
                guard let reply = try connection.replyIfReady(method) else { return nil }
                return (try read(reply.output), false)
            })
    }

    /// Asks for all tasks; what is told meanwhile comes after them.
    private func list(at now: Int) throws(Failure) {
        listed = []
        var input = Tasks.List.Input()
        input.all = all
        try calls.send(Tasks.List.self, input, more: true)
        pending.append(
            Pending(
                order: isOfEverybody ? .watch(everybody: true) : nil, sentAt: now,
                isRefusalTold: true
            ) {
                [weak self] connection throws(Failure) in
                guard let reply = try connection.replyIfReady(Tasks.List.self) else { return nil }
                return (self?.take(reply.output, continues: reply.continues) ?? [], reply.continues)
            })
    }

    private func take(_ reply: Tasks.List.Output, continues: Bool) -> [TopModel.Event] {
        listed += [reply.task].compactMap(\.self) + (reply.tasks ?? [])
        guard !continues else { return [] }
        let events = [.listed(listed)] + (backlog ?? [])
        listed = []
        backlog = nil
        return events
    }

    /// Asks for what no event tells: the groups, applications that have changed, and how these tasks are now.
    func look(at ids: [Int], at now: Int) throws(Failure) {
        guard pending.isEmpty, backlog == nil else { return }
        try ask(Tasks.Groups.self, Empty(), at: now) { [.grouped($0)] }
        if areApplicationsStale {
            areApplicationsStale = false
            var input = Applications.List.Input()
            input.all = all
            try ask(Applications.List.self, input, at: now) { [.appeared($0.applications)] }
        }
        for id in ids {
            try ask(Tasks.Show.self, reference(id), at: now) { [.shown($0.task)] }
        }
    }

    /// Passes an order on.
    func perform(_ order: TopModel.Order, at now: Int) throws(Failure) {
        switch order {
        case .explain(let id):
            try ask(Tasks.Explain.self, reference(id), for: order, at: now) {
                [.explained(id, $0.explanations)]
            }
        case .extend(let id):
            var input = Tasks.Extend.Input()
            (input.id, input.all) = (id, all)
            try ask(Tasks.Extend.self, input, for: order, at: now) { [.extended(id, $0.remaining)] }
        case .cancel(let id):
            var input = Tasks.Cancel.Input()
            (input.id, input.all) = (id, all)
            try ask(Tasks.Cancel.self, input, for: order, at: now) { _ in [.ordered(order)] }
        case .pause(let group):
            try ask(Tasks.PauseGroup.self, named(group), for: order, at: now) { _ in
                [.ordered(order)]
            }
        case .resume(let group):
            try ask(Tasks.ResumeGroup.self, named(group), for: order, at: now) { _ in
                [.ordered(order)]
            }
        case .quit, .redraw, .watch: break
        }
    }

    private func reference(_ id: Int) -> Tasks.Reference {
        var input = Tasks.Reference()
        (input.id, input.all) = (id, all)
        return input
    }

    private func named(_ group: String) -> Tasks.GroupReference {
        var input = Tasks.GroupReference()
        input.group = group
        return input
    }

    /// Reads the output of a task, and of no other.
    func follow(_ id: Int?, at now: Int) {
        guard output?.id != id else { return }
        output = id.map { TopOutputFeed(session, $0, all: all, at: now) }
    }

    /// When something is to be done again though nothing has come.
    var nextTime: Int? { output?.nextTime }
}
