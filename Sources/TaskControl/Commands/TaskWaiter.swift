internal import Glibc
internal import TaskAPI
internal import Varlink

/// Waits for the end of tasks, for the verbs that exit with their status; over a restart of the daemon too.
struct TaskWaiter {
    private let connection: DaemonConnection
    private let console: Console
    private let signals: SignalInbox
    private let connect: () throws(Failure) -> DaemonConnection

    /// How long a daemon may be away that has closed the connection.
    private static let patience = Duration.seconds(30)
    /// How long it is until another try to reach it.
    private static let pause = Duration.milliseconds(200)
    /// Connections that may end as soon as they are made, one after the other.
    private static let vainMax = 3
    private static let soon = Duration.seconds(1)

    /// - Parameter connect: makes another connection.
    init(
        _ connection: DaemonConnection, _ console: Console, _ signals: SignalInbox,
        _ connect: @escaping () throws(Failure) -> DaemonConnection
    ) {
        self.connection = connection
        self.console = console
        self.signals = signals
        self.connect = connect
    }

    // MARK: - One task

    /// Waits until a task has ended.
    ///
    /// - Parameters:
    ///   - following: show its output from the beginning.
    ///   - timeoutMs: how long at most.
    ///   - all: whether the task may be another user's.
    /// - Returns: the exit status that stands for its end.
    func wait(
        for id: Int, following: Bool = false, timeoutMs: Int? = nil, all: Bool? = nil
    ) throws(Failure) -> Int32 {
        let deadline = deadline(timeoutMs)
        let task =
            following
            ? try followed(id, all: all, until: deadline)
            : try awaited(id, all: all, until: deadline)
        guard let task else {
            let time = timeoutMs.map { " after \(TimeText.span($0))" } ?? ""
            throw Failure("task \(id) has not ended\(time)", status: ExitStatus.ours)
        }
        if console.isJSON { console.write(JSONLine.text(task)) }
        if let reason = ExitStatus.reason(for: task) { console.notice(reason) }
        return ExitStatus.status(of: task)
    }

    /// The task as it ended, whose output is shown meanwhile; `nil` where the time is over before that.
    private func followed(
        _ id: Int, all: Bool?, until deadline: ContinuousClock.Instant?
    ) throws(Failure) -> Tasks.Task? {
        let output = FollowedOutput(of: id, console)
        return try overRestarts(of: [id], until: deadline) {
            connection throws(Failure) -> Tasks.Task? in
            try output.ask(connection)
            // Asked for before the output has ended, so that a daemon which stops then has answered.
            try connection.send(Tasks.Wait.self, question(id, all: all))
            while output.isOpen {
                guard
                    case .reply(let piece, let continues) = try next(Tasks.Output.self, connection)
                else { detach(from: [id]) }
                output.show(piece, continues: continues)
            }
            return try end(of: id, connection, until: deadline)
        }
    }

    /// The same without its output: a person is told how it is.
    private func awaited(
        _ id: Int, all: Bool?, until deadline: ContinuousClock.Instant?
    ) throws(Failure) -> Tasks.Task? {
        let glance = TaskGlance(at: id, all: all, connect)
        return try console.saying {
            glance.text()
        } while: { () throws(Failure) in
            try overRestarts(of: [id], until: deadline) {
                connection throws(Failure) -> Tasks.Task? in
                try connection.send(Tasks.Wait.self, question(id, all: all))
                return try end(of: id, connection, until: deadline)
            }
        }
    }

    // MARK: - Several

    /// Waits until all of several tasks have ended, or the first of them has, whose number is printed.
    ///
    /// - Returns: the first status that is not 0, in the order of the tasks.
    func wait(
        for ids: [Int], any: Bool, timeoutMs: Int?, all: Bool?
    ) throws(Failure) -> Int32 {
        guard !ids.isEmpty else {
            console.hint("no such task is live")
            return 0
        }
        let deadline = deadline(timeoutMs)
        // One that is not there is said before anything is waited for.
        _ = try overRestarts(of: ids, until: deadline) { connection throws(Failure) in
            try open(of: ids, connection, all: all)
        }
        let ends =
            any
            ? [try firstEnd(of: ids, all: all, until: deadline)].compactMap(\.self)
            : try allEnds(of: ids, all: all, until: deadline)
        guard ends.count == (any ? 1 : ids.count) else {
            let time = TimeText.span(timeoutMs ?? 0)
            // The other connection still waits.
            let left = try open(of: ids, connect(), all: all).map(String.init)
            let open = left.joined(separator: ", ")
            throw Failure("not ended after \(time): task \(open)", status: ExitStatus.ours)
        }
        return conclude(ends, any: any)
    }

