/// Decides who may work on borrowed time, and until when.
///
/// Pure: performs no I/O, reads no clock. Nothing that it decides depends on a random number. Each method takes what
/// happened and the instant of it, changes the registry, and appends what the shell must do, in order, to `actions`.
/// A refusal is thrown as a value and changes nothing.
///
/// It has the parts work together: the table of tasks, the scheduler, what the disk knows, and applications. None of
/// them knows another.
///
/// There is one, and nobody copies it by mistake: it is large.
package struct BackgroundTaskRegistry: ~Copyable, Sendable {
    package var limits: RegistryLimits
    /// Those of the settings, in which orders have changed nothing.
    private var configuredLimits: RegistryLimits
    /// How many slots operators have ordered.
    package private(set) var slotOrders = SlotOrders()
    private var grants: Grants
    private var identifiers: IdentifierSource
    private var table = TaskTable()
    private var ended = EndedTasks()
    private var scheduler = Scheduler()
    private var durability = Durability()
    /// `nil` while new tasks are taken in.
    private var drain: Drain?
    private var ageReports = AgeReportLimit()
    private var reports = TaskReports()
    /// Commands that run, and whose processes were stopped by an order to pause them.
    private var stopped: Set<TaskID> = []
    /// Tasks that wait in vain for others, and end in one of the next turns: there may be many at once.
    private var vain = VainTasks()
    /// What is left at an instant of `RegistryLimits.followersToldAtOnce`.
    private var followersShare = (instant: Instant(nanoseconds: .min), left: 0)
    package private(set) var counts = RegistryCounts()
    /// What the program that runs commands, and fires their handlers and limits too, has not been told.
    private var changedTimes = ChangedTimes<TaskID>()
    /// How long the machine has slept since it was started: how far CLOCK_BOOTTIME is ahead of
    /// CLOCK_MONOTONIC. Set by the shell before it says what happened.
    package var asleep: Duration = .zero

    package private(set) var applications = ApplicationMachine()
    /// What the place of an application in its lifecycle means for its tasks; most have none.
    package private(set) var applicationClocks: [ApplicationKey: ApplicationClock] = [:]

    /// The daemon stops.
    private struct Drain: Sendable {
        /// Whether what is queued is on disk for the daemon after this one.
        let keepsQueue: Bool
        /// Whether commands that run go on for it.
        let leavesCommands: Bool
    }

    /// Ids that are reserved on disk at once while few are taken.
    package static var identifierBlock: UInt64 { IdentifierSource.blockSizeMin }

    /// How far a task's own requests move its limit before that is told: a task may make thousands a second.
    private static let toldExtensionMin = Duration.seconds(1)

    /// - Parameter identifiers: the ids that are reserved on disk for this run.
    package init(
        limits: RegistryLimits,
        profiles: [Profile],
        identifiers: ClosedRange<UInt64>
    ) {
        self.limits = limits
        configuredLimits = limits
        grants = Grants(profiles)
        self.identifiers = IdentifierSource(identifiers)
    }

    // MARK: - Settings

    package var profiles: [String: Profile] { grants.profiles }

    /// Takes new profiles for what begins from now on; tasks keep what they were granted.
    package mutating func replaceProfiles(_ profiles: [Profile]) {
        grants.replaceProfiles(profiles)
    }

    /// Whose limits what an owner takes counts against, of what comes from now on.
    package mutating func replaceAccounts(_ accounts: Accounts) {
        table.replaceAccounts(accounts)
        applications.replaceAccounts(accounts)
        scheduler.replaceAccounts(accounts)
        ended.replaceAccounts(accounts)
    }

    /// Takes the limits of new settings; what operators have ordered stays.
    package mutating func replaceLimits(_ limits: RegistryLimits) {
        configuredLimits = limits
        self.limits = slotOrders.applied(to: limits)
    }

    /// Takes an order of how many slots there are.
    ///
    /// - Parameter isKept: whether it holds for the daemons after this one too. It is done then once it is on disk, and
    ///   answered by `Action.answerSlots`; else it is done.
    package mutating func setSlots(
        _ order: SlotOrder, isKept: Bool, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) {
        // An order for a group that has left the settings stays until it is taken back.
        if let group = order.group, configuredLimits.groupSlots[group] == nil,
            order.slots != nil || slotOrders[group] == nil
        {
            throw .noSuchGroup(group)
        }
        guard order.slots.map(SlotOrder.range.contains) ?? true else {
            throw .invalidParameter("slots")
        }
        if isKept { try durability.check() }
        slotOrders.ordered(order.group, isKept: isKept)
        guard isKept else { return apply(order, at: now, &actions) }
        actions.append(.store(.slotsOrdered(order)))
    }

    private mutating func slotsAnswered(
        _ order: SlotOrder, _ refusal: Refusal?, at now: Instant, _ actions: inout [Action]
    ) {
        let isNewest = slotOrders.answered(order.group)
        if refusal == nil, isNewest { apply(order, at: now, &actions) }
        actions.append(.answerSlots(order.group, refusal))
    }

    private mutating func apply(
        _ order: SlotOrder, at now: Instant, _ actions: inout [Action]
    ) {
        slotOrders.set(order.group, order.slots)
        limits = slotOrders.applied(to: configuredLimits)
        startQueued(at: now, &actions)
    }

    /// Takes over the orders that are kept. Called before the tasks are restored.
    package mutating func restore(slotOrders: SlotOrders) {
        self.slotOrders = slotOrders
        limits = slotOrders.applied(to: configuredLimits)
    }

    /// New limits may let tasks start that wait.
    package mutating func limitsChanged(at now: Instant, _ actions: inout [Action]) {
        startQueued(at: now, &actions)
    }

    // MARK: - What is known

    package var isDraining: Bool { drain != nil }
    /// Why nothing can be written to disk; `nil` while it can.
    package var storeFault: String? { durability.fault }

    package var liveCount: Int { table.liveCount }
    /// Live tasks without those whose start waits for the disk.
    package var begunCount: Int {
        table.liveCount - scheduler.occupantIDs.count { table[run: $0]?.phase.isStarting ?? false }
    }
    /// What a stop has to wait for: live tasks, without those whose start waits for the disk, and without what goes on
    /// for the next daemon.
    package var awaitedCount: Int {
        guard drain?.leavesCommands == true else { return begunCount }
        return begunCount - scheduler.occupantIDs.count { table[run: $0]?.hasCommand ?? false }
    }
    package var queuedCount: Int { table.queuedCount }
    package var unstoredEndCount: Int { durability.endCount }
    /// Whether ends were told that the disk does not know.
    package var hasUnstoredEnds: Bool { durability.endCount > 0 }

    /// The id that was handed out last, in this run or before it.
    package var identifierLast: TaskID { TaskID(rawValue: identifiers.lastTaken) }

    /// How many tasks an owner has.
    package func use(of owner: OwnerID) -> (live: Int, queued: Int) {
        let use = table[owner]
        return (use?.liveCount ?? 0, use?.queuedCount ?? 0)
    }

    /// Whether a holder has a task that has not ended.
    package func holds(_ holder: HolderID) -> Bool {
        table.firstSlot(heldBy: holder) != nil
    }

    /// The task and all that is known of it, ended ones included as long as they are kept.
    package func record(_ id: TaskID) -> TaskRecord? {
        if let slot = table.slot(of: id) { return table.record(at: slot) }
        return ended[id] ?? durability.record(id)
    }

    /// The same, where the caller may see it. What is not on disk yet does not exist for anybody.
    package func record(_ id: TaskID, for caller: Caller) throws(Refusal) -> TaskRecord {
        guard let record = record(id), record.run?.isAdmitted ?? true,
            caller.seesAll || record.task.owner == caller.owner
        else { throw .noSuchTask(id) }
        return record
    }

    /// The same tasks as `record(_:)`, without their records. Mutating, as `applicationClock(of:)` says.
    package mutating func brief(of id: TaskID) -> TaskBrief? {
        if let slot = table.slot(of: id) { return TaskBrief(table[slot]) }
        return ended.brief(of: id) ?? durability.record(id).map { TaskBrief($0.task) }
    }

    /// What a task has left; `nil` for one that has ended or never was.
    package mutating func remaining(of id: TaskID, at now: Instant) -> Remaining? {
        table.slot(of: id).map { table[$0].remaining(at: now) }
    }

    /// What a task has left, and the rule that bounds it.
    package func remaining(of task: BackgroundTask, at now: Instant) -> Remaining {
        task.remaining(at: now)
    }

    /// The ids that come after one, in ascending order and no more than so many: a listing goes on where it
    /// was, and need not hold the ids of all tasks meanwhile.
    ///
    /// - Parameters:
    ///   - owner: whose tasks; `nil` for everybody's.
    ///   - includingEnded: whether those that have ended and are still kept are among them.
    package func identifiers(
        of owner: OwnerID?, after last: TaskID = .invalid, includingEnded: Bool = false,
        countMax: Int = .max
    ) -> [TaskID] {
        var found = FirstIdentifiers(countMax: countMax)
        table.collect(of: owner, after: last, into: &found)
        if includingEnded { ended.collect(of: owner, after: last, into: &found) }
        return found.sorted()
    }

    /// Forgets ended tasks beyond the limits, and gives back the memory of those that are gone. The shell calls
    /// this when it has performed the actions of a turn, so that each of them still finds its task.
    ///
    /// - Returns: the run tasks among them, of which the shell may have kept something.
    @discardableResult
    package mutating func forgetExcess() -> [BackgroundTask] {
        if table.isMostlyVacant { compactTable() }
        return ended.trim(heldMax: limits.endedHeldMax, runMax: limits.endedRunMax)
    }

    /// Refuses an order to forget tasks of which one has not ended, before the disk is asked which of them it knows.
    package func checkCleaning(_ ids: [TaskID], by caller: Caller) throws(Refusal) {
        guard ids.count <= Self.cleanedAtOnceMax else {
            throw .limitReached(limit: "idsMax", value: Self.cleanedAtOnceMax)
        }
        for id in ids {
            guard let slot = table.slot(of: id),
                caller.seesAll || table[slot].owner == caller.owner
            else { continue }
            throw .notAccepting("task \(id) has not ended")
        }
        try durability.check()
    }

    /// Takes an order to forget tasks that have ended (rule 34 in docs/architecture.md). Once the disk has forgotten
    /// them it is done, and answered by `Action.answerCleaning`. Those that are nowhere, and those that the caller may
    /// not see, are passed over.
    ///
    /// - Parameter stored: those of them that the disk has, and that the caller may see.
    /// - Returns: those that are forgotten, in ascending order; where there are none, nothing is left to be done.
    package mutating func clean(
        _ ids: [TaskID], stored: Set<TaskID>, by caller: Caller, _ actions: inout [Action]
    ) throws(Refusal) -> [TaskID] {
        try checkCleaning(ids, by: caller)
        let known = Set(ids).filter { id in
            stored.contains(id)
                || ended.brief(of: id).map { caller.seesAll || $0.owner == caller.owner } ?? false
        }.sorted()
        if !known.isEmpty { actions.append(.store(.cleaned(known, by: caller))) }
        return known
    }

    /// So many tasks are cleaned away by one order: others wait for the commit.
    package static let cleanedAtOnceMax = 500

    private mutating func cleaned(
        _ ids: [TaskID], by caller: Caller, _ refusal: Refusal?, _ actions: inout [Action]
    ) {
        if refusal == nil { ended.clean(ids, for: caller) }
        actions.append(.answerCleaning(by: caller.owner, refusal))
    }

    /// Moves the tasks together, unless some are queued, which the queue knows by their slots.
    package mutating func compactTable() {
        guard scheduler.isQueueEmpty else { return }
        table.compact()
        scheduler.releaseMemory()
    }

    // MARK: - Time

    /// When `deadlineReached` is due next; `nil` while nothing is.
    ///
    /// Mutating, as `applicationClock(of:)` says.
    package var nextDeadline: Instant? {
        mutating get {
            var next = table.firstDue?.deadline ?? .never
            if scheduler.hasUntoldFollowers || vain.mayEnd(limits) {
                next = Instant(nanoseconds: .min)
            }
            next = min(next, ageReports.reportAt ?? .never, applications.nextDeadline ?? .never)
            return next == .never ? nil : next
        }
    }

    /// When `deadlineReached` is due next for the queue, on the clock that goes on while the machine
    /// sleeps; `nil` while nothing there waits for a time.
    package var nextQueueDeadline: BootInstant? {
        // What the machine needs a pause for is of no account where nobody waits.
        let shortageEndsAt = table.queuedCount > 0 ? scheduler.shortageReason?.until : nil
        return [applications.nextWake, scheduler.nextWake, shortageEndsAt].compactMap { $0 }.min()
    }

    /// Whether something was due by now and is not done.
    package mutating func hasOverdue(at now: Instant) -> Bool {
        nextDeadline ?? .never <= now || nextQueueDeadline ?? .never <= boot(at: now)
    }

    /// When the next handler fires or hard limit is reached; looks at every live task, and not at those that
    /// are queued.
    package var nextExpiry: Instant? { table.nextExpiry }

    /// How long the live tasks, and applications that are being ended, may still last at most; without what goes on for
    /// the next daemon.
    package func longestRemaining(at now: Instant) -> Duration {
        let last = table.lastHardLimit { !isLeft($0) }
        let leaves = drain?.leavesCommands == true
        return max(last ?? now, applications.lastKill(ofAdopted: leaves) ?? now) - now
    }

    /// The same moment on the clock that goes on while the machine sleeps.
    package func boot(at now: Instant) -> BootInstant {
        BootInstant(nanoseconds: (now + asleep).nanoseconds)
    }

    /// Does what is due, the earliest first.
    ///
    /// - Parameter limit: at most so many deadlines; what is left keeps `nextDeadline` in the past, so
    ///   that others are served in between.
    package mutating func deadlineReached(
        at now: Instant, limit: Int = .max, _ actions: inout [Action]
    ) {
        if let wake = nextQueueDeadline, wake <= boot(at: now) {
            startQueued(at: now, wakesMax: limit, &actions)
        }
        if let missed = ageReports.takeReport(at: now) { actions.append(.oldTasksNotNamed(missed)) }
        var handled = applicationsDue(at: now, limit: limit, &actions)
        while handled < limit, let (deadline, slot) = table.firstDue, deadline <= now {
            processDue(slot, at: now, &actions)
            handled += 1
        }
        // Behind those, and with a share of their own: neither keeps the other waiting.
        if scheduler.hasUntoldFollowers {
            tellFollowers(atMost: limits.followersToldAtOnce)
            startQueued(at: now, &actions)
        }
        endVainTasks(at: now, limit: limit, &actions)
    }

    /// Does what is due for one task. Afterwards the slot may be empty.
    private mutating func processDue(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard table.isDue(slot, at: now), !isConcluded(slot) else { return }
        if table[slot].warnAt <= now {
            table[slot].ageReported()
            if ageReports.mayName(at: now) { actions.append(.tell(.grewOld, table[slot].id)) }
        }
        if isStopping(slot) {
            takeTeardownStep(slot, at: now, &actions)
            guard !isConcluded(slot) else { return }
            return updateDeadlines(slot)
        }
        if table[slot].state == .running, table[slot].handlerAt <= now {
            let isShared = table[slot].bound == .applicationBackgroundTime
            counts.handlerFires(lateByNanoseconds: now.nanoseconds(since: table[slot].handlerAt))
            if isShared { tellBackgroundTimeExpiring(table[slot], at: now, &actions) }
            fireHandler(slot, isShared ? .applicationTimeSpent : .budgetSpent, at: now, &actions)
        }
        guard table[slot].hardAt <= now else { return updateDeadlines(slot) }
        counts.limitReached(lateByNanoseconds: now.nanoseconds(since: table[slot].hardAt))
        overrun(slot, at: now, &actions)
    }

    /// The hard limit as it applies to the task, and what is due next for it.
    private mutating func updateDeadlines(_ slot: Int) {
        noteChangedTimes(slot)
        let clock = table[slot].hasApplication ? applicationClock(of: table[slot]) : nil
        let isTicking = table[slot].findLimits(clock)
        let nextStepAt = table.phase(slot)?.teardown?.nextStepAt ?? .never
        guard isTicking else {
            // A dormant one may be stopped all the same, as what is left of it is when its command has ended.
            return table.setDeadline(min(nextStepAt, table[slot].warnAt), slot: slot)
        }
        let due = nextStepAt == .never ? min(table[slot].handlerAt, table[slot].hardAt) : nextStepAt
        table.setDeadline(min(due, table[slot].warnAt), slot: slot)
    }

    /// Starts the clock of a task that is live now.
    private mutating func startBudget(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let hasApplication = table[slot].hasApplication
        table[slot].begin(
            isDormant: hasApplication && applicationClock(of: table[slot]) == .foreground,
            warnAfterNanoseconds: limits.warnAfterNanoseconds, at: now)
        if hasApplication { applicationTaskBegan(table[slot], at: now, &actions) }
        updateDeadlines(slot)
    }

    /// The handler fires now for another reason than the budget; one grace is left.
    private mutating func fireEarly(
        _ slot: Int, _ reason: Reason, at now: Instant, _ actions: inout [Action]
    ) {
        let isFirst = table[slot].expireEarly(reason, at: now)
        if isFirst { fireHandler(slot, reason, at: now, &actions) }
        // One that was dormant takes a slot again.
        if table[slot].hasApplication { _ = followSlot(slot) }
        updateDeadlines(slot)
    }

    private mutating func fireHandler(
        _ slot: Int, _ reason: Reason, at now: Instant, _ actions: inout [Action]
    ) {
        let id = table[slot].id
        let dueSince = min(table[slot].handlerAt, now)
        table[slot].expire(reason, at: now)
        tellHandlerFired(slot, &actions)
        guard table[slot].kind == .run, let work = table[run: id]?.work else { return }
        guard !work.wakesApplication else {
            if let signal = work.expiration.signal {
                self.signal(slot, signal, at: now, &actions)
            }
            return
        }
        table[run: id]?.handlerReports.order(dueSince: dueSince)
        if work.expiration.command != nil { advance(slot, on: .handlerLaunched, &actions) }
        actions.append(.warn(id))
    }

    private mutating func tellHandlerFired(_ slot: Int, _ actions: inout [Action]) {
        counts.handlersFired += 1
        actions.append(.tell(.handlerFired, table[slot].id))
        // Who is stopped cannot use its grace.
        letGoOn(table[slot].id, &actions)
    }

    private mutating func overrun(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let task = table[slot]
        let outcome = task.outcomeAtHardLimit
        backgroundTimeIsOver(task, at: now, &actions)
        switch task.kind {
        case .held:
            publishEnd(slot, outcome, reason: task.reason, at: now, &actions)
        case .run:
            table[slot].stop()
            guard advance(slot, on: .overran(Teardown(outcome, [.killAll])), &actions) else {
                // It is killed all the same, and this is not due for ever.
                table.setDeadline(.never, slot: slot)
                return actions.append(.killAll(task.id))
            }
            actions.append(.tell(.overrunning, task.id))
            startTeardown(slot, at: now, &actions)
        }
    }

    /// Fires the expiration handlers of everything early, refuses what is new, and lets nothing that
    /// waits begin. Every live task gets one grace; `awaitedCount` reaches zero when all have ended.
    ///
    /// - Parameters:
    ///   - keepsQueue: whether what waits is on disk for the daemon after this one; else it is interrupted.
    ///   - leavesCommands: whether commands that have begun go on for that daemon, as if nothing were. Their times and
    ///     what comes about with them are taken as usual until the end.
    package mutating func drain(
        keepsQueue: Bool, leavesCommands: Bool = false, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard drain == nil else { return }
        drain = Drain(keepsQueue: keepsQueue, leavesCommands: leavesCommands)
        // An application hears that the time of its tasks is over before it hears that it ends.
        for slot in table.slots(of: nil)
        where table.phase(slot)?.isUnderWay == true && performer(of: table[slot]) != nil {
            fireEarly(slot, .shutdown, at: now, &actions)
        }
        drainApplications(at: now, &actions)
        for slot in table.slots(of: nil) where !isLeft(slot) {
            switch table.phase(slot) {
            case .waiting: loseIfDrained(slot, at: now, &actions)
            case .stopping, .reaping: hastenTeardown(slot, at: now)
            case nil, .launching, .running, .outlived:
                fireEarly(slot, .shutdown, at: now, &actions)
            case .submitting, .restored, .starting, .withdrawing, .recordingAttempt,
                .recordingEnd, .ended:
                break
            }
        }
    }

    /// Whether a command goes on for the daemon after this one, which stops.
    private func isLeft(_ slot: Int) -> Bool {
        drain?.leavesCommands == true && table[run: table[slot].id]?.hasCommand == true
    }

    /// Ends the grace of a drain: what is still there is stopped now.
    package mutating func endGrace(at now: Instant, _ actions: inout [Action]) {
        for slot in table.slots(of: nil)
        where table.phase(slot)?.isUnderWay ?? true && !isLeft(slot) {
            table[slot].cutLimit(to: now, .shutdown)
            updateDeadlines(slot)
            processDue(slot, at: now, &actions)
        }
        endApplicationGrace(at: now, &actions)
    }

    // MARK: - Begin, end and extend

    /// Borrows time for work that the holder does itself.
    package mutating func begin(
        _ request: BeginRequest, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> TaskID {
        let grant = try checkedGrant(
            request.name, request.profile, request.budget, for: request.owner)
        if let application = request.application { try check(application, "application") }
        let ownerPlace = table.place(of: request.owner)
        guard table.charged(to: request.owner, at: ownerPlace).live < limits.tasksPerOwnerMax else {
            throw .limitReached(limit: "tasksPerOwnerMax", value: limits.tasksPerOwnerMax)
        }
        try checkBackgroundTime(application: request.application, owner: request.owner, at: now)
        let id = try takeIdentifier(at: now, &actions)
        let slot = table.insertHeld(
            id, of: request.owner, at: ownerPlace, holder: request.holder)
        table[slot].occupy(
            id: id, owner: request.owner, name: request.name,
            terms: grants.terms(of: grant, request.application),
            holderProcess: request.holderProcess, at: now)
        counts.begunHeld += 1
        startBudget(slot, at: now, &actions)
        actions.append(.tell(.began, id))
        return id
    }

    /// Everything that can be refused before an id is used up for it.
    ///
    /// Mutating, like all that is asked whenever a task begins, as `applicationClock(of:)` says.
    private mutating func checkedGrant(
        _ name: String, _ profile: String?, _ budget: RequestedBudget?, for owner: OwnerID
    ) throws(Refusal) -> Grant {
        guard drain == nil else {
            throw .notAccepting("the daemon is stopping; try again when it is up again")
        }
        try name.checkName("name", bytesMax: limits.nameBytesMax)
        let terms = try grants.terms(ofProfile: profile)
        guard terms.budget != nil || limits.allowsUnlimited(owner) else {
            throw .permissionDenied(.unlimitedTask)
        }
        guard let budget else { return Grant(terms) }
        return try Grant.of(budget, terms)
    }

    /// Refuses a name of something that belongs to a task, or of an application.
    func check(_ name: String, _ parameter: String) throws(Refusal) {
        try name.checkName(parameter, bytesMax: limits.nameBytesMax)
    }

    private mutating func takeIdentifier(
        at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> TaskID {
        guard let id = identifiers.take(at: now, &actions) else {
            throw .notAccepting("no task numbers are reserved on disk yet; try again in a moment")
        }
        return id
    }

    /// Gives borrowed time back.
    ///
    /// - Returns: the outcome; `nil` for the invalid id 0, which ends nothing.
    package mutating func end(
        _ id: TaskID, by caller: Caller, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Outcome? {
        guard id != .invalid else { return nil }
        guard let slot = table.slot(of: id) else { return try outcomeOfEnded(id, for: caller) }
        guard table[slot].owner == caller.owner else { throw .noSuchTask(id) }
        guard table[slot].kind == .held else {
            throw .notAccepting("task \(id) ends when its command does; to stop it, cancel it")
        }
        if table.isDue(slot, at: now) {
            processDue(slot, at: now, &actions)
            guard table.slot(of: id) != nil else { return try outcomeOfEnded(id, for: caller) }
        }
        let outcome = table[slot].outcomeInGrace ?? .completed
        publishEnd(slot, outcome, reason: table[slot].reason, at: now, &actions)
        return outcome
    }

    /// A task says that its work is done, and how: a held one ends, and so does one that an application does. A command
    /// may do more for its grace, and is killed then; its outcome does not depend on its exit any more.
    package mutating func complete(
        _ id: TaskID, isSuccess: Bool, by caller: Caller, at now: Instant,
        _ actions: inout [Action]
    ) throws(Refusal) {
        let slot = try liveSlot(id, for: caller, at: now, &actions)
        if case .outlived(let outcome) = table.phase(slot) { throw .alreadyEnded(id, outcome) }
        let outcome = table[slot].outcomeInGrace ?? (isSuccess ? .completed : .failed)
        guard table[slot].kind == .run else {
            return publishEnd(slot, outcome, reason: table[slot].reason, at: now, &actions)
        }
        guard performer(of: table[slot]) == nil else {
            return took(.done(isSuccess: isSuccess), of: id, at: now, &actions)
        }
        let grace = min(table[slot].grace, table[slot].hardAt - now)
        let teardown = Teardown(outcome, TeardownStep.completion(grace: grace))
        guard advance(slot, on: .stopped(teardown), &actions) else { return }
        letGoOn(id, &actions)
        startTeardown(slot, at: now, &actions)
    }

    private func outcomeOfEnded(_ id: TaskID, for caller: Caller) throws(Refusal) -> Outcome? {
        guard let end = ended.brief(of: id), end.owner == caller.owner else {
            throw .noSuchTask(id)
        }
        return end.outcome
    }

    /// Starts the budget anew from now, cut to what the lifetime limit leaves.
    package mutating func extend(
        _ id: TaskID, by caller: Caller, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Remaining {
        let slot = try liveSlot(id, for: caller, at: now, &actions)
        guard drain == nil || isLeft(slot) else {
            throw .notAccepting("the daemon is stopping; try again when it is up again")
        }
        let task = table[slot]
        guard task.ownHardAt != .never, task.state != .dormant else {
            return task.remaining(at: now)
        }
        // Without a budget of its own it was told to end early, and has no limit again.
        let asked = task.budget.map { now + $0.duration } ?? .never
        let granted = min(asked, task.lifetimeEndsAt)
        try checkGain(of: task, asked: asked, granted: granted, at: now)
        table[slot].runAgain()
        extend(slot, to: granted, asked: asked)
        tellExtended(slot, at: now, &actions)
        return table[slot].remaining(at: now)
    }

    /// Refuses an extension by which nothing would be gained, with the limit that is in its way.
    private func checkGain(
        of task: BackgroundTask, asked: Instant, granted: Instant, at now: Instant
    ) throws(Refusal) {
        guard task.bound != .applicationBackgroundTime else {
            let left = max(task.hardAt - now, .zero)
            throw .limitReached(limit: "backgroundTime", value: left.wholeMilliseconds)
        }
        guard granted == asked || granted > task.ownHardAt else {
            let lifetimeMax = task.lifetimeMax ?? .zero
            throw .limitReached(limit: "lifetimeMax", value: lifetimeMax.wholeMilliseconds)
        }
    }

    /// Moves the hard limit of a task's own budget, and all that follows from it.
    private mutating func extend(_ slot: Int, to granted: Instant, asked: Instant) {
        table[slot].extend(to: granted, asked: asked)
        updateDeadlines(slot)
    }

    private mutating func tellExtended(
        _ slot: Int, at now: Instant, _ actions: inout [Action]
    ) {
        let id = table[slot].id
        if let key = performer(of: table[slot]) {
            let until = table[slot].hardAt
            handle(at: now, &actions) { machine, _, turn in
                machine.performanceExtended(id, until: until, by: key, &turn)
            }
        }
        table[run: id]?.untoldExtension = .zero
        actions.append(.tell(.extended, id))
    }

    /// The slot of a task that has begun and that an order can still reach.
    private mutating func liveSlot(
        _ id: TaskID, for caller: Caller, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Int {
        let record = try record(id, for: caller)
        guard let slot = table.slot(of: id) else {
            throw .alreadyEnded(id, record.task.outcome ?? .interrupted)
        }
        guard record.task.state != .queued else {
            throw .notAccepting(
                "task \(id) is queued: its whole budget is left, and counts from its start")
        }
        processDue(slot, at: now, &actions)
        guard table.slot(of: id) != nil, table.phase(slot)?.isUnderWay ?? true else {
            throw .alreadyEnded(id, decidedOutcome(id))
        }
        return slot
    }

    private func decidedOutcome(_ id: TaskID) -> Outcome {
        record(id)?.task.outcome ?? table[run: id]?.phase.outcome ?? .interrupted
    }

    /// Fires the handler now, as if the budget had run out.
    package mutating func simulateExpiration(
        _ id: TaskID, by caller: Caller, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) {
        let slot = try liveSlot(id, for: caller, at: now, &actions)
        guard table[slot].state == .running || table[slot].state == .dormant else {
            throw .notAccepting("task \(id) was warned already")
        }
        fireEarly(slot, .simulated, at: now, &actions)
    }

    /// A connection closed or a process exited: what it held and did not end is abandoned.
    ///
    /// - Parameter allowance: at most so many of its tasks, so that others are served in between; what is left of
    ///   it afterwards.
    /// - Returns: whether it holds nothing any more; else it is to be said again.
    package mutating func holderGone(
        _ holder: HolderID, reason: Reason, allowance: inout Int, at now: Instant,
        _ actions: inout [Action]
    ) -> Bool {
        while allowance > 0, let slot = table.firstSlot(heldBy: holder) {
            allowance -= 1
            let id = table[slot].id
            processDue(slot, at: now, &actions)
            guard table.slot(of: id) != nil else { continue }
            publishEnd(slot, .abandoned, reason: reason, at: now, &actions)
        }
        return table.firstSlot(heldBy: holder) == nil
    }

    /// The same for all of its tasks at once.
    package mutating func holderGone(
        _ holder: HolderID, reason: Reason, at now: Instant, _ actions: inout [Action]
    ) {
        var all = Int.max
        _ = holderGone(holder, reason: reason, allowance: &all, at: now, &actions)
    }

    // MARK: - Submit

    /// Takes a command in; it starts at once where a slot is free, else when its turn comes.
    ///
    /// Nobody sees it before it is on disk: then `Action.answer` says so, or refuses it after all.
    package mutating func submit(
        _ submission: Submission, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Submitted {
        let grant = try checkedGrant(
            submission.name, submission.profile, submission.budget, for: submission.owner)
        if let application = submission.application { try check(application, "application") }
        if submission.work.wakesApplication { try checkPerforms(submission) }
        try submission.check(limits)
        try durability.check()
        let dependencies = try dependencies(of: submission)
        if let id = try coalescingTarget(for: submission) {
            let isAdmitted = table[run: id]?.isAdmitted == true
            return Submitted(id: id, isCoalesced: true, waits: !isAdmitted)
        }
        let charged = table.charged(to: submission.owner)
        try checkQueueDepth(charged.queued)
        guard scheduler.ruleCount(with: submission) <= limits.rulesPerNameMax else {
            throw .limitReached(limit: "rulesPerNameMax", value: limits.rulesPerNameMax)
        }
        try submission.checkWork(limits, ofOthers: charged.workBytes)
        if !submission.work.wakesApplication {
            try checkBackgroundTime(
                application: submission.application, owner: submission.owner, at: now)
        }
        let id = try takeIdentifier(at: now, &actions)
        replace(for: submission, at: now, &actions)
        scheduler.wait(id, after: dependencies)
        let isFree = dependencies.allSatisfy { $0.outcome != nil }
        let isStarted = isFree && mayStartAtOnce(submission, at: now)
        let task = BackgroundTask(
            id: id, owner: submission.owner, kind: .run, name: submission.name,
            terms: grants.terms(of: grant, submission.application),
            wakesApplication: submission.work.wakesApplication, at: now)
        let run = RunTask(
            work: submission.work, queueing: submission.queueing,
            notBefore: submission.queueing.wait.map { boot(at: now) + $0 },
            startsAtOnce: isStarted)
        insert(task, run)
        actions.append(.store(.submitted(id, isStarted: isStarted)))
        return Submitted(id: id, isCoalesced: false, waits: true)
    }

    /// The tasks after which a submission comes, with how they ended.
    ///
    /// Refuses one that would wait in vain, or for a task that its owner does not have.
    private func dependencies(
        of submission: Submission
    ) throws(Refusal) -> [Dependency] {
        var dependencies: [Dependency] = []
        for predecessor in submission.queueing.after {
            let id = predecessor.id
            // It is cancelled for this one, which would wait in vain.
            if !predecessor.anyOutcome, isReplaced(id, by: submission) {
                throw .invalidParameter("after")
            }
            if let end = try outcome(of: id, of: submission) {
                let dependency = Dependency(predecessor, end)
                guard !dependency.isBroken else { throw .alreadyEnded(id, end) }
                dependencies.append(dependency)
            } else if scheduler.hasRoom(after: id) {
                dependencies.append(Dependency(predecessor))
            } else {
                throw .limitReached(limit: "followersMax", value: Dependencies.followersMax)
            }
        }
        return dependencies
    }

    /// How a task ended, or ends as is decided, of the owner of a submission that is to come after it; `nil` where it
    /// has not ended.
    private func outcome(
        of id: TaskID, of submission: Submission
    ) throws(Refusal) -> Outcome? {
        guard let task = record(id, ofRunOf: submission.owner) else {
            guard let end = submission.earlierEnds[id] else { throw .noSuchTask(id) }
            return end
        }
        guard task.kind == .run else {
            throw .notAccepting(
                "task \(id) is held by a program; a task can only come after commands")
        }
        guard task.state != .ended else { return task.outcome }
        guard case .recordingEnd(let conclusion) = table[run: id]?.phase else { return nil }
        return conclusion.outcome
    }

    /// What a task waits for that has not ended.
    package func openPredecessors(of id: TaskID) -> [Predecessor] {
        scheduler.openPredecessors(of: id)
    }

    /// What a task comes after that has not ended, with how it ended.
    package func dependencies(of id: TaskID) -> [Dependency] { scheduler.dependencies(of: id) }

    private func record(_ id: TaskID, ofRunOf owner: OwnerID) -> BackgroundTask? {
        guard let record = try? record(id, for: Caller(owner: owner)) else { return nil }
        return record.task
    }

    /// Those of the tasks after which a submission comes of which nothing is known here: the disk may know how they
    /// ended.
    package func unknownPredecessors(of submission: Submission) -> [TaskID] {
        submission.queueing.after.map(\.id).filter {
            submission.earlierEnds[$0] == nil && record($0, ofRunOf: submission.owner) == nil
        }
    }

    private func checkQueueDepth(_ queuedOfOwner: Int) throws(Refusal) {
        guard table.queuedCount < limits.queueDepthMax else {
            throw .limitReached(limit: "queueDepthMax", value: limits.queueDepthMax)
        }
        guard queuedOfOwner < limits.queueDepthPerOwnerMax else {
            throw .limitReached(
                limit: "queueDepthPerOwnerMax", value: limits.queueDepthPerOwnerMax)
        }
    }

    /// Takes a run task into the table, where it waits for the disk or for the others that are restored.
    @discardableResult
    private mutating func insert(_ task: BackgroundTask, _ run: RunTask) -> Int {
        let slot = table.insertRun(task, run)
        follow(task, run.queueing)
        if run.phase.hasSlot { scheduler.takeSlot(task, run.queueing) }
        return slot
    }

    /// Follows the name of a task that others of its name can hold back.
    private mutating func follow(_ task: BackgroundTask, _ queueing: Queueing) {
        guard queueing.isByName else { return }
        let name = OwnedName(task)
        let isNew = !scheduler.follows(name)
        scheduler.follow(task, queueing, live: isNew ? liveTasks(of: name) : [])
        guard isNew else { return }
        // The disk cannot tell of them.
        for boot in durability.successes(of: name) { scheduler.succeeded(name, at: boot) }
    }

    /// For each task of a name that has a slot, whether it is unique.
    private func liveTasks(of name: OwnedName) -> [Bool] {
        scheduler.occupantIDs.compactMap { id in
            guard let slot = table.slot(of: id), table[slot].owner == name.owner,
                table[slot].name == name.name
            else { return nil }
            return table[run: id]?.queueing.unique != nil
        }
    }

    /// Whether a submission starts at once: those that came before it and are not on disk yet have not had their
    /// turn.
    private func mayStartAtOnce(_ submission: Submission, at now: Instant) -> Bool {
        table.arrivingCount == 0 && durability.fault == nil && drain == nil
            && scheduler.mayStartAtOnce(
                submission, limits, liveCount: table.charged(to: submission.owner).live,
                at: boot(at: now))
    }

    // Names that have at most one task (rule 26 in docs/architecture.md).

    /// Looks at who has the name of a submission that is to be the only one of its name.
    ///
    /// - Returns: the task that stands for it, where there is one.
    private func coalescingTarget(for submission: Submission) throws(Refusal) -> TaskID? {
        guard let unique = submission.queueing.unique,
            let id = scheduler.uniqueTask(OwnedName(submission))
        else { return nil }
        switch table[run: id]?.phase {
        // Until the disk has answered it is not known whether that task ends.
        case .withdrawing, .recordingAttempt(_, cancelledBy: .some):
            throw .notAccepting(
                "task \(id) of that name is being cancelled; try again when it has ended")
        case .recordingAttempt(_, cancelledBy: nil):
            guard unique == .keep else {
                throw .notAccepting(
                    "task \(id) of that name is between two attempts; try again in a moment")
            }
            return id
        case .recordingEnd, .ended, nil: return nil
        case .some(let phase): return unique == .keep && phase.mayBeTriedAgain ? id : nil
        }
    }

    /// Cancels the tasks in whose place a submission comes. The new one waits until they are gone; one that is
    /// queued ends in the same commit in which the new one is submitted.
    private mutating func replace(
        for submission: Submission, at now: Instant, _ actions: inout [Action]
    ) {
        guard let unique = submission.queueing.unique, unique != .keep else { return }
        let reason = Reason.cancelled(by: submission.owner, text: "replaced")
        // More than the newest only where that came by replaceQueued.
        for id in scheduler.uniqueTasks(OwnedName(submission)) {
            guard let slot = table.slot(of: id), let phase = table.phase(slot) else { continue }
            switch phase {
            case .submitting, .restored, .waiting, .starting:
                withdraw(slot, reason, at: now, &actions)
            // Who waits for its end comes instead of its next attempt.
            case _ where unique == .replaceQueued: break
            case .launching, .running, .outlived: cancelRunning(slot, reason, at: now, &actions)
            case .stopping, .reaping: _ = forbidRetry(slot, &actions)
            case .withdrawing, .recordingAttempt, .recordingEnd, .ended: break
            }
        }
    }

    /// Whether another task of its unique name has come after it, which waits for its end.
    private func isSuperseded(_ task: BackgroundTask, _ queueing: Queueing) -> Bool {
        queueing.unique != nil && scheduler.uniqueTask(OwnedName(task)) != task.id
    }

    /// Whether a task would be cancelled for a submission.
    private func isReplaced(_ id: TaskID, by submission: Submission) -> Bool {
        switch submission.queueing.unique {
        case nil, .keep: false
        case .replace: scheduler.uniqueTasks(OwnedName(submission)).contains(id)
        case .replaceQueued:
            scheduler.uniqueTask(OwnedName(submission)) == id && record(id)?.task.state == .queued
        }
    }

    // MARK: - Cancel

    /// Ends a task by order: a held one at once, a run one by SIGTERM, its grace, and a kill. The end of a
    /// queued one has to be on disk first.
    ///
    /// - Parameter signal: instead of SIGTERM; a command that is being stopped already gets it too.
    /// - Returns: whether the order waits for the disk, and is answered by `Action.answer`.
    package mutating func cancel(
        _ id: TaskID, by caller: Caller, text: String?, signal: SignalNumber? = nil,
        at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        let record = try record(id, for: caller)
        guard let slot = table.slot(of: id) else {
            throw .alreadyEnded(id, record.task.outcome ?? .interrupted)
        }
        processDue(slot, at: now, &actions)
        guard table.slot(of: id) != nil else { throw .alreadyEnded(id, decidedOutcome(id)) }
        let reason = Reason.cancelled(by: caller.owner, text: text)
        switch table.phase(slot) {
        case nil:
            publishEnd(slot, .cancelled, reason: reason, at: now, &actions)
            return false
        case .submitting, .restored, .waiting, .starting:
            try durability.check()
            withdraw(slot, reason, at: now, &actions)
            return true
        case .launching, .running, .outlived:
            return cancelRunning(slot, reason, by: signal ?? .terminate, at: now, &actions)
        case .stopping, .reaping:
            if let signal { hastenStop(slot, by: signal, at: now, &actions) }
            guard !isConcluded(slot) else { return false }
            let waits = forbidRetry(slot, &actions)
            // It stands for no other task of its name either.
            advance(slot, on: .retryForbidden(isOrdered: false), &actions)
            return waits
        case .withdrawing: return true
        case .recordingAttempt:
            try durability.check()
            advance(slot, on: .cancelledBetween(reason), &actions)
            return true
        case .recordingEnd, .ended: throw .alreadyEnded(id, decidedOutcome(id))
        }
    }

    /// Ends a task that has not begun, by an order that has to be on disk first.
    private mutating func withdraw(
        _ slot: Int, _ reason: Reason, at now: Instant, _ actions: inout [Action]
    ) {
        decideOutcome(slot, .cancelled, by: RunEvent.withdrawn, reason: reason, at: now, &actions)
    }

    /// A signal, the grace, and a kill. That it is not tried again has to be on disk.
    ///
    /// - Parameter isStored: whether it is.
    /// - Returns: whether that was ordered.
    @discardableResult
    private mutating func cancelRunning(
        _ slot: Int, _ reason: Reason, by signal: SignalNumber = .terminate,
        isStored: Bool = false, at now: Instant, _ actions: inout [Action]
    ) -> Bool {
        let id = table[slot].id
        let isRetried = table[run: id]?.queueing.retry != nil && !isStored
        let grace = min(table[slot].grace, table[slot].hardAt - now)
        let steps = TeardownStep.cancellation(by: signal, grace: grace)
        let teardown = Teardown(.cancelled, steps, retryBan: isRetried ? .ordered : .none)
        guard advance(slot, on: .stopped(teardown), &actions) else { return false }
        table[slot].cancel(reason, at: now)
        letGoOn(id, &actions)
        actions.append(.tell(.cancelling, id))
        if isRetried { actions.append(.store(.cancelling(id))) }
        _ = followSlot(slot)
        startTeardown(slot, at: now, &actions)
        return isRetried
    }

    /// A task that is being stopped gets another signal, or is killed before its grace is over.
    private mutating func hastenStop(
        _ slot: Int, by signal: SignalNumber, at now: Instant, _ actions: inout [Action]
    ) {
        let id = table[slot].id
        guard signal == .kill else { return self.signal(slot, signal, at: now, &actions) }
        guard table[run: id]?.withTeardown({ $0.killNow(at: now) }) == true else { return }
        takeTeardownStep(slot, at: now, &actions)
        if !isConcluded(slot) { updateDeadlines(slot) }
    }

    /// Sees to it that a task which is being stopped already is not tried again.
    ///
    /// - Returns: whether that has to be on disk first.
    private mutating func forbidRetry(_ slot: Int, _ actions: inout [Action]) -> Bool {
        let id = table[slot].id
        guard let run = table[run: id], run.queueing.retry != nil, run.phase.mayBeTriedAgain
        else { return table.phase(slot)?.teardown?.retryBan == .ordered }
        advance(slot, on: .retryForbidden(isOrdered: true), &actions)
        actions.append(.store(.cancelling(id)))
        return true
    }

    // MARK: - The processes of a run task

    /// The main process of a task runs.
    ///
    /// - Parameter processID: `nil` where an application does it.
    package mutating func started(
        _ id: TaskID, as processID: ProcessID?, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), advance(slot, on: .started, &actions) else { return }
        if let wait = nanosecondsReady(slot, at: now) { counts.started(afterNanoseconds: wait) }
        scheduler.foundRoom()
        if table[run: id]?.postponed != nil { table[run: id]?.postponed = nil }
        if let processID { table[run: id]?.processID = processID }
        actions.append(.tell(.began, id))
    }

    /// The command of a task could not be started.
    ///
    /// - Parameter text: what failed, in words for the person who submitted it; it may quote the command,
    ///   and is kept in a length for people.
    package mutating func startFailed(
        _ id: TaskID, _ text: String, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id) else { return }
        let decided = table.phase(slot)?.outcome
        let reason = Reason.notStarted(text.cut(toBytes: Reason.textBytesMax))
        decideOutcome(
            slot, decided ?? .failed, by: RunEvent.startFailed,
            reason: decided == nil ? reason : table[slot].reason, at: now, &actions)
    }

    /// There was no room to start the command of a task: it goes back to the queue, and has its turn again after a
    /// pause that doubles each time, from a second to half a minute. No attempt is used up by it. One that has met
    /// that before lets others go before it, for it may be the one that there is never room for.
    ///
    /// - Parameters:
    ///   - text: what was short, in words for the person who submitted it.
    ///   - scope: where the machine had no room, nobody's command is started for a while. Where the program that runs
    ///     commands was missed, the task has its turn as soon as that is there, by `executorIsThere`.
    /// - Returns: whether that is to be said in the log: when such a pause begins, and once of a command.
    package mutating func startPostponed(
        _ id: TaskID, _ text: String, _ scope: ShortageScope, at now: Instant,
        _ actions: inout [Action]
    ) -> Bool {
        guard let slot = table.slot(of: id), let run = table[run: id] else { return false }
        switch run.phase {
        case .launching, .stopping: break
        default: return false
        }
        let boot = boot(at: now)
        let text = text.cut(toBytes: Reason.textBytesMax)
        let isPauseNew = scope != .command && scheduler.foundNoRoom(text, scope, at: boot)
        if let outcome = run.phase.outcome {
            decideOutcome(
                slot, outcome, by: RunEvent.startFailed, reason: table[slot].reason, at: now,
                &actions)
            return isPauseNew
        }
        let count = (run.postponed?.count ?? 0) + 1
        counts.begunRun -= 1
        applicationTaskEnded(table[slot], at: now)
        table[slot].prepareAgain()
        if scope == .executor {
            // It is not the one that there is never room for.
            table[run: id]?.postpone(run.postponed, until: run.notBefore)
        } else {
            table[run: id]?.postpone(
                Postponement(reason: text, count: count),
                until: scheduler.nextTry(after: count, scope, at: boot))
        }
        advance(slot, on: .notStarted, &actions)
        if drain?.keepsQueue ?? true { actions.append(.store(.startUndone(id))) }
        loseIfDrained(slot, at: now, &actions)
        startQueued(at: now, &actions)
        return scope == .command ? count == 1 : isPauseNew
    }

    /// The program that runs commands is there, or answers again: what waited for it starts.
    package mutating func executorIsThere(at now: Instant, _ actions: inout [Action]) {
        scheduler.executorIsThere()
        startQueued(at: now, &actions)
    }

    /// The main process of a task is gone; what remains of its processes is killed before the end is
    /// recorded (rule 4 in docs/architecture.md).
    ///
    /// - Parameter moment: when that was, where it was before now.
    package mutating func mainExited(
        _ id: TaskID, _ exit: ProcessExit, moment: Instant? = nil, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id),
            mainEnded(slot, by: exit, at: past(moment, of: slot, at: now), &actions)
        else { return }
        table[run: id]?.exit = exit
        startTeardown(slot, at: now, &actions)
    }

    /// - Returns: whether that changed anything.
    ///
    /// - Parameter moment: when that was.
    private mutating func mainEnded(
        _ slot: Int, by exit: ProcessExit, at moment: Instant, _ actions: inout [Action]
    ) -> Bool {
        guard let run = table[run: table[slot].id] else { return false }
        let outcome = run.outcome(on: exit, of: table[slot], at: moment)
        guard advance(slot, on: .mainExited(outcome), &actions) else { return false }
        table[slot].stopClock(at: moment)
        if run.endedUnwarned(table[slot], at: moment) {
            table[slot].endedUnwarned(outcome, firedAt: run.handlerReports.toldAt)
        }
        noteChangedTimes(slot)
        return true
    }

    /// The command of a task's expiration handler is over, or could not be started.
    package mutating func handlerExited(
        _ id: TaskID, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), advance(slot, on: .handlerExited, &actions) else {
            return
        }
        startTeardown(slot, at: now, &actions)
    }

    /// What the processes of a task have used, told before `processesGone`.
    package mutating func used(_ id: TaskID, _ use: ResourceUse?) {
        guard let slot = table.slot(of: id), !isConcluded(slot) else { return }
        table[run: id]?.use = use
    }

    /// No process of a task is left.
    ///
    /// - Parameter moment: when that was, where it was before now.
    package mutating func processesGone(
        _ id: TaskID, moment: Instant? = nil, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), let outcome = table.phase(slot)?.outcome
        else { return }
        decideOutcome(
            slot, outcome, by: RunEvent.processesGone, reason: table[slot].reason,
            endedAt: past(moment, of: slot, at: now), at: now, &actions)
    }

    /// A moment of which is told now; what begins later has no part in it.
    private func past(_ moment: Instant?, of slot: Int, at now: Instant) -> Instant {
        guard let moment else { return now }
        return min(max(moment, table[slot].startedAt ?? moment), now)
    }

    /// A run task has spoken to its keeper.
    ///
    /// Nobody waits for an answer, so that there is no refusal: what cannot be had is not given, and what a
    /// task has, its environment and `Remaining` tell it. What is said of a task that does not run, or
    /// not any more, is of no account.
    package mutating func noted(
        _ id: TaskID, _ notice: TaskNotice, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), table[slot].kind == .run, table[slot].isLive,
            !isConcluded(slot)
        else { return }
        if let status = notice.status, setStatus(status, of: id) {
            actions.append(.tell(.status, id))
        }
        if let atLeast = notice.atLeast { lengthen(slot, atLeast, at: now, &actions) }
    }

    /// What a program has reported of a task that has not ended; `nil` where nothing.
    package func report(of id: TaskID) -> TaskReport? { reports[id] }

    /// A program reports of a task of its user's that has begun and not ended.
    ///
    /// The text of a command is its status, which a notice sets too and which is kept beyond its end.
    package mutating func report(
        _ report: TaskReport, of id: TaskID, by caller: Caller, at now: Instant,
        _ actions: inout [Action]
    ) throws(Refusal) {
        let record = try record(id, for: caller)
        guard let slot = table.slot(of: id), !isConcluded(slot) else {
            throw .alreadyEnded(id, record.task.outcome ?? decidedOutcome(id))
        }
        guard table[slot].isLive else {
            throw .notAccepting("task \(id) has not started; there is nothing to report of it")
        }
        var report = report
        report.text = report.text?.cut(toBytes: TaskNotice.statusBytesMax)
        var isNew = false
        if table[slot].kind == .run, let text = report.text {
            report.text = nil
            isNew = setStatus(text, of: id)
        }
        if reports.add(report, of: id) { isNew = true }
        if isNew { actions.append(.tell(.status, id)) }
    }

    /// Keeps what a task says of itself, also beyond its end.
    ///
    /// - Returns: whether it said something else before.
    private mutating func setStatus(_ text: String, of id: TaskID) -> Bool {
        let status = text.isEmpty ? nil : text
        guard table[run: id]?.status != status else { return false }
        table[run: id]?.status = status
        return true
    }

    /// Sees to it that a task may last that long from now at least, as far as its lifetime limit goes.
    ///
    /// As with systemd, this never shortens anything. The handler fires a grace before the new limit. Where
    /// that is over already, a task whose handler has fired has longer for its end and is not told again.
    ///
    /// The limit moves always, and is told when it has moved by a second since it was last told.
    private mutating func lengthen(
        _ slot: Int, _ atLeast: Duration, at now: Instant, _ actions: inout [Action]
    ) {
        let id = table[slot].id
        processDue(slot, at: now, &actions)
        guard table.phase(slot)?.isUnderWay == true, drain == nil || isLeft(slot) else { return }
        let task = table[slot]
        guard task.state != .dormant, task.bound != .applicationBackgroundTime else { return }
        let asked = now + atLeast
        let granted = min(asked, task.lifetimeEndsAt)
        guard granted > task.ownHardAt else { return }
        if granted - task.grace > now { table[slot].runAgain() }
        extend(slot, to: granted, asked: asked)
        let untold = (table[run: id]?.untoldExtension ?? .zero) + (granted - task.ownHardAt)
        table[run: id]?.untoldExtension = untold
        if untold >= BackgroundTaskRegistry.toldExtensionMin {
            tellExtended(slot, at: now, &actions)
        }
    }

    // MARK: - Commands that another program runs, and gives their time

    private mutating func noteChangedTimes(_ slot: Int) {
        if table[slot].kind == .run { changedTimes.insert(table[slot].id) }
    }

    /// The commands whose times or notes may have changed since this was called last; some may
    /// have ended meanwhile.
    package mutating func takeChangedTimes() -> [TaskID] { changedTimes.take() }

    /// When the handler and the limit of a command are due; `nil` where none of that task is under way.
    ///
    /// A handler that has fired here, and was not told of by who runs the command, is due since it was.
    package func commandDeadlines(of id: TaskID) -> CommandDeadlines? {
        guard let slot = table.slot(of: id), let run = table[run: id], run.hasCommand
        else { return nil }
        let task = table[slot]
        let teardown = run.phase.teardown
        let handlerAt = task.state == .expiring ? run.handlerReports.owedSince : task.handlerAt
        return CommandDeadlines(
            handlerAt: teardown == nil ? handlerAt : .never,
            limitAt: teardown?.killAt ?? task.hardAt,
            notes: task.notes(
                teardown, handlerFires: run.handlerReports.told, isPaused: isStopped(id)))
    }

    /// Whether a command of that attempt is under way: it has begun, and how it ends is not on its way to the disk.
    package func hasCommand(_ id: TaskID, attempt: Int) -> Bool {
        guard let run = table[run: id] else { return false }
        return run.hasCommand && run.attempt == attempt
    }

    private func commandSlot(_ id: TaskID) -> Int? {
        table[run: id]?.hasCommand == true ? table.slot(of: id) : nil
    }

    /// The program that runs commands has fired the handler of one: at its time, as it was ordered, or without a daemon
    /// to ask.
    ///
    /// It counts once, whoever was first. Where the task has time again by an order of the same moment, it goes on, and its
    /// handler fires again for that.
    ///
    /// - Parameters:
    ///   - stop: why that program ends all commands, where it was for that and for no time of the task.
    ///   - count: how often the handler has fired in this attempt. What was told before is passed over by it.
    ///   - moment: when it was, where that was before now.
    package mutating func commandWarned(
        _ id: TaskID, count: Int, moment: Instant? = nil, stop: Reason? = nil,
        at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = commandSlot(id), var reports = table[run: id]?.handlerReports
        else { return }
        let moment = past(moment, of: slot, at: now)
        let news = reports.take(count: count, at: moment)
        guard news != .nothing else { return }
        table[run: id]?.handlerReports = reports
        if news != .late, table.phase(slot)?.isUnderWay == true {
            handlerFired(
                slot, isOrdered: news == .asOrdered, wasAlone: reports.wasAlone(at: moment),
                stop: stop, at: moment, now, &actions)
        } else if news != .late {
            table[slot].handlerFired(at: moment)
        }
        updateDeadlines(slot)
    }

    private mutating func handlerFired(
        _ slot: Int, isOrdered: Bool, wasAlone: Bool, stop: Reason?, at moment: Instant,
        _ now: Instant, _ actions: inout [Action]
    ) {
        let task = table[slot]
        let isDue = task.state == .running && task.handlerAt <= moment
        if isDue {
            let isShared = task.bound == .applicationBackgroundTime
            counts.handlerFires(lateByNanoseconds: moment.nanoseconds(since: task.handlerAt))
            if isShared { tellBackgroundTimeExpiring(task, at: now, &actions) }
            table[slot].expire(isShared ? .applicationTimeSpent : .budgetSpent, at: moment)
        } else if wasAlone || stop != nil, task.state != .expiring {
            // It has to end early, and nobody has given it more time since.
            let reason =
                stop ?? (task.hasApplication ? Reason.applicationTimeSpent : .shutdown)
            _ = table[slot].expireEarly(reason, at: moment)
            table[slot].expire(reason, at: moment)
        } else {
            table[slot].handlerFired(at: moment)
        }
        guard isDue || !isOrdered && task.state != .expiring else { return }
        tellHandlerFired(slot, &actions)
        // Whether it goes on that was started without a daemon is known since the command was found.
        guard !wasAlone, table[run: task.id]?.work.expiration.command != nil else { return }
        advance(slot, on: .handlerLaunched, &actions)
    }

    /// The program that runs commands has killed one at its limit, or when it was to be killed.
    ///
    /// - Parameter moment: when it was, where that was before now.
    package mutating func commandLimitReached(
        _ id: TaskID, moment: Instant? = nil, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = commandSlot(id) else { return }
        guard !isStopping(slot) else {
            return hastenStop(slot, by: .kill, at: now, &actions)
        }
        let moment = past(moment, of: slot, at: now)
        let hardAt = table[slot].hardAt
        if hardAt <= moment {
            counts.limitReached(lateByNanoseconds: moment.nanoseconds(since: hardAt))
        }
        table[slot].note(.budgetSpent)
        overrun(slot, at: now, &actions)
    }

    /// What a command was is gone with the program that ran it: it is interrupted, unless how it ends was decided.
    ///
    /// - Parameter reason: in words for the person who submitted it.
    package mutating func commandLost(
        _ id: TaskID, reason: String = "the program that runs commands was lost",
        at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = commandSlot(id) else { return }
        let decided = table.phase(slot)?.outcome
        let text = Reason.recorded(reason.cut(toBytes: Reason.textBytesMax))
        decideOutcome(
            slot, decided ?? .interrupted, by: RunEvent.lost,
            reason: decided == nil ? text : table[slot].reason, at: now, &actions)
    }

    // MARK: - Tasks that an application does itself (rule 35 in docs/architecture.md)

    /// The application that does a task itself; `nil` where a command does it.
    private func performer(of task: BackgroundTask) -> ApplicationKey? {
        guard table[run: task.id]?.work.wakesApplication == true, let id = task.application
        else { return nil }
        return ApplicationKey(owner: task.owner, id: id)
    }

    private func checkPerforms(_ submission: Submission) throws(Refusal) {
        guard let id = submission.application else { throw .invalidParameter("command") }
        try applications.checkPerforms(ApplicationKey(owner: submission.owner, id: id))
    }

    /// Has the command of a task started, or its application do it.
    private mutating func launch(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let task = table[slot]
        guard let key = performer(of: task) else { return actions.append(.launch(task.id)) }
        let performance = Performance(
            task: task.id, identifier: task.name, until: task.hardAt)
        let reason = handle(at: now, &actions) { machine, _, turn in
            machine.perform(performance, by: key, &turn)
        }
        if let reason { took(.notStarted(reason), of: task.id, at: now, &actions) }
    }

    /// Sends a signal to the processes of a task, or tells its application that the time is nearly over.
    private mutating func signal(
        _ slot: Int, _ number: SignalNumber, at now: Instant, _ actions: inout [Action]
    ) {
        let task = table[slot]
        guard let key = performer(of: task) else {
            return actions.append(.signal(task.id, number))
        }
        // What it has left: its grace, where that is not cut.
        let end = table.phase(slot)?.teardown?.nextStepAt ?? (now + task.grace)
        let until = min(task.hardAt, end)
        handle(at: now, &actions) { machine, _, turn in
            machine.performanceExpires(task.id, until: until, by: key, &turn)
        }
    }

    /// Kills the processes of a task. Of one that an application does nothing is left at once; who was there at the
    /// hard limit is ended for it.
    private mutating func killAll(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        let task = table[slot]
        guard let key = performer(of: task) else { return actions.append(.killAll(task.id)) }
        let overran = table.phase(slot)?.outcome == .overrun
        handle(at: now, &actions) { machine, tasks, turn in
            machine.performanceEnds(task.id, by: key, overran: overran, tasks, &turn)
        }
        if case .stopping = table.phase(slot) {
            _ = mainEnded(slot, by: .signal(.kill), at: now, &actions)
        }
        processesGone(task.id, at: now, &actions)
    }

    /// Something has come about with a task that an application does.
    private mutating func took(
        _ news: PerformanceNews, of id: TaskID, at now: Instant, _ actions: inout [Action]
    ) {
        switch news {
        case .told: started(id, as: nil, at: now, &actions)
        // A daemon that stops interrupts it, as if it had begun.
        case .notStarted where drain != nil: took(.lost, of: id, at: now, &actions)
        case .notStarted(let text): startFailed(id, text, at: now, &actions)
        case .done(let isSuccess):
            guard let slot = table.slot(of: id) else { return }
            if !isSuccess { note(slot, "said that it failed") }
            guard mainEnded(slot, by: .status(isSuccess ? 0 : 1), at: now, &actions) else { return }
            startTeardown(slot, at: now, &actions)
        case .lost:
            guard let slot = table.slot(of: id) else { return }
            note(slot, "ended before it was done")
            guard mainEnded(slot, by: .signal(.kill), at: now, &actions) else { return }
            startTeardown(slot, at: now, &actions)
        }
    }

    /// Says why a task fails that an application does, unless that is known.
    private mutating func note(_ slot: Int, _ predicate: String) {
        guard let key = performer(of: table[slot]) else { return }
        table[slot].note(.recorded("application \(key.id) \(predicate)"))
    }

    /// What an application is to be told that begins to listen to itself: the tasks that it performs.
    package func performanceEvents(of key: ApplicationKey, at now: Instant) -> [ApplicationEvent] {
        applications.performanceEvents(key, at: now)
    }

    /// How many tasks an application performs, which do not share its time.
    package func performanceCount(of key: ApplicationKey) -> Int {
        applications[key]?.run?.performances.count ?? 0
    }

    // MARK: - Stopping a run task

    /// Takes the first step of stopping a task whose phase says that it is to be stopped.
    private mutating func startTeardown(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard isStopping(slot) else { return }
        takeTeardownStep(slot, at: now, &actions)
        // One that is given up has ended, and no deadline of it is due again.
        if !isConcluded(slot) { updateDeadlines(slot) }
    }

    /// Takes the next step of stopping a task, where it is due.
    private mutating func takeTeardownStep(
        _ slot: Int, at now: Instant, _ actions: inout [Action]
    ) {
        let id = table[slot].id
        let (stuckAfter, isDraining) = (limits.stuckAfter, isDraining && !isLeft(slot))
        let step = table[run: id]?.withTeardown {
            $0.takeStep(at: now, stuckAfter: stuckAfter, isDraining: isDraining)
        }
        guard let taken = step ?? nil else { return }
        if taken.isNewlyReported { actions.append(.tell(.stuck, id)) }
        switch taken.order {
        case .wait: break
        case .signal(let number): signal(slot, number, at: now, &actions)
        case .killAll: killAll(slot, at: now, &actions)
        }
        guard !isConcluded(slot) else { return }
        if taken.elapsed >= stuckAfter { noteStuck(slot, at: now, &actions) }
        if isDraining, taken.elapsed >= TeardownStep.drainWait {
            giveUp(slot, at: now, &actions)
        }
    }

    /// How long to wait for a kill before it is repeated.
    func killWait(after elapsed: Duration) -> Duration {
        TeardownStep.killWait(
            after: elapsed, stuckAfter: limits.stuckAfter, isDraining: isDraining)
    }

    /// A task whose processes are there long after they were killed, as in a file system that hangs, gives its slot
    /// back to others. It counts in its owner's share until they are gone, and ends as usual then.
    private mutating func noteStuck(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard table[run: table[slot].id]?.withTeardown({ $0.noteStuck() }) == true else { return }
        table[slot].stop()
        if followSlot(slot) { startQueued(at: now, &actions) }
    }

    /// A daemon that stops waits no longer for processes that no kill ends. The task is not tried again: nobody knows
    /// when they will be gone, and one task never runs twice at once.
    private mutating func giveUp(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        decideOutcome(
            slot, .interrupted, by: RunEvent.givenUp, reason: .stillThere,
            mayBeTriedAgain: false, at: now, &actions)
    }

    /// A drain has begun: what was killed before it is not waited for longer than what it kills itself.
    private mutating func hastenTeardown(_ slot: Int, at now: Instant) {
        guard table[run: table[slot].id]?.withTeardown({ $0.hasten(at: now) }) == true
        else { return }
        updateDeadlines(slot)
    }

    // MARK: - The disk

    /// A step is on disk.
    ///
    /// - Parameter lastSuccess: of a submission that keeps an interval, when a task of its owner and name
    ///   last completed as far as the disk knows.
    package mutating func stored(
        _ step: StoreStep, lastSuccess: BootInstant? = nil, at now: Instant,
        _ actions: inout [Action]
    ) {
        durability.stored(step)
        switch step {
        case .submitted(let id, let isStarted):
            submissionStored(id, isStarted: isStarted, lastSuccess, at: now, &actions)
        case .started(let id):
            guard let slot = table.slot(of: id) else { return }
            guard startStored(slot, at: now, &actions) else { return }
            launchIfBegun(slot, at: now, &actions)
        case .startUndone: break
        case .attemptEnded(let id): attemptStored(id, at: now, &actions)
        case .cancelling(let id): retryBanAnswered(id, &actions)
        case .changed(let id): changeAnswered(id, nil, at: now, &actions)
        case .groupPaused(let group, let isPaused):
            pauseAnswered(group, isPaused, nil, at: now, &actions)
        case .ownerPaused(let owner, let isPaused):
            pauseAnswered(owner, isPaused, nil, at: now, &actions)
        case .slotsOrdered(let order): slotsAnswered(order, nil, at: now, &actions)
        case .cleaned(let ids, let caller): cleaned(ids, by: caller, nil, &actions)
        case .ended(let id):
            guard let slot = table.slot(of: id), let phase = table.phase(slot) else { return }
            if case .withdrawing = phase { actions.append(.answer(id, nil)) }
            publishDecidedEnd(slot, at: now, &actions)
        case .applicationSaved(let key): applicationStored(key, nil, at: now, &actions)
        case .applicationForgotten(let key): forgettingStored(key, nil, at: now, &actions)
        case .identifiersReserved(let last): identifiers.reserved(through: last)
        }
    }

    /// A step is not on disk, and neither is any other of its commit. Nothing new is taken in and
    /// nothing queued starts until `storeHealed`; what runs keeps its budget.
    ///
    /// - Parameter reason: what failed, in words for those whose submissions are refused.
    package mutating func notStored(
        _ step: StoreStep, _ reason: String, at now: Instant, _ actions: inout [Action]
    ) {
        durability.failed(reason)
        switch step {
        case .submitted(let id, _): submissionNotStored(id, reason, &actions)
        case .started(let id):
            guard let slot = table.slot(of: id) else { return }
            advance(slot, on: .startNotStored, &actions)
        case .startUndone(let id): durability.owe(startUndoneOf: id)
        case .attemptEnded(let id): attemptNotStored(id, reason, &actions)
        case .cancelling(let id):
            // It is being stopped all the same.
            durability.owe(cancelOf: id)
            retryBanAnswered(id, &actions)
        case .changed(let id): changeAnswered(id, .notAccepting(reason), at: now, &actions)
        case .groupPaused(let group, let isPaused):
            pauseAnswered(group, isPaused, .notAccepting(reason), at: now, &actions)
        case .ownerPaused(let owner, let isPaused):
            pauseAnswered(owner, isPaused, .notAccepting(reason), at: now, &actions)
        case .slotsOrdered(let order):
            slotsAnswered(order, .notAccepting(reason), at: now, &actions)
        case .cleaned(let ids, let caller):
            cleaned(ids, by: caller, .notAccepting(reason), &actions)
        case .ended(let id): endNotStored(id, reason, at: now, &actions)
        case .applicationSaved(let key):
            applicationStored(key, .notAccepting(reason), at: now, &actions)
        case .applicationForgotten(let key):
            forgettingStored(key, .notAccepting(reason), at: now, &actions)
        case .identifiersReserved: identifiers.notReserved()
        }
    }

    /// The disk has not answered for long, or is about to be said to have failed. What is on its way waits on;
    /// nothing more is taken in or started until `storeHealed`.
    package mutating func storeInDoubt(_ reason: String) {
        durability.stalled(reason)
    }

    /// The disk takes writes again: what ended meanwhile is recorded, and the queue goes on.
    package mutating func storeHealed(at now: Instant, _ actions: inout [Action]) {
        guard durability.healed() else { return }
        let open = durability.cancels.filter { table[run: $0]?.phase.isConcluded == false }
        durability.keepCancels(of: open)
        for step in durability.owedSteps { actions.append(.store(step)) }
        saveApplicationsAgain(&actions)
        for id in durability.takeStartsUndone() where table[run: id]?.phase.isWaiting == true {
            actions.append(.store(.startUndone(id)))
        }
        startQueued(at: now, &actions)
    }

    /// A submission is on disk: it is there for everybody, and waits for its turn or starts.
    private mutating func submissionStored(
        _ id: TaskID, isStarted: Bool, _ lastSuccess: BootInstant?, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id) else { return }
        if let lastSuccess {
            scheduler.recall(OwnedName(table[slot]), succeededAt: lastSuccess)
        }
        if isStarted {
            guard startStored(slot, at: now, &actions) else { return }
        } else {
            advance(slot, on: .admitted, &actions)
            loseIfDrained(slot, at: now, &actions)
        }
        actions.append(.answer(id, nil))
        actions.append(.tell(.queued, id))
        if isStarted {
            launchIfBegun(slot, at: now, &actions)
        } else {
            failIfBroken(slot, at: now, &actions)
            startQueued(at: now, &actions)
        }
    }

    private mutating func submissionNotStored(
        _ id: TaskID, _ reason: String, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), let run = table[run: id] else { return }
        scheduler.freeSlot(table[slot], run.queueing)
        scheduler.unfollow(table[slot], run.queueing)
        scheduler.forget(id)
        table.remove(slot)
        actions.append(.answer(id, .notAccepting(reason)))
    }

    /// A start is on disk: the budget begins, unless the task is not to start any more.
    ///
    /// - Returns: `false` where that was known, or is of no task that was to start.
    private mutating func startStored(
        _ slot: Int, at now: Instant, _ actions: inout [Action]
    ) -> Bool {
        guard advance(slot, on: .startStored, &actions) else { return false }
        beginLaunch(slot, at: now, &actions)
        return true
    }

    /// The budget of a task begins whose command is to be started, unless the daemon stops.
    private mutating func beginLaunch(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard let phase = table.phase(slot), phase.isLaunching else { return }
        if let drain {
            advance(slot, on: .notStarted, &actions)
            if drain.keepsQueue { actions.append(.store(.startUndone(table[slot].id))) }
            return loseIfDrained(slot, at: now, &actions)
        }
        counts.begunRun += 1
        startBudget(slot, at: now, &actions)
        if table[slot].hasApplication, followSlot(slot) { startQueued(at: now, &actions) }
    }

    private mutating func launchIfBegun(
        _ slot: Int, at now: Instant, _ actions: inout [Action]
    ) {
        if table.phase(slot)?.isLaunching == true { launch(slot, at: now, &actions) }
    }

    /// A daemon that stops and keeps nothing gives no turn to a task that waits for one.
    private mutating func loseIfDrained(_ slot: Int, at now: Instant, _ actions: inout [Action]) {
        guard let drain, !drain.keepsQueue, table.phase(slot)?.isWaiting == true else { return }
        decideOutcome(
            slot, .interrupted, by: RunEvent.lost, reason: .queueLost, at: now, &actions)
    }

    /// The disk has answered about an order that a task is not tried again, which is being stopped all the same.
    private mutating func retryBanAnswered(_ id: TaskID, _ actions: inout [Action]) {
        if let slot = table.slot(of: id) { advance(slot, on: .retryBanAnswered, &actions) }
        actions.append(.answer(id, nil))
    }

    /// An attempt that is not the last is on disk: the task waits for the next one.
    private mutating func attemptStored(
        _ id: TaskID, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), let run = table[run: id],
            case .recordingAttempt(let conclusion, let cancelledBy) = run.phase,
            let delay = conclusion.retryDelay
        else { return }
        let attempt = EndedAttempt(
            attempt: run.attempt, outcome: conclusion.outcome, reason: conclusion.reason,
            exit: run.exit, startedAt: table[slot].startedAt, warnedAt: table[slot].warnedAt,
            endedAt: conclusion.endedAt, used: table[slot].used(at: conclusion.endedAt),
            use: run.use)
        let notBefore = conclusion.endedAtBoot + delay
        reports.forget(id)
        stopped.remove(id)
        table[run: id]?.prepareAgain(after: attempt, notBefore: notBefore)
        table[slot].prepareAgain()
        advance(slot, on: .attemptRecorded, &actions)
        actions.append(.tell(.attemptEnded, id))
        if let cancelledBy {
            withdraw(slot, cancelledBy, at: now, &actions)
        } else if drain?.keepsQueue == false {
            loseIfDrained(slot, at: now, &actions)
        } else {
            startQueued(at: now, &actions)
        }
    }

    /// The end of an attempt is not on disk; it is written again when the disk takes it, and nothing is
    /// known of it before.
    private mutating func attemptNotStored(
        _ id: TaskID, _ reason: String, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id) else { return }
        durability.owe(attemptOf: id)
        guard case .recordingAttempt(_, cancelledBy: .some) = table.phase(slot) else { return }
        advance(slot, on: .attemptNotRecorded, &actions)
        actions.append(.answer(id, .notAccepting(reason)))
    }

    /// An end that the disk does not know is told all the same, and kept until the disk takes it. An
    /// order for a queued task is refused instead: after a crash the task would run.
    private mutating func endNotStored(
        _ id: TaskID, _ reason: String, at now: Instant, _ actions: inout [Action]
    ) {
        guard let slot = table.slot(of: id), let phase = table.phase(slot) else { return }
        if case .withdrawing = phase {
            advance(slot, on: .withdrawalNotStored, &actions)
            // It waits again, and its time may have come meanwhile.
            scheduler.wake(through: boot(at: now), limit: nil)
            actions.append(.answer(id, .notAccepting(reason)))
            failIfBroken(slot, at: now, &actions)
            beginLaunch(slot, at: now, &actions)
            return launchIfBegun(slot, at: now, &actions)
        }
        if let conclusion = phase.conclusion, conclusion.outcome == .completed {
            // Others of its name may wait since it was decided, and do not learn of it from the disk.
            scheduler.succeeded(OwnedName(table[slot]), at: conclusion.endedAtBoot)
        }
        publishDecidedEnd(slot, at: now, &actions)
        if let record = ended[id] { durability.owe(end: record) }
    }

    /// Takes over what an earlier daemon left: what waited is queued, what goes on is followed, and what else ran was
    /// interrupted.
    ///
    /// Called once, before anything begins, with the tasks in the order of their ids. What has come about with the
    /// commands that go on is told then, before `deadlineReached` is called.
    ///
    /// - Parameters:
    ///   - found: the commands that the program that runs them still has.
    ///   - executor: that program; `nil` where there is none.
    package mutating func restore(
        _ tasks: [RestoredTask], found: [TaskID: FoundCommand] = [:],
        executor: ExecutorInstance? = nil, at now: Instant, _ actions: inout [Action]
    ) {
        let slots = tasks.map { takeOver($0) }
        let fates = tasks.map { $0.fate(found[$0.id], executor) }
        let all = zip(slots, zip(tasks, fates)).map { ($0, $1.0, $1.1) }
        // What goes on has its slot before anything is started.
        for case (let slot, let restored, .goesOn(let command)) in all {
            goOn(slot, restored, command, at: now, &actions)
        }
        // Queue every restored task before starting any, so that priorities are compared across all.
        for case (let slot, let restored, .lost(let begunAt)) in all {
            table[slot].hadBegun(at: min(begunAt, now))
            decideOutcome(
                slot, .interrupted, by: RunEvent.lost, reason: .daemonLost,
                mayBeTriedAgain: !restored.isCancelled, at: now, &actions)
        }
        for case (let slot, _, .waits(let isStartUndone)) in all {
            advance(slot, on: .admitted, &actions)
            if isStartUndone { actions.append(.store(.startUndone(table[slot].id))) }
        }
        vain.add(tasks.lazy.filter { $0.broken != nil }.map(\.id))
        startQueued(at: now, &actions)
    }

    /// A command of an earlier daemon goes on.
    private mutating func goOn(
        _ slot: Int, _ restored: RestoredTask, _ command: FoundCommand, at now: Instant,
        _ actions: inout [Action]
    ) {
        let id = restored.id
        let begunAt = max(min(restored.begunAt ?? now, now), Instant(nanoseconds: 0))
        let notes =
            command.notes.flatMap { $0.isPossible(at: now) ? $0 : nil }
            ?? CommandNotes(of: table[slot], command, begunAt: begunAt, at: now)
        let isRetried = restored.submission.queueing.retry != nil
        let found = RunPhase(command, notes, restored, isRetried: isRetried)
        guard advance(slot, on: .found(found), &actions) else { return }
        table[slot].goOn(notes, warnAfterNanoseconds: limits.warnAfterNanoseconds)
        table[run: id]?.takeOver(command, notes, at: now)
        if notes.marks.contains(.isPaused) { stopped.insert(id) }
        if table.phase(slot)?.isLaunching == true { counts.begunRun += 1 }
        if table[slot].hasApplication {
            applicationTaskBegan(table[slot], at: now, &actions)
            clockChanged(
                of: CollectionOfOne(id), to: applicationClock(of: table[slot]), at: now, &actions)
        }
        updateDeadlines(slot)
        if table.phase(slot)?.teardown?.retryBan == .ordered {
            actions.append(.store(.cancelling(id)))
        }
        guard restored.isCancelled, table.phase(slot)?.isUnderWay == true else { return }
        // The order to cancel it is on disk, and was not carried out.
        cancelRunning(
            slot, .cancelled(by: table[slot].owner, text: nil), isStored: true, at: now, &actions)
    }

    private mutating func takeOver(_ restored: RestoredTask) -> Int {
        // One that had begun waits for nothing, and may be tried again.
        scheduler.wait(
            restored.id, after: restored.dependencies,
            broken: restored.begunAt == nil ? restored.broken : nil)
        let slot = insert(BackgroundTask(restored), RunTask(restored))
        if let lastSuccess = restored.lastSuccess {
            scheduler.succeeded(OwnedName(table[slot]), at: lastSuccess)
        }
        return slot
    }

    /// Takes over the newest ended tasks that the disk knows, the oldest first.
    package mutating func restore(ended tasks: [RestoredTask]) {
        for record in tasks.compactMap(TaskRecord.init(ended:)) {
            var task = record.task
            ended.take(&task, record.run.map(EndedTask.tombstone))
        }
    }

    // MARK: - The queue

    /// Starts queued tasks while slots are free.
    private mutating func startQueued(
        at now: Instant, wakesMax: Int? = nil, _ actions: inout [Action]
    ) {
        guard table.queuedCount > 0 else { return }
        scheduler.wake(through: boot(at: now), limit: wakesMax)
        guard durability.fault == nil, drain == nil, scheduler.shortageReason == nil
        else { return }
        while let slot = nextToStart() {
            guard advance(slot, on: .slotTaken, &actions) else {
                // What does not wait has no place in the queue, and would be the next one for ever.
                scheduler.dequeue(slot)
                continue
            }
            actions.append(.store(.started(table[slot].id)))
        }
    }

    private func nextToStart() -> Int? {
        scheduler.next(limits) { table.charged(to: $0).live }
    }

    /// Lets a command that begins, becomes dormant or stuck, or goes on, have a slot or not.
    ///
    /// - Returns: whether a slot is free by it.
    private mutating func followSlot(_ slot: Int) -> Bool {
        let task = table[slot]
        guard let run = table[run: task.id] else { return false }
        return scheduler.park(task, run.queueing, task.state == .dormant || run.isStuck)
    }

    /// Every rule that holds a queued task back now; the one that it is said to wait for in front.
    package func pendingReasons(of id: TaskID) -> [PendingReason] {
        guard let slot = table.slot(of: id), let run = table[run: id] else { return [] }
        let storeReason = durability.fault.map(PendingReason.store)
        guard run.phase.tally != .live else { return [storeReason ?? .starting] }
        let task = table[slot]
        let general = [storeReason, isDraining ? .shutdown : nil].compactMap { $0 }
        let result =
            general
            + scheduler.reasons(
                for: task, run, limits, liveCount: table.charged(to: task.owner).live)
        guard result.isEmpty else { return result }
        return [scheduler.mayReserveSlots(of: task.owner) ? .slotsReserved : .starting]
    }

    /// The rule that holds a queued task back first; `nil` where it is not queued.
    package func firstHold(on id: TaskID) -> PendingReason? {
        guard let slot = table.slot(of: id), table[slot].state == .queued else { return nil }
        return pendingReasons(of: id).first
    }

    /// How long a queued task is held back at least by rules of time; `nil` where none of them says how
    /// long.
    package func notBefore(_ id: TaskID, at now: Instant) -> Duration? {
        guard let slot = table.slot(of: id), table[slot].state == .queued else { return nil }
        let until = pendingReasons(of: id).compactMap(\.until).max()
        return until.map { max($0 - boot(at: now), .zero) }
    }

    /// Whether a rule of time holds a queued task back, so that its submitter gets a receipt.
    package func isDeferred(_ id: TaskID) -> Bool {
        guard let slot = table.slot(of: id), table[slot].state == .queued,
            let run = table[run: id], run.phase.tally != .live
        else { return false }
        return scheduler.defers(table[slot], run)
    }

    /// Commands that take a slot.
    var idsInSlots: Set<TaskID> { scheduler.idsInSlots }

    /// Conditions that tasks of the queue wait for, whose own time has come.
    package var wantedConditions: Conditions { scheduler.wantedConditions }

    /// What the kernel says of the machine.
    package var conditions: Conditions { scheduler.conditions }

    /// The same in words, for `explain`; of those that the shell looks at.
    package var conditionReadings: [Conditions: String] {
        get { scheduler.conditionReadings }
        set { scheduler.conditionReadings = newValue }
    }

    /// The kernel says something else about the machine.
    package mutating func conditionsChanged(
        to conditions: Conditions, at now: Instant, _ actions: inout [Action]
    ) {
        scheduler.setConditions(conditions)
        startQueued(at: now, &actions)
    }

    /// How many slots are taken.
    package var slotsTaken: Int { scheduler.slotsTaken }

    /// How many tasks are in a state that is not `ended`, of all owners.
    package func count(of state: TaskState) -> Int { table.count(of: state) }

    /// How the queue stands; looks at every task in it.
    package func queueStanding(at now: Instant) -> QueueStanding {
        var (standing, oldest) = scheduler.standing
        if let slot = oldest.flatMap({ table.slot(of: $0) }) {
            standing.oldestWait = .nanoseconds(nanosecondsReady(slot, at: now) ?? 0)
        }
        return standing
    }

    /// How long ago the time of a run task had come: its submission, its earliest begin, or the end of the delay before
    /// another attempt.
    private func nanosecondsReady(_ slot: Int, at now: Instant) -> Int64? {
        guard let run = table[run: table[slot].id] else { return nil }
        let sinceSubmitted = now.nanoseconds(since: table[slot].submittedAt)
        let (sinceReady, overflow) = boot(at: now).nanoseconds.subtractingReportingOverflow(
            run.notBefore.nanoseconds)
        return max(min(sinceSubmitted, overflow ? .max : sinceReady), 0)
    }

    /// What there is of the groups that are set, by name, with the tasks that a caller may know of.
    package func groups(
        for caller: Caller
    ) -> [(name: String, slots: Int, isPaused: Bool, use: GroupUse)] {
        scheduler.groups(limits, for: caller)
    }

    /// Takes an order to hold back, or to let go, what is queued in a group. Once it is on disk it is done,
    /// and answered by `Action.answerGroup`.
    ///
    /// - Returns: whether there is something to do; else it is so already.
    package mutating func setPaused(
        _ group: String, _ isPaused: Bool, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        // A group that has left the settings stays paused until it is let go.
        guard limits.groupSlots[group] != nil || !isPaused && scheduler.isPaused(group) else {
            throw .noSuchGroup(group)
        }
        try durability.check()
        guard scheduler.orderPause(group, isPaused) else { return false }
        actions.append(.store(.groupPaused(group, isPaused)))
        return true
    }

    /// An order about a group is on disk, or is not.
    private mutating func pauseAnswered(
        _ group: String, _ isPaused: Bool, _ refusal: Refusal?, at now: Instant,
        _ actions: inout [Action]
    ) {
        scheduler.pauseAnswered(group, isPaused, isStored: refusal == nil)
        actions.append(.answerGroup(group, refusal))
        if refusal == nil { startQueued(at: now, &actions) }
    }

    /// Takes over which groups an earlier daemon held back. Called before the tasks are restored.
    package mutating func restore(pausedGroups: [String]) {
        scheduler.restorePauses(pausedGroups)
    }

    // Single tasks and all of an owner (rule 31 in docs/architecture.md).

    /// Whether all tasks of an owner are held back.
    package func isPaused(_ owner: OwnerID) -> Bool { scheduler.isPaused(owner) }

    /// Takes an order to hold back, or to let go, what an owner has queued. Once it is on disk it is done, and
    /// answered by `Action.answerOwner`.
    ///
    /// - Returns: whether there is something to do; else it is so already.
    package mutating func setPaused(
        _ owner: OwnerID, _ isPaused: Bool, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        try durability.check()
        guard scheduler.orderPause(owner, isPaused) else { return false }
        actions.append(.store(.ownerPaused(owner, isPaused)))
        return true
    }

    private mutating func pauseAnswered(
        _ owner: OwnerID, _ isPaused: Bool, _ refusal: Refusal?, at now: Instant,
        _ actions: inout [Action]
    ) {
        scheduler.pauseAnswered(owner, isPaused, isStored: refusal == nil)
        actions.append(.answerOwner(owner, refusal))
        if refusal == nil { startQueued(at: now, &actions) }
    }

    /// Takes over whose tasks an earlier daemon held back. Called before the tasks are restored.
    package mutating func restore(pausedOwners: [OwnerID]) {
        scheduler.restorePauses(of: pausedOwners)
    }

    /// Changes what decides when a queued task may run. It holds at once, and the task does not start before the disk
    /// has it; then `Action.answerChange` says so.
    ///
    /// - Returns: whether there is something to do; else it is so already.
    package mutating func change(
        _ id: TaskID, by caller: Caller, _ change: QueueingChange, at now: Instant,
        _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        if let isPaused = change.isPaused, change.isPauseAlone,
            try pauseRunning(id, isPaused, by: caller, &actions)
        {
            return false
        }
        let slot = try queuedSlot(id, for: caller)
        guard let run = table[run: id] else { throw .noSuchTask(id) }
        let queueing = change.applied(to: run.queueing)
        try change.check(from: run.queueing, limits, for: table[slot].owner)
        try durability.check()
        // What is so by a change that the disk does not have yet is ordered once more.
        guard
            change.earliestBegin != nil || queueing != run.queueing || scheduler.isChanging(id)
        else { return false }
        try checkRules(of: table[slot], queueing)
        let notBefore = change.earliestBegin.map { boot(at: now) + $0 } ?? run.notBefore
        scheduler.changeOrdered(of: id, from: run.queuedTerms)
        wait(slot, by: QueuedTerms(queueing: queueing, notBefore: notBefore))
        actions.append(.store(.changed(id)))
        return true
    }

    // Commands that run (rule 31 in docs/architecture.md).

    /// Whether the processes of a command are stopped by an order to pause it.
    package func isStopped(_ id: TaskID) -> Bool { !stopped.isEmpty && stopped.contains(id) }

    /// Stops the processes of a command that runs, or lets them go on. Its time goes on meanwhile.
    ///
    /// - Returns: whether it runs; else the order is about what is queued.
    private mutating func pauseRunning(
        _ id: TaskID, _ isPaused: Bool, by caller: Caller, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        _ = try record(id, for: caller)
        guard let slot = table.slot(of: id), case .running = table.phase(slot) else { return false }
        guard isPaused else {
            letGoOn(id, &actions)
            return true
        }
        guard table[slot].state != .expiring else {
            throw .notAccepting("the time of task \(id) is nearly over; it is not paused any more")
        }
        guard performer(of: table[slot]) == nil else {
            throw .notAccepting("an application does task \(id); only commands are paused")
        }
        if stopped.insert(id).inserted {
            changedTimes.insert(id)
            actions.append(.signal(id, .stop))
            actions.append(.tell(.status, id))
        }
        return true
    }

    /// Lets a command go on that was paused.
    private mutating func letGoOn(_ id: TaskID, _ actions: inout [Action]) {
        guard isStopped(id) else { return }
        stopped.remove(id)
        changedTimes.insert(id)
        actions.append(.signal(id, .goOn))
        actions.append(.tell(.status, id))
    }

    /// The slot of a task that waits for its turn.
    private func queuedSlot(_ id: TaskID, for caller: Caller) throws(Refusal) -> Int {
        let record = try record(id, for: caller)
        guard let slot = table.slot(of: id) else {
            throw .alreadyEnded(id, record.task.outcome ?? .interrupted)
        }
        switch table.phase(slot) {
        case .waiting: return slot
        case nil:
            throw .notAccepting(
                "task \(id) is held by a program; only queued commands can be changed")
        case .withdrawing:
            throw .notAccepting("task \(id) is being cancelled; it cannot be changed")
        case .recordingAttempt:
            throw .notAccepting("task \(id) is between two attempts; try again in a moment")
        case .recordingEnd, .ended: throw .alreadyEnded(id, decidedOutcome(id))
        default: throw .notAccepting("task \(id) has started; only queued commands can be changed")
        }
    }

    /// A change may make a rule more that the tasks of a name wait by.
    private func checkRules(
        of task: BackgroundTask, _ queueing: Queueing
    ) throws(Refusal) {
        guard queueing.isByName,
            scheduler.ruleCount(of: task, queueing) > limits.rulesPerNameMax
        else { return }
        throw .limitReached(limit: "rulesPerNameMax", value: limits.rulesPerNameMax)
    }

    /// Lets other rules decide when a queued task may run.
    private mutating func wait(_ slot: Int, by terms: QueuedTerms) {
        let task = table[slot]
        guard let before = table[run: task.id]?.queueing else { return }
        // The rules of its name know it by its group and its conditions.
        if before.isByName { scheduler.rename(slot, task, from: before, to: terms.queueing) }
        table[run: task.id]?.wait(by: terms)
        guard let run = table[run: task.id], run.phase.isWaiting else { return }
        scheduler.requeue(slot, task, run)
    }

    private mutating func changeAnswered(
        _ id: TaskID, _ refusal: Refusal?, at now: Instant, _ actions: inout [Action]
    ) {
        let before = scheduler.changeAnswered(of: id, isStored: refusal == nil)
        actions.append(.answerChange(id, refusal))
        guard let slot = table.slot(of: id), let run = table[run: id] else { return }
        if let before {
            wait(slot, by: before)
        } else if run.phase.isWaiting {
            scheduler.requeue(slot, table[slot], run)
        }
        startQueued(at: now, &actions)
    }

    // MARK: - Tasks that come after others (rule 29 in docs/architecture.md)

    /// A task has ended for good: those that waited for it go on, or end without having run.
    private mutating func freeFollowers(of id: TaskID, _ outcome: Outcome, at now: Instant) {
        scheduler.ended(id, outcome)
        guard scheduler.hasUntoldFollowers else { return }
        // Most have a few, and those go on at once. Many ends of one commit may have very many.
        if followersShare.instant != now {
            followersShare = (now, limits.followersToldAtOnce)
        }
        followersShare.left = tellFollowers(atMost: followersShare.left)
    }

    /// Tells tasks that wait for others how those have ended.
    ///
    /// - Returns: how many more may be told.
    @discardableResult
    private mutating func tellFollowers(atMost countMax: Int) -> Int {
        var left = countMax
        let (free, broken) = scheduler.tellFollowers(&left)
        for one in free {
            guard let slot = table.slot(of: one), let run = table[run: one], run.phase.isWaiting
            else { continue }
            scheduler.requeue(slot, table[slot], run)
        }
        vain.add(broken)
        return left
    }

    /// Ends tasks that wait in vain, those first that have done so longest.
    ///
    /// - Parameter limit: at most so many.
    private mutating func endVainTasks(
        at now: Instant, limit: Int, _ actions: inout [Action]
    ) {
        var count = 0
        while count < limit, let id = vain.next(limits) {
            count += 1
            guard let slot = table.slot(of: id) else { continue }
            failIfBroken(slot, at: now, &actions)
        }
    }

    /// A queued task ends that comes after one which did not end as it was needed.
    private mutating func failIfBroken(
        _ slot: Int, at now: Instant, _ actions: inout [Action]
    ) {
        guard table.phase(slot)?.isWaiting == true,
            let broken = scheduler.brokenDependency(of: table[slot].id)
        else { return }
        vain.ends(table[slot].id)
        decideOutcome(
            slot, .failed, by: RunEvent.lost, reason: .predecessor(broken),
            mayBeTriedAgain: false, at: now, &actions)
    }

    // MARK: - Phases and ends

    /// Whether the end of a task is decided.
    private func isConcluded(_ slot: Int) -> Bool { table.phase(slot)?.isConcluded ?? false }

    /// Whether the processes of a task are being stopped.
    private func isStopping(_ slot: Int) -> Bool { table.phase(slot)?.isStopping ?? false }

    /// Has something happen to a run task: it takes its next phase, and its slot and its place in the queue follow.
    ///
    /// What cannot happen in its phase changes nothing, and leaves a fault.
    ///
    /// - Returns: whether that changed anything.
    @discardableResult
    private mutating func advance(
        _ slot: Int, on event: RunEvent, _ actions: inout [Action]
    ) -> Bool {
        let id = table[slot].id
        guard let run = table[run: id] else { return false }
        let before = run.phase
        switch before.next(on: event) {
        case .goes(let after):
            if before.isWaiting { scheduler.dequeue(slot) }
            if before.hasSlot, !after.hasSlot { scheduler.freeSlot(table[slot], run.queueing) }
            table.move(slot, to: after)
            if after.hasSlot, !before.hasSlot { scheduler.takeSlot(table[slot], run.queueing) }
            if after.isWaiting { scheduler.enqueue(slot, table[slot], run) }
            return true
        case .stays: return false
        case nil:
            actions.append(.fault(Fault("\(event)", state: "\(before)", of: id)))
            return false
        }
    }

    /// An event decides how a run task ends, or how this attempt of it does: its slot is free, and that is told once
    /// the disk has it.
    ///
    /// - Parameters:
    ///   - mayBeTriedAgain: whether another attempt may follow, as far as orders go.
    ///   - endedAt: where that was before now.
    private mutating func decideOutcome(
        _ slot: Int,
        _ outcome: Outcome,
        by event: (Conclusion) -> RunEvent,
        reason: Reason?,
        mayBeTriedAgain: Bool = true,
        endedAt: Instant? = nil,
        at now: Instant,
        _ actions: inout [Action]
    ) {
        let id = table[slot].id
        let endedAt = endedAt ?? now
        guard let run = table[run: id] else { return }
        // Who keeps nothing tries nothing again.
        let isRetried =
            mayBeTriedAgain && drain?.keepsQueue ?? true
            && !isSuperseded(table[slot], run.queueing)
        let conclusion = Conclusion(
            outcome: outcome, reason: reason, endedAt: endedAt, endedAtBoot: boot(at: endedAt),
            retryDelay: isRetried ? run.delayBeforeRetry(after: outcome) : nil,
            wasStuck: run.isStuck)
        guard advance(slot, on: event(conclusion), &actions) else { return }
        table[slot].stopClock(at: endedAt)
        applicationTaskEnded(table[slot], at: now)
        if outcome == .completed {
            // An interval counts from the last success of whatever task of that owner and name.
            scheduler.succeeded(OwnedName(table[slot]), at: conclusion.endedAtBoot)
        }
        if conclusion.retryDelay == nil {
            actions.append(.store(.ended(id)))
        } else {
            counts.attemptsEnded += 1
            actions.append(.store(.attemptEnded(id)))
        }
        startQueued(at: now, &actions)
    }

    /// Ends a run task for good whose end is decided.
    private mutating func publishDecidedEnd(
        _ slot: Int, at now: Instant, _ actions: inout [Action]
    ) {
        guard let run = table[run: table[slot].id], let conclusion = run.conclusion,
            advance(slot, on: .endRecorded, &actions)
        else { return }
        scheduler.unfollow(table[slot], run.queueing)
        publishEnd(
            slot, conclusion.outcome, reason: conclusion.reason, endedAt: conclusion.endedAt,
            at: now, &actions)
    }

    /// Ends a task for good: from here on it has its outcome, and no handler fires.
    ///
    /// - Parameter endedAt: where that was before now.
    private mutating func publishEnd(
        _ slot: Int,
        _ outcome: Outcome,
        reason: Reason?,
        endedAt: Instant? = nil,
        at now: Instant,
        _ actions: inout [Action]
    ) {
        table[slot].end(outcome, reason, at: endedAt ?? now)
        counts.count(outcome)
        if table[slot].hasApplication { applicationTaskEnded(table[slot], at: now) }
        let id = table[slot].id
        let isRun = table[slot].kind == .run
        let run = table.tombstone(at: slot)
        table.takeOut(slot)
        ended.take(&table[slot], run)
        table.free(slot)
        reports.forget(id)
        if !stopped.isEmpty { stopped.remove(id) }
        actions.append(.tell(.ended, id))
        if isRun {
            vain.ended(id)
            freeFollowers(of: id, outcome, at: now)
        }
        if table.queuedCount > 0 { startQueued(at: now, &actions) }
    }

    // MARK: - Applications

    /// The application of these tasks went to the front, left it, or is not known any more.
    mutating func clockChanged(
        of tasks: some Sequence<TaskID>, to clock: ApplicationClock?, at now: Instant,
        _ actions: inout [Action]
    ) {
        var freesSlots = false
        for id in tasks {
            guard let slot = table.slot(of: id), table[slot].isLive,
                table.phase(slot)?.isUnderWay ?? true
            else { continue }
            // While the daemon stops, coming to the front saves no task.
            let isDormant = clock == .foreground && drain == nil
            let isChanged =
                isDormant ? table[slot].becomeDormant(at: now) : table[slot].resume(at: now)
            if isChanged || !isDormant { updateDeadlines(slot) }
            if isChanged { actions.append(.tell(isDormant ? .dormant : .resumed, id)) }
            if followSlot(slot) { freesSlots = true }
        }
        if freesSlots { startQueued(at: now, &actions) }
    }

    /// An application went to the front, left it, or is not known any more (`nil`: its tasks have
    /// their own budgets alone). While the registry drains, coming to the front saves no task.
    package mutating func applicationMoved(
        _ key: ApplicationKey,
        to clock: ApplicationClock?,
        at now: Instant,
        _ actions: inout [Action]
    ) {
        applicationClocks[key] = clock
        clockChanged(of: applications.tasks(of: key), to: clock, at: now, &actions)
    }

    /// What its application's place means for a task; most have none.
    ///
    /// It is mutating, though it changes nothing: others are called on a copy of the registry's thousand bytes,
    /// and this one is called whenever a task begins.
    mutating func applicationClock(of task: BackgroundTask) -> ApplicationClock? {
        guard !applicationClocks.isEmpty, let key = ApplicationKey(task) else { return nil }
        return applicationClocks[key]
    }

    /// Refuses a begin whose handler nobody could obey (rule 13 in docs/architecture.md).
    mutating func checkBackgroundTime(
        application: String?, owner: OwnerID, at now: Instant
    ) throws(Refusal) {
        guard !applicationClocks.isEmpty, let application else { return }
        try checkBackgroundTime(ApplicationKey(owner: owner, id: application), at: now)
    }

    private func checkBackgroundTime(_ key: ApplicationKey, at now: Instant) throws(Refusal) {
        switch applicationClocks[key] {
        case .background(let until, let grace):
            guard until - now >= grace else {
                throw .tooLittleTime(remaining: max(until - now, .zero), needed: grace)
            }
        case .suspended: throw .tooLittleTime(remaining: .zero, needed: grace(of: key, at: now))
        case .foreground, nil: return
        }
    }

    private func applicationTurn(at now: Instant) -> ApplicationTurn {
        ApplicationTurn(
            at: now, boot: boot(at: now), isDraining: isDraining,
            leavesLaunched: drain?.leavesCommands == true, storeFault: storeFault,
            limits: limits, profiles: profiles)
    }

    /// Has the applications handle an event, and carries out what follows from it, also from one that is refused.
    private mutating func handle<Result, Failure: Error>(
        at now: Instant, _ actions: inout [Action],
        _ event: (
            inout ApplicationMachine, borrowing TaskTable, inout ApplicationTurn
        ) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var turn = applicationTurn(at: now)
        let result: Swift.Result<Result, Failure>
        do throws(Failure) {
            result = .success(try event(&applications, table, &turn))
        } catch {
            result = .failure(error)
        }
        for (key, effect) in turn.effects {
            switch effect {
            case .order(let order): actions.append(.application(key, order))
            case .save: actions.append(.store(.applicationSaved(key)))
            case .forget: actions.append(.store(.applicationForgotten(key)))
            case .clockChanged(let clock):
                applicationMoved(key, to: clock, at: now, &actions)
            case .performance(let task, let news): took(news, of: task, at: now, &actions)
            }
        }
        return try result.get()
    }

    /// The same of an event that comes without a time, since nothing of what follows depends on it.
    private mutating func handle<Result, Failure: Error>(
        _ actions: inout [Action],
        _ event: (
            inout ApplicationMachine, borrowing TaskTable, inout ApplicationTurn
        ) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try handle(at: .never, &actions, event)
    }

    // MARK: - Applications: what is known

    package var applicationRules: ApplicationRules {
        get { applications.rules }
        set { applications.setRules(newValue) }
    }

    /// The application, where the caller may see it.
    package func application(_ key: ApplicationKey) throws(Refusal) -> ManagedApplication {
        try applications.known(key)
    }

    /// The applications of an owner, or all, sorted by owner and id.
    package func applications(of owner: OwnerID?) -> [ManagedApplication] {
        applications.known(of: owner)
    }

    /// The keys of those, in the same order.
    package func applicationKeys(of owner: OwnerID?) -> [ApplicationKey] {
        applications.known(of: owner).map(\.key)
    }

    /// The spans of time that go on, of the applications of an owner, or of all.
    package func presentSpans(of owner: OwnerID?) -> [ApplicationSpan] {
        applications.presentSpans(of: owner)
    }

    /// The highest number that a span has had.
    package var spanNumberLast: UInt64 { applications.spanNumberLast }

    /// The spans that have begun or ended since this was last called, for the disk; called at the end of a turn.
    package mutating func takeSpans() -> [ApplicationSpan] { applications.takeSpans() }

    /// How many tasks of an application are live.
    package func taskCount(of key: ApplicationKey) -> Int { applications.taskCount(of: key) }

    /// Applications that run, or are being started.
    package var runningApplicationCount: Int { applications.runningCount }

    /// Those of them that a stop has to wait for: without what goes on for the next daemon.
    package var awaitedApplicationCount: Int {
        drain?.leavesCommands == true ? applications.adoptedCount : applications.runningCount
    }

    /// The launched applications that run, by the numbers of their runs.
    package var launchedApplications: [UInt64: ApplicationKey] {
        let launched = applications.keys.compactMap { key in
            applications[key]?.record.run.map { ($0, key) }
        }
        return Dictionary(launched) { one, _ in one }
    }

    /// What is to be on disk of an application.
    package func applicationRecord(_ key: ApplicationKey) -> ApplicationRecord? {
        applications[key]?.record
    }

    package func isSuspended(_ key: ApplicationKey) -> Bool {
        applications[key]?.run?.phase == .frozen
    }

    package var suspendedApplicationCount: Int { applications.frozenCount }

    /// Whether memory pressure would find an application to warn or to end.
    package var looksAtMemory: Bool { applications.runningCount > 0 }

    /// Names the rule and the number that hold an application where it is, what is not enforced, and why it was
    /// last stopped (rule 28 in docs/architecture.md).
    package func explain(
        _ key: ApplicationKey, at now: Instant
    ) throws(Refusal) -> [Explanation] {
        try applications.explain(key, applicationTurn(at: now))
    }

    // MARK: - Applications: what others ask for

    /// Takes new rules; what is enforced from now on is done at once.
    package mutating func replaceApplicationRules(_ rules: ApplicationRules, at now: Instant) {
        applications.replaceRules(rules, applicationTurn(at: now))
    }

    /// Makes an application known, or gives it other settings.
    ///
    /// - Parameter number: of the call, which is answered when the disk has it.
    package mutating func register(
        _ key: ApplicationKey, _ registration: Registration, number: UInt64, at now: Instant,
        _ actions: inout [Action]
    ) throws(Refusal) {
        try handle(at: now, &actions) { machine, _, turn throws(Refusal) in
            try machine.register(key, registration, number: number, &turn)
        }
    }

    /// The application says which callbacks it implements; `nil`: all.
    ///
    /// - Returns: whether the call waits for the disk.
    package mutating func setHandles(
        _ key: ApplicationKey, _ handles: Callbacks?, number: UInt64, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        try handle(&actions) { machine, _, turn throws(Refusal) in
            try machine.setHandles(key, handles, number: number, &turn)
        }
    }

    /// Forgets an application that does not run; the call is answered when the disk has it.
    package mutating func unregister(
        _ key: ApplicationKey, number: UInt64, _ actions: inout [Action]
    ) throws(Refusal) {
        try handle(&actions) { machine, _, turn throws(Refusal) in
            try machine.unregister(key, number: number, &turn)
        }
    }

    /// Starts the command of an application, which comes to the front.
    ///
    /// - Returns: whether the call waits for it; else it is done.
    package mutating func launch(
        _ key: ApplicationKey, number: UInt64, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        try handle(at: now, &actions) { machine, _, turn throws(Refusal) in
            try machine.launch(key, number: number, &turn)
        }
    }

    /// Brings an application to the front; it is started or thawed where it has to be.
    ///
    /// - Returns: whether the call waits for it; else it is done.
    package mutating func activate(
        _ key: ApplicationKey, number: UInt64, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        try handle(at: now, &actions) { machine, _, turn throws(Refusal) in
            try machine.activate(key, number: number, &turn)
        }
    }

    /// Lays something over an application in front: it gets no events, and no budget runs.
    package mutating func resign(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) {
        try handle(at: now, &actions) { machine, _, turn throws(Refusal) in
            try machine.resign(key, &turn)
        }
    }

    /// Sends an application away from the front.
    package mutating func enterBackground(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) {
        try handle(at: now, &actions) { machine, _, turn throws(Refusal) in
            try machine.enterBackground(key, &turn)
        }
    }

    /// Ends an application by order.
    ///
    /// - Returns: whether the call waits for its end.
    package mutating func terminate(
        _ key: ApplicationKey, number: UInt64, at now: Instant, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        try handle(at: now, &actions) { machine, tasks, turn throws(Refusal) in
            try machine.terminate(key, number: number, tasks, &turn)
        }
    }

    /// Refuses an adoption that cannot be; asked before the processes are looked at, and again after it.
    package func checkAdoption(_ key: ApplicationKey) throws(Refusal) {
        try applications.checkAdoption(key, applicationTurn(at: .never))
    }

    /// Processes that run already become an application, which comes to the front when the disk knows the
    /// units that they live in.
    ///
    /// - Parameter number: of the call, which is answered then.
    package mutating func adopt(
        _ key: ApplicationKey, units: [AdoptedUnit], number: UInt64, _ actions: inout [Action]
    ) throws(Refusal) {
        try handle(&actions) { machine, _, turn throws(Refusal) in
            try machine.adopt(key, units: units, number: number, &turn)
        }
    }

    /// The call that was given this number is not waited for any more.
    package mutating func forgetWaiter(_ number: UInt64, of key: ApplicationKey) {
        applications.forgetWaiter(number, of: key)
    }

    /// Routes a message.
    ///
    /// - Parameters:
    ///   - badge: the new badge, whatever becomes of the message.
    ///   - number: of the call, for an answer that waits.
    package mutating func push(
        _ key: ApplicationKey, _ message: PushMessage, badge: Int?, number: UInt64, at now: Instant,
        _ actions: inout [Action]
    ) throws(Refusal) -> MessageReceipt {
        try handle(at: now, &actions) { machine, _, turn throws(Refusal) in
            try machine.push(key, message, badge: badge, number: number, &turn)
        }
    }

    /// The application has finished with a message.
    package mutating func delivered(
        _ key: ApplicationKey, _ id: UInt64, isSuccess: Bool = true, at now: Instant,
        _ actions: inout [Action]
    ) throws(Refusal) {
        try handle(at: now, &actions) { machine, _, turn throws(Refusal) in
            try machine.delivered(key, id, isSuccess: isSuccess, &turn)
        }
    }

    /// Sets the badge of an application.
    ///
    /// - Returns: whether the call waits for the disk.
    package mutating func setBadge(
        _ key: ApplicationKey, _ badge: Int, number: UInt64, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        try handle(&actions) { machine, _, turn throws(Refusal) in
            try machine.setBadge(key, badge, number: number, &turn)
        }
    }

    /// Memory is short: applications that are awake are told, and suspended ones are killed, the least recently
    /// used first.
    ///
    /// - Parameters:
    ///   - owner: whose applications; `nil`: everybody's.
    ///   - count: at most so many.
    /// - Returns: those that are being killed.
    package mutating func memoryPressure(
        on owner: OwnerID?, count: Int, at now: Instant, _ actions: inout [Action]
    ) -> [ApplicationKey] {
        let killed = handle(at: now, &actions) { machine, tasks, turn in
            machine.memoryPressure(on: owner, count: count, tasks, &turn)
        }
        counts.memoryPressureKills += killed.count
        return killed
    }

    // MARK: - Applications: what the shell reports

    /// The command of an application runs.
    package mutating func applicationStarted(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, _, turn in machine.started(key, &turn) }
    }

    /// The command of an application could not be started, which is told when the disk knows that it does not
    /// run.
    package mutating func applicationNotStarted(
        _ key: ApplicationKey, _ reason: String, at now: Instant, _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, tasks, turn in
            machine.notStarted(key, reason, tasks, &turn)
        }
    }

    /// All processes are frozen: the kernel has said so.
    package mutating func applicationFrozen(
        _ key: ApplicationKey, _ number: UInt64, at now: Instant, _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, _, turn in machine.frozen(key, number, &turn) }
    }

    /// They could not all be frozen, and none is; it is tried again.
    package mutating func applicationNotFrozen(
        _ key: ApplicationKey, _ number: UInt64, _ reason: String, at now: Instant,
        _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, _, turn in
            machine.notFrozen(key, number, reason, &turn)
        }
    }

    /// None of its processes is frozen.
    package mutating func applicationThawed(
        _ key: ApplicationKey, _ number: UInt64, at now: Instant, _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, tasks, turn in
            machine.thawed(key, number, tasks, &turn)
        }
    }

    /// Somebody else has thawed a suspended application: it is in the background again for a while.
    package mutating func applicationThawedByOthers(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, _, turn in machine.thawedByOthers(key, &turn) }
    }

    /// Its processes could not be thawed: whoever waits for that is told.
    package mutating func applicationNotThawed(
        _ key: ApplicationKey, _ number: UInt64, _ reason: String, at now: Instant,
        _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, tasks, turn in
            machine.notThawed(key, number, reason, tasks, &turn)
        }
    }

    /// The main process of an application has ended: what remains of it is killed.
    package mutating func applicationExited(
        _ key: ApplicationKey, _ exit: ProcessExit, at now: Instant, _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, tasks, turn in
            machine.exited(key, exit, tasks, &turn)
        }
    }

    /// Nothing of an application is left, which is told when the disk knows how it ended.
    ///
    /// - Parameter moment: when that was; `nil` for now.
    package mutating func applicationGone(
        _ key: ApplicationKey, moment: Instant? = nil, at now: Instant, _ actions: inout [Action]
    ) {
        let end = moment.map { boot(at: min($0, now)) }
        handle(at: now, &actions) { machine, tasks, turn in
            machine.gone(key, at: end, tasks, &turn)
        }
    }

    // MARK: - Applications whose commands another program runs

    /// The program that runs its command has told it to end, and kills it after its grace.
    ///
    /// - Parameter moment: when that was; `nil` for now.
    package mutating func applicationStopped(
        _ key: ApplicationKey, moment: Instant?, at now: Instant, _ actions: inout [Action]
    ) {
        let moment = min(moment ?? now, now)
        handle(at: now, &actions) { machine, tasks, turn in
            machine.stopped(key, at: moment, tasks, &turn)
        }
    }

    /// The program that ran its command is gone, and has taken it along.
    package mutating func applicationLost(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, tasks, turn in machine.lost(key, tasks, &turn) }
    }

    /// What that program is told of a launched application; `nil` where it does not run.
    package func applicationTimes(of key: ApplicationKey) -> ApplicationTimes? {
        applications.times(of: key)
    }

    /// How long an application is told before its end.
    package func applicationGrace(of key: ApplicationKey) -> Duration {
        grace(of: key, at: Instant(nanoseconds: 0))
    }

    /// The launched applications of which it may have to be told something else since this was last called.
    package mutating func takeChangedApplications() -> [ApplicationKey] {
        applications.takeChanged()
    }

    /// The runs of launched applications of whose end the disk knows since this was last called.
    package mutating func takeRecordedRuns() -> [UInt64] { applications.takeRecordedRuns() }

    /// Takes over what an earlier daemon knew: what ran then was interrupted, but for launched applications that go
    /// on. What has come about with those is told then, before `deadlineReached` is called.
    ///
    /// Called once, before anything begins, when everything that daemon had frozen is thawed.
    ///
    /// - Parameters:
    ///   - running: what the program that runs commands has of launched ones, by the numbers of their runs.
    ///   - spans: what that daemon wrote of spans that went on.
    ///   - frozen: units that could not be thawed yet; they stay on disk for the daemon after this one.
    package mutating func restore(
        applications found: [(key: ApplicationKey, record: ApplicationRecord)],
        running: [UInt64: FoundApplication] = [:], spans: RestoredSpans = .none,
        frozen: Set<AdoptedUnit>, at now: Instant, _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, _, turn in
            machine.restore(spans)
            machine.restore(
                found, running: running, frozen: frozen, seenAt: spans.seenAt, &turn)
            machine.endUnknownSpans(seenAt: spans.seenAt, turn)
        }
    }

    // MARK: - Applications: what the disk answers

    /// The oldest write of an application is on disk, or is refused by it.
    mutating func applicationStored(
        _ key: ApplicationKey, _ refusal: Refusal?, at now: Instant, _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, _, turn in machine.stored(key, refusal, &turn) }
    }

    /// The order to forget an application is on disk, or is refused by it.
    mutating func forgettingStored(
        _ key: ApplicationKey, _ refusal: Refusal?, at now: Instant, _ actions: inout [Action]
    ) {
        handle(at: now, &actions) { machine, _, turn in
            machine.forgettingStored(key, refusal, &turn)
        }
    }

    /// The disk takes writes again.
    mutating func saveApplicationsAgain(_ actions: inout [Action]) {
        handle(&actions) { machine, _, turn in machine.saveAgain(&turn) }
    }

    // MARK: - Applications: what the tasks tell

    /// A task has begun: its application is not frozen under it.
    mutating func applicationTaskBegan(
        _ task: BackgroundTask, at now: Instant, _ actions: inout [Action]
    ) {
        guard let key = ApplicationKey(task) else { return }
        handle(at: now, &actions) { machine, _, turn in machine.taskBegan(task.id, of: key, &turn) }
    }

    /// A task has ended: its application is suspended promptly after the last one. One that never began, or
    /// whose end was told of before, changes nothing.
    mutating func applicationTaskEnded(_ task: BackgroundTask, at now: Instant) {
        guard let key = ApplicationKey(task) else { return }
        let abandoned = task.outcome == .abandoned ? HeldTask(task, at: now) : nil
        applications.taskEnded(task.id, of: key, abandoned: abandoned, applicationTurn(at: now))
    }

    /// The handlers of its tasks fire: it is told as well, once.
    mutating func tellBackgroundTimeExpiring(
        _ task: BackgroundTask, at now: Instant, _ actions: inout [Action]
    ) {
        guard let key = ApplicationKey(task) else { return }
        handle(at: now, &actions) { machine, _, turn in
            machine.backgroundTimeExpires(key, &turn)
        }
    }

    /// A task is still there at its hard limit; where that is the end of the background time, its application
    /// has overrun.
    mutating func backgroundTimeIsOver(
        _ task: BackgroundTask, at now: Instant, _ actions: inout [Action]
    ) {
        guard let key = ApplicationKey(task) else { return }
        handle(at: now, &actions) { machine, tasks, turn in
            machine.taskOverran(hardAt: task.hardAt, of: key, tasks, &turn)
        }
    }

    /// Does what is due for applications, the earliest first.
    ///
    /// - Returns: how many there were, at most `limit`.
    mutating func applicationsDue(
        at now: Instant, limit: Int, _ actions: inout [Action]
    ) -> Int {
        let (deadline, wake) = (applications.nextDeadline, applications.nextWake)
        guard deadline ?? .never <= now || wake ?? .never <= boot(at: now) else { return 0 }
        var handled = 0
        while handled < limit, settleApplication(at: now, &actions) { handled += 1 }
        while handled < limit, deliverMessage(at: now, &actions) { handled += 1 }
        return handled
    }

    private mutating func settleApplication(
        at now: Instant, _ actions: inout [Action]
    ) -> Bool {
        handle(at: now, &actions) { machine, tasks, turn in machine.settleNext(tasks, &turn) }
    }

    private mutating func deliverMessage(at now: Instant, _ actions: inout [Action]) -> Bool {
        handle(at: now, &actions) { machine, _, turn in machine.deliverNext(&turn) }
    }

    /// Ends what was launched, and lets adopted applications go on thawed.
    mutating func drainApplications(at now: Instant, _ actions: inout [Action]) {
        handle(at: now, &actions) { machine, tasks, turn in machine.drain(tasks, &turn) }
    }

    /// Kills what a drain has not ended yet.
    mutating func endApplicationGrace(at now: Instant, _ actions: inout [Action]) {
        handle(at: now, &actions) { machine, tasks, turn in machine.endGrace(tasks, &turn) }
    }

    /// How long an application is told before its end.
    func grace(of key: ApplicationKey, at now: Instant) -> Duration {
        applications.grace(of: key, applicationTurn(at: now))
    }

    // MARK: - For tests

    /// How much is kept, which nothing but a test asks.
    package var footprint: Footprint {
        Footprint(
            taskCount: table.count, slotCount: table.slotCount, ownerCount: table.ownerCount,
            deadlineCount: table.deadlineCount, arrivingCount: table.arrivingCount,
            endedCount: ended.count, isQueueForgotten: scheduler.isForgotten && vain.isEmpty,
            nameCounts: scheduler.nameCounts, occupantIDs: scheduler.occupantIDs,
            owesNothing: durability.owesNothing)
    }

    package struct Footprint {
        package let taskCount: Int
        /// Places for tasks, those included that are vacant.
        package let slotCount: Int
        package let ownerCount: Int
        /// `nil` where one is not where it is known to be.
        package let deadlineCount: Int?
        package let arrivingCount: Int
        package let endedCount: Int
        /// Whether the queue keeps nothing of tasks that have ended, but the last successes of their names.
        package let isQueueForgotten: Bool
        package let nameCounts: (followed: Int, remembered: Int)
        /// Commands that have a slot, or had one and have not ended.
        package let occupantIDs: Set<TaskID>
        /// Whether the disk knows everything that it was told.
        package let owesNothing: Bool
    }
}
