import BudgetCore
import TaskStore

/// What must not be has come about.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Remembers over all daemons of a history what was answered, run and told, and says what contradicts it.
///
/// It knows nothing of how the registry or the store work: each rule is a sentence about facts. What a disk
/// refused binds nobody after a crash: a task whose end was told in vain may be interrupted, and tried again
/// where that was asked for, and an order to cancel what runs, which is obeyed at once, may be forgotten.
///
/// Time is what passed in the simulation. Where the time of day was set forward an interval, a delay and an
/// earliest begin may be shorter by as much, once a daemon has had to go by it; never otherwise. Where it was
/// set back they begin anew with the daemon's start, and are no longer than that.
struct Ledger {
    let machine: Machine
    let limits: RegistryLimits
    var facts: [TaskID: Fact] = [:]
    /// Those of which the last is not known.
    var open: Set<TaskID> = []
    private var identifierLast = TaskID.invalid
    /// What holds of the machine, as the daemon was told.
    var conditions: Conditions = []
    var groups = GroupLedger()
    var applications = ApplicationLedger()
    /// The daemon is stopping.
    var isDraining = false
    /// The last daemon stopped in order, and its disk worked.
    var hasStopped = false
    /// What has happened, counted.
    private(set) var counts: [String: Int] = [:]

    init(_ machine: Machine, _ limits: RegistryLimits) {
        self.machine = machine
        self.limits = limits
    }

    var identifiers: [TaskID] { facts.keys.sorted() }

    mutating func count(_ what: String) {
        counts[what, default: 0] += 1
    }

    func fact(_ id: TaskID) throws -> Fact {
        guard let fact = facts[id] else { throw Violation("task \(id), which nobody knows") }
        return fact
    }

    // MARK: - Submissions

    mutating func handedOut(_ id: TaskID) throws {
        guard id > identifierLast else { throw Violation("id \(id) after \(identifierLast)") }
        identifierLast = id
    }

    mutating func submitted(_ id: TaskID, _ submission: Submission) {
        let fact = Fact(id, submission, at: machine.moment)
        facts[id] = fact
        open.insert(id)
        guard submission.queueing.unique == .replace else { return }
        for other in facts.values where other.isNamesake(of: fact) {
            guard other.queueing.unique != nil, other.isFound || other.answer != false,
                !other.isLost, !other.hasEnded, !other.isCancelInForce,
                other.attempt.overAt == nil
            else { continue }
            count("replaced")
            other.isReplaced = true
            cancelTaken(other)
        }
    }

    /// Another task stands for a submission.
    mutating func coalesced(_ id: TaskID, _ submission: Submission) throws {
        let fact = try fact(id)
        guard fact.submission.name == submission.name, fact.submission.owner == submission.owner,
            fact.queueing.unique != nil, fact.isTakenIn || fact.answer == nil, !fact.hasEnded,
            !fact.isCancelInForce || fact.isReplaced
        else { throw Violation("\(submission) is coalesced with \(fact)") }
        count("coalesced")
    }

    mutating func answered(_ id: TaskID, _ refusal: Refusal?) throws {
        let fact = try fact(id)
        if fact.answer == nil, !fact.isFound {
            fact.answer = refusal == nil
            fact.answeredAt = machine.moment
            count(refusal == nil ? "taken in" : "refused")
            guard refusal == nil else { return _ = open.remove(id) }
            return try checkUnique(fact)
        }
        guard fact.isCancelAsked else { throw Violation("\(id) is answered twice") }
        fact.cancelsWaiting = 0
        guard refusal == nil else {
            fact.isCancelInForce = false
            fact.attempt.isCancelled = false
            return count("cancel refused")
        }
        guard fact.isEndTaken || fact.isCancelStored || fact.isCancelRefused else {
            throw Violation("the cancel is answered and not on disk: \(fact)")
        }
        count(
            fact.isEndTaken ? "withdrawn" : fact.isCancelStored ? "cancel kept" : "cancel in vain")
    }

