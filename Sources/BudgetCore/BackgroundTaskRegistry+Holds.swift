// The rules that hold queued tasks back, each in one place.

extension BackgroundTaskRegistry {
    /// Every rule that holds a queued task back now; the one that it is said to wait for in front.
    func holds(on slot: Int) -> [Hold] {
        let task = table[slot]
        guard let run = table[run: task.id] else { return [] }
        let gate = TaskQueue.Gate(run.queueing)
        guard run.phase.tally != .live else { return [storeHold ?? .starting] }
        var result = [storeHold, drainHold, shortageHold, pauseHold(gate), timeHold(run)]
            .compactMap { $0 }
        result += conditionHolds(gate)
        result += [
            nameHold(task, run), ownerHold(task.owner), ownShareHold(task.owner),
            groupSlotsHold(gate), slotsHold,
        ].compactMap { $0 }
        return result.isEmpty ? [.starting] : result
    }

    /// The rule that holds a queued task back first; `nil` where it is not queued.
    package func firstHold(on id: TaskID) -> Hold? {
        guard let slot = table.slot(of: id), table[slot].state == .queued else { return nil }
        return holds(on: slot).first
    }

    /// How long a queued task is held back at least by rules of time; `nil` where none of them says how
    /// long.
    package func notBefore(_ id: TaskID, at now: Instant) -> Duration? {
        guard let slot = table.slot(of: id), table[slot].state == .queued else { return nil }
        let until = holds(on: slot).compactMap(\.until).max()
        return until.map { max($0 - boot(at: now), .zero) }
    }

    /// Whether a rule of time holds a queued task back, so that its submitter gets a receipt.
    package func isDeferred(_ id: TaskID) -> Bool {
        guard let slot = table.slot(of: id), table[slot].state == .queued,
            let run = table[run: id], run.phase.tally != .live
        else { return false }
        return timeHold(run) != nil || nameHold(table[slot], run)?.defers == true
    }

    var storeHold: Hold? { storeFault.map(Hold.store) }

    var drainHold: Hold? { isDraining ? .shutdown : nil }

    var slotsHold: Hold? { holders.slotsTaken < limits.slots ? nil : .slots(limits.slots) }

    /// The machine had no room, and is left alone for a while.
    var shortageHold: Hold? {
        guard let (reason, until) = shortage.present, until > table.queue.clock else { return nil }
        return .shortage(reason, until: until)
    }

    func shareHold(_ owner: OwnerID) -> Hold? {
        let max = limits.slotsMax(of: table.queue.payer(of: owner))
        return table.queue.runningCount(of: owner) < max ? nil : .slotsPerOwnerMax(max)
    }

    /// The same to be told: where the share is all slots, and they are taken, that says it already.
    private func ownShareHold(_ owner: OwnerID) -> Hold? {
        if slotsHold != nil, limits.slotsMax(of: table.queue.payer(of: owner)) >= limits.slots {
            return nil
        }
        return shareHold(owner)
    }

    func ownerHold(_ owner: OwnerID) -> Hold? {
        let max = limits.tasksPerOwnerMax
        return liveCount(of: owner) < max ? nil : .tasksPerOwnerMax(max)
    }

    /// What holds back all tasks behind a gate.
    func gateHold(_ gate: TaskQueue.Gate) -> Hold? {
        pauseHold(gate) ?? conditionHolds(gate).first ?? groupSlotsHold(gate)
    }

    private func pauseHold(_ gate: TaskQueue.Gate) -> Hold? {
        guard let group = gate.group, pausedGroups.contains(group) else { return nil }
        return .paused(group: group)
    }

    /// A group that is not set any more has no limit of its own.
    private func groupSlotsHold(_ gate: TaskQueue.Gate) -> Hold? {
        guard let group = gate.group, let slots = limits.groupSlots[group],
            table.queue.groups[group]?.runningCount ?? 0 >= slots
        else { return nil }
        return .groupSlots(slots, group: group)
    }

    private func conditionHolds(_ gate: TaskQueue.Gate) -> [Hold] {
        let missing = gate.conditions.subtracting(conditions)
        guard !missing.isEmpty else { return [] }
        return [Hold.network, .externalPower, .idle].filter { hold in
            hold.condition.map { missing.contains($0) } ?? false
        }
    }

    private func timeHold(_ run: RunTask) -> Hold? {
        guard run.notBefore > table.queue.clock else { return nil }
        if let postponed = run.postponed {
            return .postponed(postponed.reason, until: run.notBefore, count: postponed.count)
        }
        guard run.attempt > 1 else { return .earliestBegin(until: run.notBefore) }
        return .retry(until: run.notBefore, attempt: run.attempt)
    }

    private func nameHold(_ task: BackgroundTask, _ run: RunTask) -> Hold? {
        LineKey(OwnedName(task), run.queueing).flatMap(table.queue.hold)
    }
}
