package import TaskAPI

/// Decides what happens to a command that runs on held time.
///
/// Pure: performs no I/O and reads no clock.
package struct HoldMachine {
    package private(set) var state = State.held
    private let subject: Subject

    /// What the lines and orders are about.
    package struct Subject {
        package var id = 0
        /// The command's name, for people.
        package var command = ""
        package var budget: Tasks.Budget?
        /// The signal that the handler sends; empty for none.
        var signal = "SIGTERM"

        package init() {}
    }

    /// Who has the time.
    package enum State: Equatable {
        case held
        /// The handler has fired, and the grace runs.
        case warned
        /// Given back by the command itself, while it runs on.
        case returned(Tasks.Outcome)
        /// Taken away: by the limit, by an order (with its outcome), or with the connection (without).
        case withdrawn(Tasks.Outcome?)
    }

    /// What happened.
    package enum Event: Equatable {
        case expired(reason: String?, leftMs: Int?)
        case extended
        case ended(Tasks.Outcome, reason: String?)
        case connectionLost(String)
        case killBecameDue
        case commandExited
        case endAnswered(Tasks.Outcome?)
    }

    /// What is to be done.
    package enum Action: Equatable {
        case say(String)
        /// Send the handler's signal to the command.
        case signal
        case kill
        /// Report `killBecameDue` after this time.
        case killAfter(milliseconds: Int)
        /// Give the time back, and report `endAnswered`.
        case endTask
    }

    /// What a command without a budget of its own gets before it is killed.
    private static let graceMsDefault = 5000

    package init(_ subject: Subject) {
        self.subject = subject
    }

    /// - Returns: what is to be done, in this order.
    package mutating func handle(_ event: Event) -> [Action] {
        switch (event, state) {
        case (.killBecameDue, .withdrawn): return [.kill]
        case (.endAnswered(let outcome?), _):
            state = .returned(outcome)
            return []
        case (_, .returned), (_, .withdrawn): return []
        case (.expired(let reason, let leftMs), _): return warn(reason, leftMs)
        case (.extended, _):
            state = .held
            return []
        case (.ended(let outcome, let reason), _): return end(outcome, reason)
        case (.connectionLost(let line), _):
            return withdraw(nil, "\(line); \(subject.command) is held by nobody any more")
        case (.commandExited, _): return [.endTask]
        case (.killBecameDue, _), (.endAnswered(nil), _): return []
        }
    }

    /// The exit status, once the command has ended with the given one.
    package func exitStatus(ofCommand status: Int32) -> Int32 {
        switch state {
        case .returned(.completed), .returned(.failed): status
        case .returned(.expired), .returned(.overrun): ExitStatus.timeUp
        case .withdrawn(.expired), .withdrawn(.overrun): ExitStatus.timeUp
        case .returned, .withdrawn, .held, .warned: ExitStatus.ours
        }
    }

    private mutating func warn(_ reason: String?, _ leftMs: Int?) -> [Action] {
        state = .warned
        let left = leftMs ?? subject.budget?.graceMs
        let end = left.map { "; it is killed in \(TimeText.span($0))" } ?? ""
        let why = reason.map { " (\($0))" } ?? ""
        return [.say("task \(subject.id) was warned\(why)\(sent)\(end)"), .signal]
    }

    private mutating func end(_ outcome: Tasks.Outcome, _ reason: String?) -> [Action] {
        let why = reason.map { " (\($0))" } ?? ""
        switch outcome {
        case .completed, .failed, .expired:
            state = .returned(outcome)
            return []
        case .overrun:
            state = .withdrawn(outcome)
            let limit = subject.budget.map { " of \(TimeText.span($0.durationMs))" } ?? ""
            return [
                .say("task \(subject.id) overran its limit\(limit)\(killed)"), .kill,
            ]
        case .interrupted where state == .warned:
            state = .withdrawn(outcome)
            return [.say("task \(subject.id) was interrupted\(why)\(killed)"), .kill]
        case .cancelled, .abandoned, .interrupted:
            return withdraw(outcome, "task \(subject.id) was \(outcome.rawValue)\(why)")
        }
    }

    /// The time is gone without its end having been announced: the command gets its grace first.
    private mutating func withdraw(_ outcome: Tasks.Outcome?, _ line: String) -> [Action] {
        state = .withdrawn(outcome)
        let graceMs = subject.budget?.graceMs ?? HoldMachine.graceMsDefault
        let end = "; it is killed in \(TimeText.span(graceMs))"
        return [.say(line + sent + end), .signal, .killAfter(milliseconds: graceMs)]
    }

    private var killed: String { ": \(subject.command) is killed" }

    private var sent: String {
        subject.signal.isEmpty ? "" : ": sent \(subject.signal) to \(subject.command)"
    }
}
