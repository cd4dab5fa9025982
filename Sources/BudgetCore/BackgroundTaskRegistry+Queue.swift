// Who starts, and when.

extension BackgroundTaskRegistry {
    /// Tasks of the queue that go on in one go when their time has come.
    private static let wakesAtOnce = 512

    /// When `deadlineReached` is due next for the queue, on the clock that goes on while the machine
    /// sleeps; `nil` while nothing there waits for a time.
    package var nextQueueDeadline: BootInstant? {
        let next = [applications.nextWake, table.queue.nextWake, shortageEndsAt]
        return next.compactMap { $0 }.min()
    }

    /// Conditions that tasks of the queue wait for, whose own time has come.
    package var wantedConditions: Conditions { table.queue.wantedConditions }

    /// The same moment on the clock that goes on while the machine sleeps.
    package func boot(at now: Instant) -> BootInstant {
        BootInstant(nanoseconds: (now + asleep).nanoseconds)
    }

    /// Starts queued tasks while slots are free.
    mutating func startQueued(
        at now: Instant, wakesMax: Int? = nil, _ actions: inout [Action]
    ) {
        guard table.queuedCount > 0 else { return }
        // Once an instant: what is left over has its turn with the deadlines.
        if wakesMax != nil || table.queue.clock < boot(at: now) {
            let limit = wakesMax ?? BackgroundTaskRegistry.wakesAtOnce
            table.queue.wake(through: boot(at: now), limit: limit)
        }
        guard storeHold == nil, drainHold == nil, shortageHold == nil else { return }
        while slotsHold == nil, let slot = nextToStart() {
            advance(slot, on: .slotTaken)
            actions.append(.store(.started(table[slot].id)))
        }
    }

    private func nextToStart() -> Int? {
        table.queue.next { owner, runningCount in
            runningCount < limits.slotsMax(of: table.queue.payer(of: owner))
                && ownerHold(owner) == nil
        } where: {
            gateHold($0) == nil
        }
    }

    /// When the pause is over that the machine needs; `nil` where nobody waits for that.
    private var shortageEndsAt: BootInstant? {
        guard table.queuedCount > 0 else { return nil }
        return shortageHold?.until
    }

    /// Whether a submission starts at once. Those that waited before it have taken the slots that are free, or may
    /// not start; those that came before it and are not on disk yet have not had their turn.
    func mayStartAtOnce(_ submission: Submission, at now: Instant) -> Bool {
        let (owner, queueing) = (submission.owner, submission.queueing)
        guard table.arrivingCount == 0, !queueing.isByName, queueing.wait == nil
        else { return false }
        let gate = TaskQueue.Gate(queueing)
        let isShort = shortage.present.map { $0.until > boot(at: now) } ?? false
        return storeHold == nil && drainHold == nil && !isShort && slotsHold == nil
            && shareHold(owner) == nil && ownerHold(owner) == nil
            && gateHold(gate) == nil
    }

    /// Gives a task a slot; it begins once the disk knows.
    mutating func takeSlot(_ slot: Int) {
        let task = table[slot]
        guard let queueing = table[run: task.id]?.queueing, holders.insert(task.id) else { return }
        table.queue.countRunning(task, queueing, 1)
        table.queue.countSlot(task, queueing, 1)
    }

    /// Takes the slot of a task back, where it has one, and what it has of its owner's share.
    mutating func freeSlot(_ slot: Int) {
        let task = table[slot]
        guard let hadSlot = holders.remove(task.id), let queueing = table[run: task.id]?.queueing
        else { return }
        table.queue.countRunning(task, queueing, -1)
        if hadSlot { table.queue.countSlot(task, queueing, -1) }
    }

