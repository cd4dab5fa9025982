internal import Glibc
internal import TaskAPI

/// Waits for the end of a task, for the verbs that exit with its status.
struct TaskWaiter {
    private let connection: DaemonConnection
    private let console: Console
    private let signals: SignalInbox

    init(_ connection: DaemonConnection, _ console: Console, _ signals: SignalInbox) {
        self.connection = connection
        self.console = console
        self.signals = signals
    }

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
        var input = Tasks.Wait.Input()
        input.id = id
        input.timeoutMs = timeoutMs
        input.all = all
        if following { try askForOutput(of: id) }
        // Asked for before the output has ended, so that a daemon which stops then has answered.
        try connection.send(Tasks.Wait.self, input)
        if following { try showOutput(of: id) }
        switch try connection.next(Tasks.Wait.self, signals) {
        case .reply(let output, _):
            guard let task = output.task else {
                let time = timeoutMs.map { " after \(TimeText.span($0))" } ?? ""
                throw Failure("task \(id) has not ended\(time)", status: ExitStatus.ours)
            }
            if console.isJSON { console.write(JSONLine.text(task)) }
            if let reason = ExitStatus.reason(for: task) { console.notice(reason) }
            return ExitStatus.status(of: task)
        case .signal, .timeUp: detach(from: [id])
        }
    }

    /// Waits until all of several tasks have ended, or the first of them has, whose number is printed.
    ///
    /// - Parameters:
    ///   - connect: makes another connection, of which each task has one where any of them ends the wait.
    /// - Returns: the first status that is not 0, in the order of the tasks.
    func wait(
        for ids: [Int], any: Bool, timeoutMs: Int?, all: Bool?,
        _ connect: () throws(Failure) -> DaemonConnection
    ) throws(Failure) -> Int32 {
        guard !ids.isEmpty else {
            console.hint("no such task is live")
            return 0
        }
        // One that is not there is said before anything is waited for.
        _ = try open(of: ids, connection, all: all)
        let deadline = timeoutMs.map { ContinuousClock.now.advanced(by: .milliseconds($0)) }
        let ends =
            any
            ? [try firstEnd(of: ids, all: all, until: deadline, connect)].compactMap(\.self)
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
        for (index, id) in ids.enumerated() {
            try connection.send(Tasks.Wait.self, question(id, all: all))
            switch try connection.next(Tasks.Wait.self, signals, until: deadline) {
            case .reply(let output, _):
                guard let task = output.task else { return ends }
                ends.append(task)
            case .timeUp: return ends
            case .signal: detach(from: Array(ids[index...]))
            }
        }
        return ends
    }

    /// The task that ends first, of several that have ended already the one that is named first.
    ///
    /// - Returns: `nil` where the time is over before that.
    private func firstEnd(
        of ids: [Int], all: Bool?, until deadline: ContinuousClock.Instant?,
        _ connect: () throws(Failure) -> DaemonConnection
    ) throws(Failure) -> Tasks.Task? {
        var waits: [DaemonConnection] = []
        for id in ids {
            let wait = try connect()
            try wait.send(Tasks.Wait.self, question(id, all: all))
            waits.append(wait)
        }
        while true {
            for wait in waits {
                if let reply = try wait.replyIfReady(Tasks.Wait.self) { return reply.output.task }
            }
            if signals.next() != nil { detach(from: ids) }
            console.flush()
            let watched = waits.map(\.descriptor) + [signals.descriptor]
            guard Waiting.wait(for: watched, until: deadline) else { return nil }
        }
    }

    private func question(_ id: Int, all: Bool?) -> Tasks.Wait.Input {
        var input = Tasks.Wait.Input()
        input.id = id
        input.all = all
        return input
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

    private func askForOutput(of id: Int) throws(Failure) {
        var input = Tasks.Output.Input()
        input.id = id
        input.follow = true
        try connection.send(Tasks.Output.self, input, more: true)
    }

    private func showOutput(of id: Int) throws(Failure) {
        let output = OutputText(console)
        while true {
            switch try connection.next(Tasks.Output.self, signals) {
            case .reply(let piece, let continues):
                output.show(piece)
                guard continues else { return }
            case .signal, .timeUp: detach(from: [id])
            }
        }
    }

    /// Leaves tasks alone: they live on their own budgets, and nobody has asked to have them stopped.
    private func detach(from ids: [Int]) -> Never {
        console.endTerminalLine()
        let list = ids.map(String.init).joined(separator: " ")
        let (verb, object) = ids.count == 1 ? ("continues", "it") : ("continue", "them")
        console.notice("task \(list) \(verb) to run; to stop \(object): bgtaskctl cancel \(list)")
        SignalInbox.die(of: SIGINT)
    }
}

/// Passes on what a task printed.
struct OutputText {
    private let console: Console

    init(_ console: Console) {
        self.console = console
    }

    /// Shows one piece, to the stream that it was printed to; what was dropped before it is said first.
    func show(_ piece: Tasks.Output.Output) {
        if let dropped = piece.dropped, dropped > 0 {
            console.notice("\(SizeText.bytes(dropped)) of the output are missing here: not kept")
        }
        // The last reply of a stream may be there for its end alone.
        guard !piece.text.isEmpty else { return }
        if console.isJSON {
            console.write(JSONLine.text(piece))
        } else {
            console.passOn(piece.text, toErrors: piece.stream == "stderr")
        }
    }
}
