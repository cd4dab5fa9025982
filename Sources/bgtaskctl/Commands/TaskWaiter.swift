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
        case .signal, .timeUp: detach(from: id)
        }
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
            case .signal, .timeUp: detach(from: id)
            }
        }
    }

    /// Leaves a task alone: it lives on its own budget, and nobody has asked to have it stopped.
    private func detach(from id: Int) -> Never {
        console.endTerminalLine()
        console.notice("task \(id) goes on unwatched; to stop it: bgtaskctl cancel \(id)")
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
