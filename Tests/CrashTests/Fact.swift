import BudgetCore
import TaskStore

/// What the world outside knows of a task: what was asked, answered, run and told.
final class Fact: CustomStringConvertible {
    let id: TaskID
    let submission: Submission
    /// Whether the submission was taken in; `nil` while nothing was answered.
    var answer: Bool?
    /// When it was taken in; `nil` where another daemon did it.
    var answeredAt: Machine.Moment?
    /// A later daemon has found it on disk.
    var isFound = false
    /// A later daemon has not found it.
    var isLost = false
    /// The present attempt.
    var attempt: Attempt
    /// The number of the attempt that was launched last.
    var launchedLast = 0
    /// Of the attempts that are over and told: how they ended.
    var attemptsTold: [Int: Outcome] = [:]

    /// Somebody asked to have it cancelled, or to have it replaced.
    var isCancelAsked = false
    /// Another one was to come in its place; where that one was refused, it may stand for others again.
    var isReplaced = false
    /// Such an order was taken, and was not refused since.
    var isCancelInForce = false
    /// The disk has taken the order to cancel it while it ran.
    var isCancelStored = false
    /// The disk has refused that.
    var isCancelRefused = false
    /// Orders to cancel it that wait for their answer.
    var cancelsWaiting = 0
    /// The disk refused it, and may have taken it all the same.
    var mayReturn = false

    /// The outcome that was told.
    var told: Outcome?
    /// The disk has taken its end.
    var isEndTaken = false
    /// When its command ended, where it completed and that was told or is on disk.
    var succeededAt: Machine.Moment?
    /// As it was found on disk last.
    var stored: StoredTask?

    /// One run of its command.
    struct Attempt {
        let number: Int
        /// Since when it waits.
        let queuedAt: Machine.Moment
        /// Its start is decided, and on its way to the disk or done.
        var isDecided = false
        /// Its process was made, or it could not be made.
        var isLaunched = false
        var couldNotStart = false
        var exit: ProcessExit?
        var use: ResourceUse?
        var hasHandlerFired = false
        /// Since when all of its processes are to be killed.
        var killedAt: Machine.Moment?
        /// Its processes are gone.
        var overAt: Machine.Moment?
        /// It was live when its daemon was stopped.
        var wasCutOff = false
        /// An order to cancel it was taken before it was over.
        var isCancelled = false
    }

    init(_ id: TaskID, _ submission: Submission, at moment: Machine.Moment) {
        self.id = id
        self.submission = submission
        attempt = Attempt(number: 1, queuedAt: moment)
    }

    var description: String {
        "\(id) (\(submission.owner) \(submission.name), \(submission.queueing), answer \(answer as Any), found \(isFound), \(attempt), "
            + "cancel asked \(isCancelAsked), in force \(isCancelInForce), "
            + "stored \(isCancelStored), told \(told as Any), taken \(isEndTaken))"
    }

    var queueing: Queueing { submission.queueing }
    var retry: Retry? { submission.queueing.retry }

    var isTakenIn: Bool { answer == true || isFound }
    var hasEnded: Bool { told != nil || isEndTaken }

    /// Whether it waits for its turn.
    var isQueued: Bool {
        isTakenIn && !hasEnded && !attempt.isDecided && !attempt.wasCutOff && !isCancelInForce
    }

    /// Whether it has a slot.
    var hasSlot: Bool {
        attempt.isDecided && attempt.overAt == nil && !attempt.wasCutOff && !hasEnded
    }

    /// Whether it has a slot still, though the disk knows that it is over: the daemon hears of one step after the
    /// other.
    var mayHaveSlot: Bool {
        hasSlot || attempt.isDecided && !attempt.isLaunched && !attempt.wasCutOff && told == nil
    }

    /// Whether it counts as live. A start that was called back does not, and keeps its slot until the disk
    /// knows.
    var isLive: Bool { hasSlot && (attempt.isLaunched || !isCancelInForce) }

    /// Whether it may have completed, which is not told before the disk knows.
    var mayHaveCompleted: Bool {
        attempt.overAt != nil && attempt.exit == .status(0) && told == nil
    }

    /// Whether it is still the one that its unique name stands for: not over, and not being replaced.
    var keepsName: Bool {
        isTakenIn && !hasEnded && !isCancelInForce && queueing.unique != nil
            && attempt.overAt == nil
    }

    func isNamesake(of other: Fact) -> Bool {
        submission.name == other.submission.name && submission.owner == other.submission.owner
            && id != other.id
    }

    /// Whether it goes before another one of its owner.
    func goesBefore(_ other: Fact) -> Bool {
        let (own, others) = (queueing.priority, other.queueing.priority)
        return own != others ? own > others : id < other.id
    }
}
