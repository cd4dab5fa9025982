// What an earlier daemon has left.
extension ApplicationMachine {
    /// Takes over what an earlier daemon knew. What ran then was interrupted, but for launched applications that go on.
    ///
    /// - Parameters:
    ///   - running: what the program that runs commands has of launched ones, by the numbers of their runs.
    ///   - frozen: units that could not be thawed yet; they stay on disk for the daemon after this one.
    ///   - seenAt: when that daemon last wrote anything.
    mutating func restore(
        _ found: [(key: ApplicationKey, record: ApplicationRecord)],
        running: [UInt64: FoundApplication], frozen: Set<AdoptedUnit>, seenAt: BootInstant?,
        _ turn: inout ApplicationTurn
    ) {
        areGiven(
            runs: Array(running.keys) + found.compactMap(\.record.run),
            through: running.values.compactMap(\.notes?.numberLast).max() ?? 0)
        var left: [Left] = []
        for (key, record) in found {
            if let one = Left(key, record, running, at: turn.boot) {
                left.append(one)
            } else {
                restore(key, record, frozen: frozen, seenAt: seenAt, &turn)
            }
        }
        // In the order of their last use, as they were; all are there before one comes to the front.
        left.sort { $0.notes.lastUse < $1.notes.lastUse }
        for one in left { takeOver(one, &turn) }
        for one in left { goOn(one, &turn) }
    }

    /// A launched application that goes on.
    private struct Left {
        let key: ApplicationKey
        let record: ApplicationRecord
        let run: UInt64
        let found: FoundApplication
        let notes: ApplicationNotes

        /// - Returns: `nil` where it does not go on, or nobody can know how.
        init?(
            _ key: ApplicationKey, _ record: ApplicationRecord,
            _ running: [UInt64: FoundApplication], at boot: BootInstant
        ) {
            guard record.isRunning, let run = record.run, let found = running[run],
                let notes = found.notes, notes.isPossible(at: boot)
            else { return nil }
            (self.key, self.record, self.run) = (key, record, run)
            (self.found, self.notes) = (found, notes)
        }
    }

    private mutating func restore(
        _ key: ApplicationKey, _ record: ApplicationRecord, frozen: Set<AdoptedUnit>,
        seenAt: BootInstant?, _ turn: inout ApplicationTurn
    ) {
        insert(key, record, isSaved: true)
        resumeSpan(key, record, seenAt: seenAt, turn)
        let units = record.units.filter(frozen.contains)
        guard record.isRunning || units != record.units else { return }
        update(key) {
            $0.record.units = units
            guard record.isRunning else { return }
            $0.record.isRunning = false
            $0.record.run = nil
            $0.record.lastTermination = Termination(reason: .interrupted, endedAt: turn.boot)
        }
        save(key, .record, &turn)
        if record.isRunning { turn.note(key, .ended(.interrupted)) }
    }

    // MARK: What goes on

    private mutating func takeOver(_ left: Left, _ turn: inout ApplicationTurn) {
        let (key, notes) = (left.key, left.notes)
        insert(key, left.record, isSaved: true)
        goOn(key, run(of: left, turn), notes.state, turn)
        turn.changeClock(key, to: clockFound(key, notes.state, turn))
        // It has lost its connections, and gets the time to come back with them.
        let until = turn.now + rules.suspendAfter
        update(key) { $0.run?.staysAwake(until: until) }
    }

    private mutating func goOn(_ left: Left, _ turn: inout ApplicationTurn) {
        switch left.notes.course {
        case .starts: if left.found.hasStarted { started(left.key, &turn) }
        case .ends: break
        case .goesOn, .freezes, .frozen, .thaws: goOn(left, isFrozen: left.found.isFrozen, &turn)
        }
    }

    private func run(of left: Left, _ turn: ApplicationTurn) -> ApplicationRun {
        let (run, notes) = (left.run, left.notes)
        switch notes.course {
        case .starts: return ApplicationRun(number: run, .starting, notes)
        case .ends(let reason, let killAt, let background):
            let verdict = Termination(reason: reason, background: background, endedAt: turn.boot)
            return ApplicationRun(
                number: run, .ending, notes, verdict: verdict,
                killAt: killAt == .never ? turn.now : max(killAt, turn.now))
        case .goesOn, .freezes, .frozen, .thaws:
            return ApplicationRun(number: run, left.found.isFrozen ? .frozen : .running, notes)
        }
    }

    /// What was under way is decided by whether it is frozen now.
    private mutating func goOn(_ left: Left, isFrozen: Bool, _ turn: inout ApplicationTurn) {
        let (key, notes) = (left.key, left.notes)
        switch notes.course {
        case .goesOn where isFrozen && notes.state.isInFront, .thaws where isFrozen:
            thaw(key, &turn)
        case .goesOn where isFrozen, .freezes where isFrozen:
            move(key, on: .frozen, &turn)
            turn.changeClock(key, to: .suspended)
        case .thaws where notes.comesToFront: comeToFront(key, on: .activated, &turn)
        case .frozen where !isFrozen, .thaws: stayAwake(key, &turn)
        case .goesOn, .freezes:
            if !notes.wouldBeSuspended { planSuspension(key, promptly: false, turn) }
        case .frozen, .starts, .ends: break
        }
    }

    /// What its place means for its tasks; `nil`: nothing.
    private func clockFound(
        _ key: ApplicationKey, _ state: ApplicationState, _ turn: ApplicationTurn
    ) -> ApplicationClock? {
        switch state {
        case .notRunning: nil
        case .inactive, .active: .foreground
        case .background: clock(of: key, turn)
        case .suspended: .suspended
        }
    }
}
