// What of applications is on disk.
extension BackgroundTaskRegistry {
    /// Has the record of an application written, as it is now.
    mutating func save(
        _ key: ApplicationKey, _ purpose: ManagedApplication.Save.Purpose,
        _ actions: inout [Action]
    ) {
        if case .record = purpose, let saves = applications[key]?.saves,
            saves.count >= ApplicationRun.savesMax
        {
            return applications.update(key) { $0.isUnsaved = true }
        }
        applications.update(key) {
            $0.isUnsaved = false
            $0.saves.append(.init(purpose: purpose, record: $0.record))
        }
        actions.append(.store(.applicationSaved(key)))
    }

    /// Refuses an adoption that cannot be; asked before the processes are looked at, and again after it.
    package func checkAdoption(_ key: ApplicationKey) throws(Refusal) {
        guard !isDraining else { throw .notAccepting("the daemon is stopping") }
        if let storeFault { throw .notAccepting(storeFault) }
        guard let application = applications[key] else {
            try check(key.id, "id")
            return try checkRoom(for: key.owner)
        }
        guard application.forgetting == nil else {
            throw .notAccepting("application \(key.id) is being forgotten")
        }
        guard application.run == nil else { throw .wrongState(key.id, application.state) }
    }

    /// The oldest write of an application is on disk, or is refused by it.
    mutating func applicationStored(
        _ key: ApplicationKey, _ refusal: Refusal?, at now: Instant, _ actions: inout [Action]
    ) {
        guard let save = applications[key]?.saves.first else { return }
        applications.update(key) {
            $0.saves.removeFirst()
            guard refusal == nil else { return $0.refuse(save.purpose) }
            $0.saved = save.record
            ($0.refusedRegistration, $0.refusedBadge) = (false, false)
        }
        takeBack(key, at: now, &actions)
        switch save.purpose {
        case .record: break
        case .registration(let number), .badge(let number):
            actions.append(.application(key, .answer(number, refusal)))
        case .adoption(let number):
            adoptionStored(key, number, refusal, at: now, &actions)
        case .end: endRecorded(key, at: now, &actions)
        }
        if refusal == nil, storeFault == nil, let left = applications[key], left.isUnsaved,
            left.saves.isEmpty, left.forgetting == nil
        {
            self.save(key, .record, &actions)
        }
        // What never got to the disk is known to nobody.
        guard let left = applications[key], left.saved == nil, left.saves.isEmpty, left.run == nil
        else { return }
        applications.remove(key)
    }

    private mutating func adoptionStored(
        _ key: ApplicationKey, _ number: UInt64, _ refusal: Refusal?, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard applications[key]?.run?.phase == .adopting(number) else {
            let refusal = refusal ?? .wrongState(key.id, applications[key]?.state ?? .notRunning)
            return actions.append(.application(key, .answer(number, refusal)))
        }
        guard refusal == nil else {
            applications.update(key) {
                $0.run = nil
                $0.record.isRunning = false
                $0.record.units = []
                $0.isUnsaved = $0.saved != nil
            }
            actions.append(.application(key, .release))
            actions.append(.application(key, .answer(number, refusal)))
            return answerWaiters(key, refusal, &actions) { _ in true }
        }
        applications.update(key) { $0.run?.phase = .running }
        comeToFront(key, on: .adopted, at: now, &actions)
        actions.append(.application(key, .answer(number, nil)))
    }

    /// What refused orders changed is as it was; not before the writes that carry the same record are answered,
    /// since one of them may bring the change to the disk all the same.
    private mutating func takeBack(
        _ key: ApplicationKey, at now: Instant, _ actions: inout [Action]
    ) {
        guard let application = applications[key], let saved = application.saved,
            application.saves.isEmpty
        else { return }
        let hadMode = hasBackgroundMode(key)
        if application.refusedRegistration {
            applications.setRegistration(key, saved.registration)
        }
        applications.update(key) { $0.refusedRegistration = false }
        if application.refusedBadge { _ = changeBadge(key, saved.badge, &actions) }
        applications.update(key) {
            $0.refusedBadge = false
            $0.isUnsaved = $0.record != saved
        }
        guard hadMode != hasBackgroundMode(key) else { return }
        backgroundModeChanged(key, at: now, &actions)
    }

    mutating func forgettingStored(
        _ key: ApplicationKey, _ refusal: Refusal?, _ actions: inout [Action]
    ) {
        guard let number = applications[key]?.forgetting else { return }
        if refusal == nil {
            note(key, .unregistered, &actions)
            applications.remove(key)
        } else {
            applications.update(key) { $0.forgetting = nil }
        }
        actions.append(.application(key, .answer(number, refusal)))
    }

    /// The disk takes writes again.
    mutating func saveApplicationsAgain(_ actions: inout [Action]) {
        guard !applications.isEmpty else { return }
        for key in applications.keys where applications[key]?.isUnsaved == true {
            save(key, .record, &actions)
        }
    }

    /// Takes over what an earlier daemon knew: what ran then was interrupted.
    ///
    /// Called once, before anything begins, when everything that daemon had frozen is thawed.
    ///
    /// - Parameter frozen: units that could not be thawed yet; they stay on disk for the daemon after this one.
    package mutating func restore(
        applications found: [(key: ApplicationKey, record: ApplicationRecord)],
        frozen: Set<AdoptedUnit>, at now: Instant, _ actions: inout [Action]
    ) {
        for (key, record) in found {
            var application = ManagedApplication(key, record)
            application.saved = record
            applications.insert(application)
            let units = record.units.filter(frozen.contains)
            guard record.isRunning || units != record.units else { continue }
            guard record.isRunning else {
                applications.update(key) { $0.record.units = units }
                save(key, .record, &actions)
                continue
            }
            let end = Termination(reason: .interrupted, endedAt: boot(at: now))
            applications.update(key) {
                $0.record.isRunning = false
                $0.record.units = units
                $0.record.lastTermination = end
            }
            save(key, .record, &actions)
            note(key, .ended(.interrupted), &actions)
        }
    }
}
