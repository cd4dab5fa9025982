/// An application that is known: its record, where it is, and what is under way.
package struct ManagedApplication: Sendable {
    package let key: ApplicationKey
    /// Whom it is charged to.
    let account: OwnerID
    package internal(set) var record: ApplicationRecord
    package internal(set) var state = ApplicationState.notRunning
    /// While it runs, or is being started.
    package internal(set) var run: ApplicationRun?
    var writes: ApplicationWrites
    /// The order to forget it, on its way to the disk.
    var forgetting: UInt64?
    /// Calls that wait for something.
    private var waiters: [Waiter] = []
    /// When it was in front last, in the order of all applications.
    var lastUse: UInt64 = 0
    var silent = SilentMessages()

    /// What a call waits for.
    enum Goal: Sendable {
        case front, awake, gone
    }

    private struct Waiter: Sendable {
        let number: UInt64
        let goal: Goal
    }

    /// - Parameters:
    ///   - account: whom it is charged to.
    ///   - saved: whether the disk has the record.
    init(
        _ key: ApplicationKey, _ record: ApplicationRecord, account: OwnerID, isSaved: Bool = false
    ) {
        self.key = key
        self.account = account
        self.record = record
        writes = ApplicationWrites(saved: isSaved ? record : nil)
    }

    package var registration: Registration { record.registration }

    /// How its last run ended; of an end that is on its way to the disk nobody knows yet.
    package var lastTermination: Termination? {
        if case .recording(let end) = run?.phase { return end.before }
        return record.lastTermination
    }

    /// What the disk has; `nil` before the first time.
    package var saved: ApplicationRecord? { writes.saved }

    /// Whether a caller may know of it.
    var isKnown: Bool { saved != nil && forgetting == nil }

    /// Whether nobody knows of it, nor will: what never got to the disk.
    var isVoid: Bool { saved == nil && !writes.isPending && run == nil }

    /// Silent messages that wait for their hour, the oldest first.
    package var deferred: [PushMessage] { silent.deferred }

    /// How long it has been in the background; `nil` where it is not.
    package func background(at boot: BootInstant) -> Duration? {
        run?.stay.since.map { max(boot - $0, .zero) }
    }

    /// What it has left of its background time; `nil` where none is being spent.
    package func remaining(at now: Instant) -> Duration? {
        guard state == .background, let run, run.stay.until != .never else { return nil }
        return max(run.stay.until - now, .zero)
    }

    // MARK: Its run

    /// - Parameter units: those of a service manager that it lives in.
    mutating func begin(_ run: ApplicationRun, units: [AdoptedUnit]? = nil) {
        self.run = run
        record.isRunning = true
        record.run = run.number
        if let units { record.units = units }
    }

    /// Its run goes on that an earlier daemon has begun.
    mutating func goOn(_ run: ApplicationRun, _ state: ApplicationState) {
        self.run = run
        self.state = state
    }

    /// Its run is over, of which the disk is to be told.
    mutating func record(_ how: ApplicationRun.End.How, _ termination: Termination?) {
        if let run, run.isAdopted, !run.leavesUnits { record.units = [] }
        run?.record(ApplicationRun.End(how: how, before: record.lastTermination))
        if let termination { record.lastTermination = termination }
        record.isRunning = false
        record.run = nil
    }

    /// It was not taken over after all.
    mutating func giveUpAdoption() {
        run = nil
        record.isRunning = false
        record.units = []
        writes.markUnsaved()
    }

    // MARK: Calls that wait

    mutating func wait(_ number: UInt64, for goal: Goal) {
        waiters.append(Waiter(number: number, goal: goal))
    }

    mutating func forgetWaiter(_ number: UInt64) {
        waiters.removeAll { $0.number == number }
    }

    var hasWaiters: Bool { !waiters.isEmpty }

    /// Takes out the calls that wait for what is meant, the oldest first.
    mutating func takeWaiters(where isMeant: (Goal) -> Bool) -> [UInt64] {
        let taken = waiters.filter { isMeant($0.goal) }.map(\.number)
        waiters.removeAll { isMeant($0.goal) }
        return taken
    }
}
