import BudgetCore
import DaemonShell
import TaskStore

// What the daemon does with applications.
extension Shell {
    /// What runs of an application.
    struct Program {
        /// Of one that was adopted.
        var units: [AdoptedUnit] = []
        var isAdopted = false
        /// Its command is to be started.
        var isStarting = false
        var isKilled = false
        var isFrozen = false
        /// The order that is under way.
        var freeze: UInt64?
        var thaw: UInt64?

        var isOrdered: Bool { isStarting || isKilled || freeze != nil || thaw != nil }
    }

    /// The number of another call.
    func nextCall() -> UInt64 {
        callLast += 1
        return callLast
    }

    func perform(_ order: ApplicationOrder, on key: ApplicationKey) throws {
        switch order {
        case .start:
            guard programs[key] == nil else { throw Violation("\(key) is started twice") }
            programs[key] = Program(isStarting: true)
        case .freeze(let number): try freeze(key, number)
        case .thaw(let number):
            guard programs[key] != nil else { throw Violation("\(key) is thawed and not there") }
            programs[key]?.freeze = nil
            programs[key]?.thaw = number
        case .signal:
            guard programs[key] != nil else { throw Violation("\(key) is told and not there") }
        case .kill:
            guard programs[key] != nil else { throw Violation("\(key) is killed and not there") }
            programs[key]?.isKilled = true
        case .release:
            // A daemon that stops does not wait for ever for what no kill ends.
            guard let program = programs.removeValue(forKey: key),
                program.isAdopted || program.isKilled && core.registry.isDraining
            else { throw Violation("\(key) is let go and was not adopted") }
            let isLeft = program.isKilled || !machine.frozen.isDisjoint(with: program.units)
            if isLeft { leave(program.units, of: key) }
        case .tell(let event): try tell(event, to: key)
        case .note(.ended(let reason)): try noteEnd(of: key, reason)
        case .note: break
        case .answer(let number, let refusal):
            // No call has this one: a message that was deferred is delivered.
            guard number > 0 else { return }
            try ledger.applications.answered(key, number, refusal, mayBeTaken: mayHaveTaken)
        }
    }

    private func freeze(_ key: ApplicationKey, _ number: UInt64) throws {
        guard let program = programs[key], !program.isFrozen, !program.isKilled,
            !program.isStarting
        else { throw Violation("\(key) is frozen as \(programs[key] as Any)") }
        guard !program.isAdopted || ledger.applications.knows(key, program.units) else {
            throw Violation("\(key) is frozen, and the disk does not know its units")
        }
        programs[key]?.freeze = number
        // From now on some of it may be.
        machine.frozen.formUnion(program.units)
    }

    private func tell(_ event: ApplicationEvent, to key: ApplicationKey) throws {
        if event.state != .notRunning, let program = programs[key], program.isAdopted,
            !ledger.applications.knows(key, program.units)
        {
            throw Violation("\(key) is told \(event), and the disk does not know its units")
        }
        if event.state == .suspended, event.previous != .suspended {
            ledger.count("suspended")
            guard programs[key]?.isFrozen == true else {
                throw Violation("\(key) is suspended, and is not frozen")
            }
        }
        try ledger.applications.told(key, event)
    }

    private func noteEnd(of key: ApplicationKey, _ reason: TerminationReason) throws {
        ledger.count("ended as \(reason)")
        try ledger.applications.ended(key, reason, isDraining: ledger.isDraining)
    }

    // MARK: - What programs do

    /// The next thing happens to a program.
    ///
    /// - Parameter isWell: whether what was ordered can be done.
    func advance(_ key: ApplicationKey, isWell: Bool, _ exit: ProcessExit?) {
        guard let program = programs[key] else { return }
        if program.isStarting {
            start(key, isWell: isWell)
        } else if program.isKilled {
            gone(key)
        } else if let number = program.thaw {
            thaw(key, number, isWell: isWell)
        } else if let number = program.freeze {
            freeze(key, number, isWell: isWell)
        } else if let exit, !program.isFrozen {
            guard !program.isAdopted else { return gone(key) }
            ledger.applications.exited(key, exit)
            core.update({ registry, now, actions in
                registry.applicationExited(key, exit, at: now, &actions)
            })
        }
    }

    private func start(_ key: ApplicationKey, isWell: Bool) {
        if programs[key]?.isKilled == true { return gone(key) }
        programs[key]?.isStarting = false
        guard !isWell else {
            return core.update({ registry, now, actions in
                registry.applicationStarted(key, at: now, &actions)
            })
        }
        programs[key] = nil
        core.update({ registry, now, actions in
            registry.applicationNotStarted(key, "no such file", at: now, &actions)
        })
    }

