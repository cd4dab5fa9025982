extension BackgroundTaskRegistry {
    /// How far a task's own requests move its limit before that is told: a task may make thousands a second.
    private static let toldExtensionMin = Duration.seconds(1)

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
        if let status = notice.status { say(status, of: id, &actions) }
        if let atLeast = notice.atLeast { lengthen(slot, atLeast, at: now, &actions) }
    }

    /// Keeps what a task says of itself, also beyond its end.
    private mutating func say(_ text: String, of id: TaskID, _ actions: inout [Action]) {
        let status = text.isEmpty ? nil : text
        guard table[run: id]?.status != status else { return }
        table[run: id]?.status = status
        actions.append(.tell(.status, id))
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
        settle(slot, at: now, &actions)
        guard table.slot(of: id) != nil, !isStopping(slot), !isConcluded(slot), !isDraining
        else { return }
        let task = table[slot]
        guard task.state != .dormant, task.bound != .applicationBackgroundTime else { return }
        let asked = now + atLeast
        let granted = min(asked, task.lifetimeEndsAt)
        guard granted > task.ownHardAt else { return }
        if granted - task.grace > now { runAgain(slot) }
        grant(slot, asked, cutTo: granted)
        let untold = (table[run: id]?.untoldExtension ?? .zero) + (granted - task.ownHardAt)
        table[run: id]?.untoldExtension = untold
        if untold >= BackgroundTaskRegistry.toldExtensionMin { tellExtended(slot, &actions) }
    }
}
