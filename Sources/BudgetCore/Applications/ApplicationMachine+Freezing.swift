// How applications are frozen and thawed, as the shell reports it.
extension ApplicationMachine {
    private func isFreezing(_ key: ApplicationKey, _ number: UInt64) -> Bool {
        self[key]?.run?.phase == .freezing(number)
    }

    /// All processes are frozen: the kernel has said so.
    mutating func frozen(
        _ key: ApplicationKey, _ number: UInt64, _ turn: inout ApplicationTurn
    ) {
        guard isFreezing(key, number) else { return }
        update(key) { $0.run?.wasFrozen() }
        move(key, on: .frozen, &turn)
        turn.changeClock(key, to: .suspended)
    }

    /// They could not all be frozen, and none is; it is tried again.
    mutating func notFrozen(
        _ key: ApplicationKey, _ number: UInt64, _ reason: String, _ turn: inout ApplicationTurn
    ) {
        guard isFreezing(key, number) else { return }
        noteFreezeFailure(key, reason, &turn)
        update(key) { $0.run?.wasNotFrozen() }
        planSuspension(key, promptly: true, turn)
    }

    /// A freeze was not confirmed in its time: it is undone, and tried again.
    mutating func giveUpFreeze(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        let limit = ApplicationRun.freezeLimit.components.seconds
        noteFreezeFailure(key, "not all of it was frozen within \(limit) s", &turn)
        thaw(key, &turn)
    }

    private mutating func noteFreezeFailure(
        _ key: ApplicationKey, _ reason: String, _ turn: inout ApplicationTurn
    ) {
        var isNew = false
        update(key) { isNew = $0.run?.noteFreezeFailure(reason) ?? false }
        if isNew { turn.note(key, .notFrozen(reason)) }
    }

    /// None of its processes is frozen.
    mutating func thawed(
        _ key: ApplicationKey, _ number: UInt64,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard let run = self[key]?.run, run.phase == .thawing(number) else { return }
        if turn.isDraining, run.isAdopted { return release(key, tasks, &turn) }
        update(key) { $0.run?.wasThawed() }
        if run.comesToFront {
            comeToFront(key, on: .activated, &turn)
        } else {
            stayAwake(key, &turn)
        }
    }

    /// Somebody else has thawed a suspended application: it is in the background again for a while.
    mutating func thawedByOthers(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        guard let run = self[key]?.run, run.phase == .frozen, !(turn.isDraining && run.isAdopted)
        else { return }
        update(key) { $0.run?.runs() }
        stayAwake(key, &turn)
    }

    /// Its processes could not be thawed: whoever waits for that is told.
    mutating func notThawed(
        _ key: ApplicationKey, _ number: UInt64, _ reason: String,
        _ tasks: borrowing some HeldTaskSource & ~Copyable, _ turn: inout ApplicationTurn
    ) {
        guard let application = self[key], let run = application.run,
            run.phase == .thawing(number)
        else { return }
        if run.thawFailure != reason { turn.note(key, .notThawed(reason)) }
        if turn.isDraining, run.isAdopted {
            return release(key, stillFrozen: true, tasks, &turn)
        }
        let lost = run.messages.pendingCount
        if lost > 0 { turn.note(key, .messagesDropped(lost)) }
        let isSuspended = application.state == .suspended
        update(key) { $0.run?.wasNotThawed(reason, isSuspended: isSuspended, at: turn.now) }
        if isSuspended { dropUntold(key, reason, &turn) }
        answerWaiters(key, .notAccepting(reason), &turn) { $0 != .gone }
    }

    /// Thaws it, and once more where no answer comes.
    mutating func thaw(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        let number = nextNumber()
        update(key) { $0.run?.thaws(number, at: turn.now) }
        turn.order(key, .thaw(number))
    }
}