    private func gone(_ key: ApplicationKey) {
        machine.frozen.subtract(programs.removeValue(forKey: key)?.units ?? [])
        core.update({ registry, now, actions in registry.applicationGone(key, at: now, &actions) })
    }

    private func thaw(_ key: ApplicationKey, _ number: UInt64, isWell: Bool) {
        programs[key]?.thaw = nil
        guard isWell else {
            return core.update({ registry, now, actions in
                registry.applicationNotThawed(
                    key, number, "the manager does not answer", at: now, &actions)
            })
        }
        machine.frozen.subtract(programs[key]?.units ?? [])
        programs[key]?.isFrozen = false
        core.update({ registry, now, actions in
            registry.applicationThawed(key, number, at: now, &actions)
        })
    }

    private func freeze(_ key: ApplicationKey, _ number: UInt64, isWell: Bool) {
        programs[key]?.freeze = nil
        guard isWell else {
            machine.frozen.subtract(programs[key]?.units ?? [])
            return core.update({ registry, now, actions in
                registry.applicationNotFrozen(
                    key, number, "the manager does not answer", at: now, &actions)
            })
        }
        programs[key]?.isFrozen = true
        core.update({ registry, now, actions in
            registry.applicationFrozen(key, number, at: now, &actions)
        })
    }

    // MARK: - Starts

    /// What the daemon lets go of and could not thaw, or not kill, is for the next one to thaw.
    private func leave(_ units: [AdoptedUnit], of key: ApplicationKey) {
        guard !units.isEmpty else { return }
        left[key] = units
        ledger.count("left frozen")
    }

    /// Thaws what an earlier daemon left frozen.
    ///
    /// - Parameter canThaw: whether the units' managers answer.
    /// - Returns: what is frozen still.
    func thawApplications(canThaw: Bool) throws -> Set<AdoptedUnit> {
        let found = opened.found.applications
        try ledger.applications.found(found, frozen: machine.frozen)
        if !machine.frozen.isEmpty { ledger.count("found frozen") }
        if canThaw { machine.frozen = [] }
        for stored in found {
            leave(stored.units.filter(machine.frozen.contains), of: stored.key)
        }
        return machine.frozen
    }

    /// Whether the registry knows what was found, as it was, and what it says is on disk.
    func checkApplicationsTakenOver() throws {
        for stored in opened.found.applications {
            var expected = ApplicationRecord(stored, clocks)
            expected.units = left[stored.key] ?? []
            if stored.isRunning {
                ledger.count("applications cut off")
                (expected.isRunning, expected.run) = (false, nil)
                expected.lastTermination = Termination(
                    reason: .interrupted, endedAt: machine.boot)
            }
            let record = core.registry.applicationRecord(stored.key)
            guard record == expected else {
                throw Violation("\(stored) is taken over as \(record as Any)")
            }
        }
        try checkApplications()
        try checkFoundSpans()
    }

    /// Of each application one span at most went on, and all that came before it had ended.
    private func checkFoundSpans() throws {
        let found = opened.found.spans
        let past = try Shell.starting(disk) { () throws(StoreError) in
            try opened.reader.spans(countMax: 100_000).spans
        }
        for span in found.spans {
            let later = (found.spans + past).filter {
                $0.key == span.key && $0.number > span.number
            }
            guard later.isEmpty else {
                throw Violation("\(span) went on, and there is \(later)")
            }
        }
        let numbers = (found.spans + past).map(\.number)
        guard Set(numbers).count == numbers.count, numbers.allSatisfy({ $0 <= found.numberLast })
        else { throw Violation("spans \(numbers), up to \(found.numberLast)") }
        if !found.spans.isEmpty { ledger.count("spans found open") }
        if past.contains(where: { $0.seenAt != nil }) { ledger.count("spans found cut") }
    }

    /// What must be so when the disk works and has all that it was given.
    func checkApplications() throws {
        try ledger.applications.settled(running: programs.mapValues(\.units), left: left)
        let known = core.registry.applications(of: nil)
        guard known.map(\.key) == ledger.applications.disk.keys.sorted() else {
            throw Violation("\(known.map(\.key)) are known, and others on disk")
        }
        let spans = core.registry.presentSpans(of: nil)
        guard spans.map(\.key) == known.map(\.key),
            zip(spans, known).allSatisfy({ $0.state == $1.state && $0.endedAt == nil })
        else { throw Violation("\(known) have the spans \(spans)") }
        for application in known {
            let stored = ledger.applications.disk[application.key]
            let (registration, badge) = (application.record.registration, application.record.badge)
            guard stored?.registration == registration, stored?.badge == badge,
                stored?.lastTermination?.held == application.record.lastTermination?.held
            else { throw Violation("\(application.record) is \(stored as Any) on disk") }
        }
    }
}
