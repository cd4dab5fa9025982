/// Decides where each application is in its lifecycle: what runs, what is in front, what is frozen, told and ended.
///
/// It does not know the tasks. It is told when one of an application begins, ends, or is at its limit, and says in the
/// effects of a turn which clock the tasks of an application have from now on. What it must name of them when an
/// application ends, it asks a `HeldTaskSource`.
package struct ApplicationMachine: ~Copyable, Sendable {
    private var table = ApplicationTable()
    private var spans = SpanLog()
    private var settings = ApplicationRules()
    private var recordedRuns: [UInt64] = []

    // MARK: What is known

    var rules: ApplicationRules { settings }

    package var isEmpty: Bool { table.isEmpty }
    /// All of them, sorted by owner and id.
    package var keys: [ApplicationKey] { table.keys }

    package subscript(key: ApplicationKey) -> ManagedApplication? { table[key] }

    /// Those of an owner, or all of them, that a caller may know of, sorted by owner and id.
    func known(of owner: OwnerID?) -> [ManagedApplication] {
        table.keys(of: owner).compactMap { table[$0] }.filter(\.isKnown)
    }

    /// The application, where a caller may know of it.
    func known(_ key: ApplicationKey) throws(Refusal) -> ManagedApplication {
        guard let application = table[key], application.isKnown else {
            throw .noSuchApplication(key.id)
        }
        return application
    }

    /// Those that run, or are being started.
    package var runningCount: Int { table.runningCount }
    /// The same of those that were adopted.
    var adoptedCount: Int { table.adoptedCount }
    var frozenCount: Int { table.frozenCount }
    /// Those that would be suspended, if that was enforced.
    var heldBackCount: Int { table.heldBackCount }

    /// When something is due next; `nil` while nothing is.
    package var nextDeadline: Instant? { table.nextDeadline }
    /// When a message that was deferred may be delivered; `nil` while there is none.
    package var nextWake: BootInstant? { table.nextWake }
    /// When the last of those that are being ended is killed.
    ///
    /// - Parameter adopted: whether launched ones are left out.
    func lastKill(ofAdopted adopted: Bool) -> Instant? { table.lastKill(ofAdopted: adopted) }

    /// The live tasks of an application, by their ids.
    package func tasks(of key: ApplicationKey) -> [TaskID] { table.tasks(of: key) }
    func taskCount(of key: ApplicationKey) -> Int { table.taskCount(of: key) }
    func hasTasks(_ key: ApplicationKey) -> Bool { table.hasTasks(key) }
    /// Whether any live task names an application.
    package var haveTasks: Bool { table.haveTasks }

    /// The spans of time that go on, of the applications that a caller may know of.
    func presentSpans(of owner: OwnerID?) -> [ApplicationSpan] {
        known(of: owner).compactMap { spans[$0.key] }
    }

    /// The highest number that a span has had.
    var spanNumberLast: UInt64 { spans.numbers }

    /// How many count against the limit of an owner.
    package func count(of owner: OwnerID) -> Int { table.count(of: owner) }

    /// Those of an owner that are in front, in the order in which they came there.
    package func front(of owner: OwnerID) -> [ApplicationKey] { table.front(of: owner) }

    /// Whether a message that was delivered has this number.
    func hasGiven(_ number: UInt64) -> Bool { table.hasGiven(number) }

    /// Refuses one application more of an owner who has as many as there may be.
    func checkRoom(for owner: OwnerID) throws(Refusal) {
        let limit = settings.applicationsPerOwnerMax
        guard count(of: owner) < limit else {
            throw .limitReached(limit: "applicationsPerOwnerMax", value: limit)
        }
    }

    /// Refuses a registration that is too large, by itself or with the owner's others.
    func checkSize(_ key: ApplicationKey, _ registration: Registration) throws(Refusal) {
        guard registration.byteCount <= settings.registrationBytesMax else {
            throw .limitReached(
                limit: "registrationBytesMax", value: settings.registrationBytesMax)
        }
        let others = table.registeredBytes(of: key.owner) - table.bytes(of: key)
        guard others + registration.byteCount <= settings.registrationBytesPerOwnerMax else {
            throw .limitReached(
                limit: "registrationBytesPerOwnerMax",
                value: settings.registrationBytesPerOwnerMax)
        }
    }

    // MARK: What changes

    /// Whose limits what an owner takes counts against, of what comes from now on.
    mutating func replaceAccounts(_ accounts: Accounts) { table.replaceAccounts(accounts) }

    /// Takes new rules for what happens from now on.
    mutating func setRules(_ rules: ApplicationRules) { settings = rules }

    /// Makes an application known.
    ///
    /// - Parameter isSaved: whether the disk has its record.
    mutating func insert(_ key: ApplicationKey, _ record: ApplicationRecord, isSaved: Bool) {
        table.insert(key, record, isSaved: isSaved)
    }

    /// Forgets an application, of which somebody knew until now where a span of it goes on.
    mutating func remove(_ key: ApplicationKey, _ turn: ApplicationTurn) {
        table.remove(key)
        spans.end(key, at: turn.boot)
    }

    /// Somebody knows of an application from now on, which does not run.
    mutating func becomesKnown(_ key: ApplicationKey, _ turn: ApplicationTurn) {
        spans.begin(key, .notRunning, at: turn.boot)
    }

    /// An application has gone through the states up to the one in which it is.
    ///
    /// - Parameter reason: why its run has ended.
    mutating func noteState(
        _ key: ApplicationKey, reason: TerminationReason?, _ turn: ApplicationTurn
    ) {
        guard let state = table[key]?.state else { return }
        let isOver = state == .notRunning
        spans.move(key, to: state, reason: isOver ? reason : nil, at: turn.boot)
    }

    /// The spans that have begun or ended since this was last called.
    mutating func takeSpans() -> [ApplicationSpan] { spans.take() }

    /// Takes over the spans of an earlier daemon; called before its applications are restored.
    mutating func restore(_ found: RestoredSpans) { spans.restore(found) }

    /// An application is taken over, as the disk has it.
    mutating func resumeSpan(
        _ key: ApplicationKey, _ record: ApplicationRecord, seenAt: BootInstant?,
        _ turn: ApplicationTurn
    ) {
        spans.resume(
            key, wasRunning: record.isRunning, record.lastTermination, seenAt: seenAt,
            at: turn.boot)
    }

    /// All applications of the earlier daemon are restored.
    mutating func endUnknownSpans(seenAt: BootInstant?, _ turn: ApplicationTurn) {
        let known = Set(keys)
        spans.cut(seenAt: seenAt, at: turn.boot, unless: known.contains)
    }

    /// Changes an application; one that is not known is left alone. What is due for it follows.
    mutating func update(_ key: ApplicationKey, _ body: (inout ManagedApplication) -> Void) {
        table.update(key, body)
    }

    /// Changes what the hour of a silent message depends on.
    mutating func updateSilent(_ key: ApplicationKey, _ body: (inout SilentMessages) -> Void) {
        table.update(key) { body(&$0.silent) }
        table.planWake(key, perHourMax: settings.messagesPerHourMax)
    }

    /// Gives an application other settings.
    mutating func setRegistration(_ key: ApplicationKey, _ registration: Registration) {
        table.setRegistration(key, registration)
    }

    /// The number of the next freeze, thaw or delivery.
    mutating func nextNumber() -> UInt64 { table.nextNumber() }

    /// The number of the next run of a launched application.
    mutating func nextRun() -> UInt64 { table.nextRun() }

    // MARK: Launched ones that a program runs which is told of them

    /// The launched applications that have changed since this was last called.
    mutating func takeChanged() -> [ApplicationKey] { table.takeChanged() }

    /// The runs of whose end the disk knows since this was last called: nothing of them is needed any more.
    mutating func takeRecordedRuns() -> [UInt64] { exchange(&recordedRuns, with: []) }

    mutating func isRecorded(run: UInt64) {
        recordedRuns.append(run)
    }

    /// What that program is told of an application; `nil` where it does not run it.
    func times(of key: ApplicationKey) -> ApplicationTimes? {
        guard let application = table[key],
            let notes = application.notes(numberLast: table.numberLast)
        else { return nil }
        return ApplicationTimes(limitAt: application.run?.kill.begunOrDue ?? .never, notes: notes)
    }

    /// Numbers that an earlier daemon has given are not given again.
    mutating func areGiven(runs: some Sequence<UInt64>, through number: UInt64) {
        for run in runs { table.hasHad(run: run) }
        table.hasGiven(through: number)
    }

    /// The run of an application goes on.
    mutating func goOn(
        _ key: ApplicationKey, _ run: ApplicationRun, _ state: ApplicationState,
        _ turn: ApplicationTurn
    ) {
        table.wasUsed(key)
        table.update(key) { $0.goOn(run, state) }
        spans.goOn(key, state, at: turn.boot)
    }

    // MARK: Its tasks

    /// A task has begun: its application is not frozen under it.
    mutating func taskBegan(_ id: TaskID, of key: ApplicationKey, _ turn: inout ApplicationTurn) {
        table.add(id, of: key)
        guard let run = table[key]?.run else { return }
        table.update(key) { $0.run?.staysAwake() }
        if case .freezing = run.phase { thaw(key, &turn) }
    }

    /// A task has ended: its application is suspended promptly after the last one. One that never began, or
    /// whose end was told of before, changes nothing.
    ///
    /// - Parameter abandoned: the task, where its holder went away without ending it.
    mutating func taskEnded(
        _ id: TaskID, of key: ApplicationKey, abandoned: HeldTask?, _ turn: ApplicationTurn
    ) {
        guard table.remove(id, of: key), table[key]?.run != nil else { return }
        if let abandoned { table.update(key) { $0.run?.abandon(abandoned, at: turn.now) } }
        planSuspension(key, promptly: true, turn)
    }

    // MARK: What is due

    /// Does what is due first.
    ///
    /// - Returns: whether anything was.
    mutating func settleNext(
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) -> Bool {
        guard let key = table.due(at: turn.now) else { return false }
        settle(key, tasks, &turn)
        return true
    }

    /// Delivers the first message whose hour has come.
    ///
    /// - Returns: whether there was one.
    mutating func deliverNext(_ turn: inout ApplicationTurn) -> Bool {
        guard let key = table.due(at: turn.boot) else { return false }
        deliverDeferred(key, &turn)
        return true
    }

    private mutating func settle(
        _ key: ApplicationKey, _ tasks: borrowing some HeldTaskSource & ~Copyable,
        _ turn: inout ApplicationTurn
    ) {
        guard let run = table[key]?.run else { return }
        if run.kill.due <= turn.now { return kill(key, tasks, &turn) }
        if run.thawAt <= turn.now { return thaw(key, &turn) }
        if run.freezeLimitAt <= turn.now { return giveUpFreeze(key, &turn) }
        if run.messages.isOverdue(at: turn.now) {
            table.update(key) { $0.run?.messages.forgetOverdue(at: turn.now) }
            planSuspension(key, promptly: true, turn)
            return overrun(key, .messageOverrun, tasks, &turn)
        }
        if run.suspendAt <= turn.now { suspend(key, tasks, &turn) }
    }
}
