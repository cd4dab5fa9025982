package import TaskAPI

/// What the signs of a picture mean.
package struct TimelineKey {
    let entries: [Entry]

    /// A sign.
    package enum Sign: Equatable {
        case span(TimelineSpan.Kind)
        case outcome(Tasks.Outcome)
        case attempt
        case live
        case crowd
    }

    /// A sign and its meaning, in short and in a sentence.
    struct Entry: Equatable {
        let sign: Sign
        let word: String
        let sentence: String
    }

    init(_ signs: TimelineSigns) {
        var entries = signs.spans.map { kind in
            Entry(
                sign: .span(kind), word: TimelineText.word(kind), sentence: Self.sentence(kind))
        }
        if signs.hasAttempts {
            entries.append(
                Entry(
                    sign: .attempt, word: "end of an attempt",
                    sentence: "An attempt was over, with its outcome, and another follows."))
        }
        if signs.hasLive {
            entries.append(
                Entry(sign: .live, word: "has not ended", sentence: "It goes on."))
        }
        entries += signs.outcomes.map { outcome in
            Entry(
                sign: .outcome(outcome), word: outcome.rawValue, sentence: Self.sentence(outcome))
        }
        if signs.hasCrowds {
            entries.append(
                Entry(
                    sign: .crowd, word: "many: the higher, the more",
                    sentence:
                        "There are too many to be drawn one by one: the height is how many there were in that "
                        + "time, and its red part is those that did not complete. A mark below is the worst end."
                ))
        }
        self.entries = entries
    }

    private static func sentence(_ kind: TimelineSpan.Kind) -> String {
        switch kind {
        case .waiting: "In the queue, or between two attempts."
        case .unknown: "What happened then is not kept: the oldest of many attempts."
        case .running: "The task runs, or is held."
        case .grace: "It was warned that its time is up, and has its grace to end."
        case .frozen: "The application is suspended, and its tasks with it."
        case .dormant: "The application is in front: its task goes on, and uses none of its time."
        case .foreground: "The application is in front: no limit applies."
        case .background: "The application is in the background."
        }
    }

    private static func sentence(_ outcome: Tasks.Outcome) -> String {
        switch outcome {
        case .completed: "It ended before its warning; a command exited with 0."
        case .failed: "The command exited with another status, died of a signal, or did not start."
        case .expired: "It ended after its warning and before the limit."
        case .overrun: "It was still there at the limit, and was stopped."
        case .cancelled: "A user or an operator cancelled it."
        case .abandoned: "Who held it went away without ending it."
        case .interrupted: "The daemon, its executor or the machine stopped while it ran."
        }
    }
}