    /// Lets a command that begins, becomes dormant or stuck, or goes on, have a slot or not. It gets one back though
    /// none may be free: then nothing else starts until there are as many as before.
    ///
    /// - Returns: whether a slot is free by it.
    mutating func followSlot(_ slot: Int) -> Bool {
        let task = table[slot]
        guard let run = table[run: task.id] else { return false }
        let isAside = task.state == .dormant || run.isStuck
        guard holders.setAside(task.id, isAside) else { return false }
        table.queue.countSlot(task, run.queueing, isAside ? -1 : 1)
        return isAside
    }

    /// Follows the name of a task that others of its name can hold back.
    mutating func trackName(_ slot: Int) {
        guard let queueing = table[run: table[slot].id]?.queueing, queueing.isByName else { return }
        let task = table[slot]
        let name = OwnedName(task)
        guard let line = LineKey(name, queueing) else { return }
        let isTracked = table.queue.isTracked(name)
        table.queue.track(
            line, unique: line.isUnique ? task.id : nil,
            live: isTracked ? [] : liveTasks(of: name))
        if !isTracked { noteUnstoredSuccesses(of: name) }
    }

    /// The disk cannot tell of them.
    private mutating func noteUnstoredSuccesses(of name: OwnedName) {
        for end in unstoredEnds.values
        where end.task.owner == name.owner && end.task.name == name.name {
            guard let conclusion = end.run?.conclusion, conclusion.outcome == .completed
            else { continue }
            table.queue.succeeded(name, at: conclusion.endedAtBoot)
        }
    }

    /// For each task of a name that has a slot, whether it is unique.
    private func liveTasks(of name: OwnedName) -> [Bool] {
        holders.ids.compactMap { id in
            guard let slot = table.slot(of: id), table[slot].owner == name.owner,
                table[slot].name == name.name
            else { return nil }
            return table[run: id]?.queueing.unique != nil
        }
    }

    /// The kernel says something else about the machine.
    package mutating func conditionsChanged(
        to conditions: Conditions, at now: Instant, _ actions: inout [Action]
    ) {
        self.conditions = conditions
        startQueued(at: now, &actions)
    }

    // MARK: - Groups

    /// What there is of the groups that are set, by name, with the tasks that a caller may know of.
    package func groups(
        for caller: Caller
    ) -> [(name: String, slots: Int, isPaused: Bool, use: GroupUse)] {
        limits.groupSlots.sorted { $0.key < $1.key }.map { name, slots in
            let use = table.queue.use(of: name, by: caller.seesAll ? nil : caller.owner)
            return (name, slots, pausedGroups.contains(name), use)
        }
    }

    /// Takes an order to hold back, or to let go, what is queued in a group. Once it is on disk it is done,
    /// and answered by `Action.answerGroup`.
    ///
    /// - Returns: whether there is something to do; else it is so already.
    package mutating func setPaused(
        _ group: String, _ isPaused: Bool, _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        // A group that has left the settings stays paused until it is let go.
        guard limits.groupSlots[group] != nil || !isPaused && pausedGroups.contains(group) else {
            throw .noSuchGroup(group)
        }
        if let storeFault { throw .notAccepting(storeFault) }
        let present = orderedPauses[group]?.last ?? pausedGroups.contains(group)
        guard present != isPaused || orderedPauses[group] != nil else { return false }
        orderedPauses[group, default: []].append(isPaused)
        actions.append(.store(.groupPaused(group, isPaused)))
        return true
    }

    /// An order about a group is on disk, or is not.
    mutating func pauseStored(
        _ group: String, _ isPaused: Bool, _ refusal: Refusal?, at now: Instant,
        _ actions: inout [Action]
    ) {
        orderedPauses[group]?.removeFirst()
        if orderedPauses[group]?.isEmpty == true { orderedPauses[group] = nil }
        actions.append(.answerGroup(group, refusal))
        guard refusal == nil else { return }
        if isPaused { pausedGroups.insert(group) } else { pausedGroups.remove(group) }
        startQueued(at: now, &actions)
    }

    /// Takes over which groups an earlier daemon held back. Called before the tasks are restored.
    package mutating func restore(pausedGroups: [String]) {
        self.pausedGroups = Set(pausedGroups)
    }
}