    /// Those of the tasks that have not ended.
    private func open(
        of ids: [Int], _ connection: DaemonConnection, all: Bool?
    ) throws(Failure) -> [Int] {
        var open: [Int] = []
        for id in ids {
            var input = Tasks.Show.Input()
            input.id = id
            input.all = all
            let task = try connection.call(Tasks.Show.self, input).task
            if task.state != .ended { open.append(id) }
        }
        return open
    }

    /// The tasks as they ended, in their order, as far as the time goes.
    private func allEnds(
        of ids: [Int], all: Bool?, until deadline: ContinuousClock.Instant?
    ) throws(Failure) -> [Tasks.Task] {
        var ends: [Tasks.Task] = []
        _ = try console.saying {
            ActivityText.tasks(ids, endedCount: ends.count)
        } while: { () throws(Failure) in
            try overRestarts(of: ids, until: deadline) { connection throws(Failure) -> Void? in
                for id in ids[ends.count...] {
                    try connection.send(Tasks.Wait.self, question(id, all: all))
                    guard let task = try end(of: id, connection, until: deadline) else {
                        return nil
                    }
                    ends.append(task)
                }
                return ()
            }
        }
        return ends
    }

    /// The task that ends first, of several that have ended already the one that is named first.
    ///
    /// - Returns: `nil` where the time is over before that.
    private func firstEnd(
        of ids: [Int], all: Bool?, until deadline: ContinuousClock.Instant?
    ) throws(Failure) -> Tasks.Task? {
        try console.saying {
            ActivityText.first(of: ids)
        } while: { () throws(Failure) in
            try overRestarts(of: ids, until: deadline) { _ throws(Failure) -> Tasks.Task? in
                try firstReply(of: ids, all: all, until: deadline)
            }
        }
    }

    private func firstReply(
        of ids: [Int], all: Bool?, until deadline: ContinuousClock.Instant?
    ) throws(Failure) -> Tasks.Task? {
        var waits: [DaemonConnection] = []
        for id in ids {
            let wait = try connect()
            try wait.send(Tasks.Wait.self, question(id, all: all))
            waits.append(wait)
        }
        while true {
            for wait in waits {
                if let reply = try wait.replyIfReady(Tasks.Wait.self) {
                    return reply.output.task
                }
            }
            if signals.next() != nil { detach(from: ids) }
            let watched = waits.map(\.descriptor) + [signals.descriptor]
            guard console.wait(for: watched, until: deadline) else { return nil }
        }
    }

    private func conclude(_ ends: [Tasks.Task], any: Bool) -> Int32 {
        for task in ends {
            if console.isJSON {
                console.write(JSONLine.text(task))
            } else if any {
                console.write("\(task.id)\n")
            }
            if let reason = ExitStatus.reason(for: task) { console.notice(reason) }
        }
        return ends.map(ExitStatus.status(of:)).first { $0 != 0 } ?? 0
    }

    // MARK: - Waiting

    private func deadline(_ timeoutMs: Int?) -> ContinuousClock.Instant? {
        timeoutMs.map { ContinuousClock.now.advanced(by: .milliseconds($0)) }
    }

    private func question(_ id: Int, all: Bool?) -> Tasks.Wait.Input {
        var input = Tasks.Wait.Input()
        input.id = id
        input.all = all
        return input
    }

    /// The answer about a task's end that was asked for; `nil` where the time is over before it.
    private func end(
        of id: Int, _ connection: DaemonConnection, until deadline: ContinuousClock.Instant?
    ) throws(Failure) -> Tasks.Task? {
        switch try next(Tasks.Wait.self, connection, until: deadline) {
        case .reply(let output, _): return output.task
        case .timeUp: return nil
        case .signal: detach(from: [id])
        }
    }

    private func next<M: Method>(
        _ method: M.Type, _ connection: DaemonConnection,
        until deadline: ContinuousClock.Instant? = nil
    ) throws(Failure) -> DaemonConnection.Arrival<M.Output> {
        try connection.next(method, signals, until: deadline)
    }

    // MARK: - A daemon that is started anew

    /// Does something with a connection, and again with another one where the daemon has closed it.
    ///
    /// - Returns: `nil` where the time was over while the daemon was away.
    private func overRestarts<Result>(
        of ids: [Int], until deadline: ContinuousClock.Instant?,
        _ body: (DaemonConnection) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        var connection = connection
        var vain = 0
        while true {
            let begin = ContinuousClock.now
            do throws(Failure) {
                return try body(connection)
            } catch {
                vain = begin.duration(to: ContinuousClock.now) < Self.soon ? vain + 1 : 0
                guard error.isDisconnection, vain < Self.vainMax else { throw error }
                if vain <= 1 {
                    console.notice(
                        "bgtaskd closed the connection; \(Self.named(ids)) waited for until it is back"
                    )
                }
                guard let other = try reconnected(for: ids, until: deadline) else { return nil }
                connection = other
            }
        }
    }