    mutating func mayReturn(_ id: TaskID) {
        facts[id]?.mayReturn = true
    }

    /// Whether no other task has its unique name.
    private func checkUnique(_ fact: Fact) throws {
        guard fact.queueing.unique != nil, !fact.isCancelInForce else { return }
        let other = facts.values.first { $0.isNamesake(of: fact) && $0.keepsName }
        if let other { throw Violation("\(fact) has a name that \(other) has") }
    }

    // MARK: - Orders

    /// - Parameter waits: whether the order is to be answered.
    mutating func cancelAsked(_ id: TaskID, waits: Bool) {
        guard let fact = facts[id] else { return }
        if waits { fact.cancelsWaiting += 1 }
        cancelTaken(fact)
    }

    private func cancelTaken(_ fact: Fact) {
        fact.isCancelAsked = true
        fact.isCancelInForce = true
        fact.attempt.isCancelled = fact.attempt.isCancelled || fact.attempt.overAt == nil
    }

    /// The disk said that it took the order to cancel a running task.
    func cancelStored(_ id: TaskID) {
        facts[id]?.isCancelStored = true
    }

    func cancelRefused(_ id: TaskID) {
        facts[id]?.isCancelRefused = true
    }

    // MARK: - Ends

    /// The disk said that it took an end.
    mutating func endTaken(_ id: TaskID) throws {
        let fact = try fact(id)
        guard !fact.isEndTaken else { throw Violation("two ends of \(id) are stored") }
        fact.isEndTaken = true
        if fact.told != nil { open.remove(id) }
    }

    mutating func told(_ id: TaskID, _ outcome: Outcome) throws {
        let fact = try fact(id)
        guard fact.told == nil else {
            throw Violation("\(id) has ended twice, as \(outcome) after \(fact.told as Any)")
        }
        try check(outcome, of: fact)
        fact.told = outcome
        if outcome == .completed { fact.succeededAt = fact.attempt.overAt }
        count("\(outcome)")
        if fact.isEndTaken { open.remove(id) } else { count("told in vain") }
    }

    /// What must be so when the disk works and has all that it was given: every end that was told is
    /// there, every order is answered, and who can begin has begun.
    ///
    /// - Parameter owner: who holds no time.
    func settled(_ owner: OwnerID) throws {
        let open = open.sorted().compactMap { facts[$0] }
        if let lost = open.first(where: { $0.told != nil && !$0.isEndTaken }) {
            throw Violation("the end of \(lost) was not recorded when the disk healed")
        }
        if let left = open.first(where: { $0.cancelsWaiting > 0 }) {
            throw Violation("an order about \(left) is not answered")
        }
        guard groups.isSettled else { throw Violation("an order about a group is not answered") }
        let forgotten = open.first { fact in
            fact.retry != nil && fact.hasSlot && fact.isCancelInForce && !fact.isCancelStored
        }
        if let forgotten { throw Violation("the disk does not know of the cancel of \(forgotten)") }
        guard !isDraining else { return }
        let waiting = open.first { $0.submission.owner == owner && hold(on: $0, .least) == nil }
        if let waiting { throw Violation("nothing holds it back, and it waits: \(waiting)") }
    }

    /// Those that have been taken in and have not ended.
    var unended: [TaskID] {
        open.filter { id in
            guard let fact = facts[id] else { return false }
            return fact.isTakenIn && fact.told == nil
        }
        .sorted()
    }

    /// Whether the outcome of the present attempt has its cause.
    func check(_ outcome: Outcome, of fact: Fact) throws {
        let attempt = fact.attempt
        let isRight =
            switch outcome {
            case .completed: attempt.exit == .status(0)
            case .failed:
                attempt.couldNotStart || attempt.exit != nil && attempt.exit != .status(0)
            case .cancelled: fact.isCancelAsked
            case .expired, .overrun: attempt.hasHandlerFired
            case .interrupted: attempt.wasCutOff || isDraining
            case .abandoned: false
            }
        guard isRight else { throw Violation("it is \(outcome): \(fact)") }
    }
}
