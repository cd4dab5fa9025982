import BudgetCore
import TaskStore

/// What must not be has come about.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// What the world outside knows of a task: what was asked, answered, run and told.
final class Fact: CustomStringConvertible {
    let submission: Submission
    /// Whether the submission was taken in; `nil` while nothing was answered.
    var answer: Bool?
    /// A later daemon has found it on disk.
    var isFound = false
    /// Its turn to start has come.
    var hasBegun = false
    /// Its process was made, or it could not be made.
    var isLaunched = false
    var couldNotStart = false
    var exit: ProcessExit?
    var hasHandlerFired = false
    var isCancelAsked = false
    /// It was queued, and its cancelling was answered.
    var isWithdrawn = false
    /// The disk refused it, and may have taken it all the same.
    var mayReturn = false
    /// The disk refused its start, so that others may have overtaken it.
    var hasLostItsTurn = false
    /// It was live when its daemon was stopped.
    var wasCutOff = false
    /// The outcome that was told.
    var told: Outcome?
    /// The disk has taken its end.
    var isEndTaken = false
    /// As it was found on disk last.
    var stored: StoredTask?

    init(_ submission: Submission) {
        self.submission = submission
    }

    var description: String {
        "answer \(answer as Any), found \(isFound), begun \(hasBegun), launched \(isLaunched), "
            + "exit \(exit as Any), cancel asked \(isCancelAsked), withdrawn \(isWithdrawn), "
            + "told \(told as Any), taken \(isEndTaken), cut off \(wasCutOff)"
    }

    /// Whether it has been taken in and waits for its turn.
    var isQueued: Bool {
        (answer == true || isFound) && !hasBegun && told == nil && !wasCutOff
            && stored?.startedAt == nil && stored?.end == nil
    }

    /// Whether nobody of its owner who came later may begin before it.
    var waits: Bool { isQueued && !isCancelAsked && !hasLostItsTurn }
}

/// Remembers over all daemons of a history what was answered, run and told, and says what contradicts it.
///
/// It knows nothing of how the registry or the store work: each rule is a sentence about facts.
struct Ledger {
    private(set) var facts: [TaskID: Fact] = [:]
    /// Those of which the last is not known.
    private var open: Set<TaskID> = []
    private var identifierLast = TaskID.invalid
    /// The daemon is stopping.
    var isDraining = false
    /// The last daemon stopped in order, and its disk worked.
    var hasStopped = false
    /// What has happened, counted.
    private(set) var counts: [String: Int] = [:]

    var identifiers: [TaskID] { facts.keys.sorted() }

    mutating func count(_ what: String) {
        counts[what, default: 0] += 1
    }

    // MARK: - What happens

    mutating func handedOut(_ id: TaskID) throws {
        guard id > identifierLast else { throw Violation("id \(id) after \(identifierLast)") }
        identifierLast = id
    }

    mutating func submitted(_ id: TaskID, _ submission: Submission) {
        facts[id] = Fact(submission)
        open.insert(id)
    }

    mutating func answered(_ id: TaskID, _ refusal: Refusal?) throws {
        guard let fact = facts[id] else { throw Violation("an answer about \(id)") }
        if fact.answer == nil, !fact.isFound {
            facts[id]?.answer = refusal == nil
            if refusal != nil { open.remove(id) }
            count(refusal == nil ? "taken in" : "refused")
        } else {
            guard fact.isCancelAsked else { throw Violation("\(id) is answered twice") }
            guard refusal == nil else { return count("kept queued") }
            facts[id]?.isWithdrawn = true
            count("withdrawn")
        }
    }

    mutating func cancelAsked(_ id: TaskID) {
        facts[id]?.isCancelAsked = true
    }

    /// Its turn to start has come.
    mutating func begins(_ id: TaskID) throws {
        guard let fact = facts[id] else { throw Violation("begin of \(id), which nobody knows") }
        let earlier = open.filter { other in
            guard other < id, let known = facts[other] else { return false }
            return known.waits && known.submission.owner == fact.submission.owner
        }
        guard earlier.isEmpty || fact.hasLostItsTurn else {
            throw Violation("\(id) begins before \(earlier.sorted())")
        }
        facts[id]?.hasBegun = true
    }

    /// Its process is made, or is found not to be possible.
    mutating func launched(_ id: TaskID, couldStart: Bool) throws {
        guard let fact = facts[id] else { throw Violation("launch of \(id), which nobody knows") }
        guard !fact.isLaunched, !fact.wasCutOff else {
            throw Violation("\(id) is launched though it was started before")
        }
        guard !fact.isWithdrawn, fact.told == nil else {
            throw Violation("\(id) is launched after its end")
        }
        guard fact.answer == true || fact.isFound else {
            throw Violation("\(id) is launched before it is answered")
        }
        facts[id]?.isLaunched = true
        facts[id]?.couldNotStart = !couldStart
        count("launched")
    }

    mutating func exited(_ id: TaskID, _ exit: ProcessExit) {
        facts[id]?.exit = exit
    }

    mutating func handlerFired(_ id: TaskID) throws {
        guard facts[id]?.told == nil else {
            throw Violation("a handler fires after the end of \(id)")
        }
        facts[id]?.hasHandlerFired = true
    }

    /// The disk said that it took an end.
    mutating func endTaken(_ id: TaskID) throws {
        guard facts[id]?.isEndTaken == false else {
            throw Violation("two ends of \(id) are stored")
        }
        facts[id]?.isEndTaken = true
        if facts[id]?.told != nil { open.remove(id) }
    }

    mutating func mayReturn(_ id: TaskID) {
        facts[id]?.mayReturn = true
    }