    /// - Returns: `nil` where the time is over before that.
    private func reconnected(
        for ids: [Int], until deadline: ContinuousClock.Instant?
    ) throws(Failure) -> DaemonConnection? {
        let end = ContinuousClock.now.advanced(by: Self.patience)
        while true {
            do throws(Failure) {
                return try connect()
            } catch {
                if let deadline, ContinuousClock.now >= deadline { return nil }
                guard ContinuousClock.now < end else {
                    throw Failure(
                        "\(error.line); to go on waiting: bgtaskctl wait \(Self.list(ids))",
                        status: error.status)
                }
                let pause = ContinuousClock.now.advanced(by: Self.pause)
                while console.wait(for: [signals.descriptor], until: pause) {
                    guard signals.next() != nil else { continue }
                    console.endTerminalLine()
                    console.notice("to go on waiting: bgtaskctl wait \(Self.list(ids))")
                    SignalInbox.die(of: SIGINT)
                }
            }
        }
    }

    private static func named(_ ids: [Int]) -> String {
        ids.count == 1 ? "task \(ids[0]) is" : "tasks \(list(ids)) are"
    }

    private static func list(_ ids: [Int]) -> String {
        ids.map(String.init).joined(separator: " ")
    }

    /// Leaves tasks alone: they live on their own budgets, and nobody has asked to have them stopped.
    private func detach(from ids: [Int]) -> Never {
        console.endTerminalLine()
        let list = Self.list(ids)
        let (verb, object) = ids.count == 1 ? ("continues", "it") : ("continue", "them")
        console.notice("task \(list) \(verb) to run; to stop \(object): bgtaskctl cancel \(list)")
        SignalInbox.die(of: SIGINT)
    }
}

/// What a task prints, as it comes, also over another connection, of this daemon or of a later one.
final class FollowedOutput {
    private let id: Int
    private let output: OutputText
    /// Where it goes on; `nil` before anything was asked.
    private var position: Int?
    private var attempt = 1
    /// Whether more replies come.
    private(set) var isOpen = false

    init(of id: Int, _ console: Console) {
        self.id = id
        output = OutputText(console)
    }

    /// Asks for it, from where it was. Of an attempt that began since, a later daemon counts from its beginning.
    func ask(_ connection: DaemonConnection) throws(Failure) {
        isOpen = false
        var input = Tasks.Output.Input()
        input.id = id
        input.follow = true
        if let position {
            var reference = Tasks.Show.Input()
            reference.id = id
            let task = try connection.call(Tasks.Show.self, reference).task
            // What it printed at last went with the daemon, or is not kept; its end is told all the same.
            guard task.state != .ended || task.outcome != .interrupted else { return }
            if task.attempt == attempt { input.from = position }
            attempt = task.attempt
        }
        position = position ?? 0
        try connection.send(Tasks.Output.self, input, more: true)
        isOpen = true
    }

    func show(_ piece: Tasks.Output.Output, continues: Bool) {
        output.show(piece, of: id)
        position = piece.next ?? position
        isOpen = continues
    }

    /// Takes a refusal of what was asked; another than that nothing is kept is thrown on.
    func refused(_ failure: Failure) throws(Failure) {
        guard isOpen, failure.refusal?.name == Tasks.OutputGone.name else { throw failure }
        isOpen = false
        output.notice(failure)
    }
}

/// Passes on what a task printed.
struct OutputText {
    private let console: Console

    init(_ console: Console) {
        self.console = console
    }

    /// Says why there is nothing.
    func notice(_ failure: Failure) { console.report(failure) }

    /// Shows one piece of a task's output, to the stream that it was printed to; what was dropped before it is said
    /// first.
    func show(_ piece: Tasks.Output.Output, of id: Int) {
        if let dropped = piece.dropped, dropped > 0 {
            console.notice("\(SizeText.bytes(dropped)) of the output are missing here: not kept")
        }
        // The last reply of a stream may be there for its end alone.
        guard !piece.text.isEmpty else { return }
        if console.isJSON {
            console.write(JSONLine.text(piece, of: id))
        } else {
            console.passOn(piece.text, toErrors: piece.stream == "stderr")
        }
    }
}