    mutating func startRefused(_ id: TaskID) {
        facts[id]?.hasLostItsTurn = true
    }

    mutating func told(_ id: TaskID, _ outcome: Outcome) throws {
        guard let fact = facts[id] else { throw Violation("the end of \(id), which nobody knows") }
        guard fact.told == nil else {
            throw Violation("\(id) has ended twice, as \(outcome) after \(fact.told as Any)")
        }
        try check(outcome, of: id, fact)
        facts[id]?.told = outcome
        count("\(outcome)")
        if fact.isEndTaken { open.remove(id) } else { count("told in vain") }
    }

    /// What must be so when the disk works and has all that it was given: every end that was told is
    /// there, and who can begin has begun.
    ///
    /// - Parameter owner: who holds no time, and has at most `liveMax` live tasks.
    func settled(_ owner: OwnerID, slots: Int, liveMax: Int) throws {
        let open = open.sorted().compactMap { id in facts[id].map { (id: id, fact: $0) } }
        if let lost = open.first(where: { $0.fact.told != nil && !$0.fact.isEndTaken }) {
            throw Violation("the end of \(lost.id) was not recorded when the disk healed")
        }
        let live = open.map(\.fact).filter { $0.hasBegun && $0.told == nil && !$0.wasCutOff }
        let own = live.count { $0.submission.owner == owner }
        guard live.count < slots, own < liveMax, !isDraining else { return }
        let waiting = open.first { $0.fact.isQueued && $0.fact.submission.owner == owner }
        if let waiting { throw Violation("\(waiting.id) does not begin: \(waiting.fact)") }
    }

    /// Those that have been taken in and have not ended.
    var unended: [TaskID] {
        open.filter { id in
            guard let fact = facts[id] else { return false }
            return (fact.answer == true || fact.isFound) && fact.told == nil
        }
        .sorted()
    }

    /// Whether the outcome has its cause.
    private func check(_ outcome: Outcome, of id: TaskID, _ fact: Fact) throws {
        let isRight =
            switch outcome {
            case .completed: fact.exit == .status(0)
            case .failed: fact.couldNotStart || fact.exit != nil && fact.exit != .status(0)
            case .cancelled: fact.isCancelAsked
            case .expired, .overrun: fact.hasHandlerFired
            case .interrupted: fact.wasCutOff || isDraining
            case .abandoned: false
            }
        guard isRight else { throw Violation("\(id) is \(outcome), with \(fact)") }
    }
}

// What a daemon finds at its start.
extension Ledger {
    /// Compares what a daemon has found with what is known.
    mutating func found(_ tasks: [TaskID: StoredTask]) throws {
        if let unknown = tasks.keys.first(where: { facts[$0] == nil }) {
            throw Violation("task \(unknown) on disk was never submitted")
        }
        for id in identifiers { try found(id, tasks[id]) }
        hasStopped = false
    }

    private mutating func found(_ id: TaskID, _ stored: StoredTask?) throws {
        guard let fact = facts[id] else { return }
        guard let stored else {
            guard fact.answer != true, !fact.isFound else { throw Violation("\(id) is lost") }
            return
        }
        guard fact.answer != false || fact.isFound || fact.mayReturn else {
            throw Violation("\(id) was refused and is there")
        }
        try checkSame(id, stored, fact)
        switch stored.state {
        case .queued:
            guard !fact.isLaunched, fact.told == nil, !fact.isWithdrawn else {
                throw Violation("\(id) is queued again: \(fact)")
            }
        case .started:
            guard !fact.isWithdrawn else { throw Violation("\(id) is started, not cancelled") }
            guard !hasStopped else { throw Violation("\(id) is started after an orderly stop") }
            guard fact.told == nil || !fact.isEndTaken else {
                throw Violation("the end of \(id) is lost")
            }
            facts[id]?.told = nil
            facts[id]?.wasCutOff = true
        case .ended: try checkEnd(id, stored, fact)
        }
        facts[id]?.isEndTaken = stored.state == .ended
        facts[id]?.isFound = true
        if stored.state == .ended { open.remove(id) } else { open.insert(id) }
        facts[id]?.stored = stored
    }

    private func checkEnd(_ id: TaskID, _ stored: StoredTask, _ fact: Fact) throws {
        guard let end = stored.end else { return }
        if let before = fact.stored?.end, before != end {
            throw Violation("the end of \(id) was \(before), and is \(end)")
        }
        guard fact.told == nil || fact.told == end.outcome else {
            throw Violation("\(id) was told as \(fact.told as Any), and is \(end.outcome)")
        }
        // Whether the daemon that decided it was stopping is not known any more.
        if end.outcome != .interrupted { try check(end.outcome, of: id, fact) }
        if end.outcome == .completed || end.outcome == .failed, !fact.couldNotStart {
            guard end.exit == fact.exit else { throw Violation("the exit of \(id) is \(end)") }
        }
    }

    /// Whether nothing of a submission is missing or changed.
    private func checkSame(_ id: TaskID, _ stored: StoredTask, _ fact: Fact) throws {
        let asked = fact.submission
        var isSame = stored.name == asked.name && stored.owner == asked.owner
        isSame = isSame && (stored.state == .ended || stored.work == asked.work)
        if let budget = asked.budget {
            isSame = isSame && stored.budget?.duration == budget.duration
            isSame = isSame && stored.grace == budget.grace
        }
        if let before = fact.stored {
            isSame = isSame && stored.submittedAt == before.submittedAt
            isSame = isSame && stored.lifetimeMax == before.lifetimeMax
            isSame = isSame && stored.profile == before.profile
        }
        guard isSame else { throw Violation("\(id) is \(stored), and was \(asked)") }
    }
}
