// What of applications is on disk.
extension ApplicationMachine {
    /// Has the record of an application written, as it is now.
    mutating func save(
        _ key: ApplicationKey, _ purpose: ApplicationWrites.Purpose,
        _ turn: inout ApplicationTurn
    ) {
        var isWritten = true
        update(key) { isWritten = $0.writes.add(purpose, $0.record) }
        if isWritten { turn.save(key) }
    }

    /// The oldest write of an application is on disk, or is refused by it.
    mutating func stored(
        _ key: ApplicationKey, _ refusal: Refusal?, _ turn: inout ApplicationTurn
    ) {
        var answered: ApplicationWrites.Purpose?
        let wasThere = self[key]?.saved != nil
        update(key) { answered = $0.writes.answered(isRefused: refusal != nil) }
        guard let purpose = answered else { return }
        if !wasThere, self[key]?.saved != nil { becomesKnown(key, turn) }
        takeBack(key, &turn)
        switch purpose {
        case .record: break
        case .registration(let number), .badge(let number):
            turn.order(key, .answer(number, refusal))
        case .adoption(let number): adoptionStored(key, number, refusal, &turn)
        case .end: endRecorded(key, &turn)
        }
        if refusal == nil, turn.storeFault == nil, let left = self[key], left.writes.isUnsaved,
            !left.writes.isPending, left.forgetting == nil
        {
            save(key, .record, &turn)
        }
        // What never got to the disk is known to nobody.
        if self[key]?.isVoid == true { remove(key, turn) }
    }

    private mutating func adoptionStored(
        _ key: ApplicationKey, _ number: UInt64, _ refusal: Refusal?,
        _ turn: inout ApplicationTurn
    ) {
        guard self[key]?.run?.phase == .adopting(number) else {
            let refusal = refusal ?? .wrongState(key.id, self[key]?.state ?? .notRunning)
            return turn.order(key, .answer(number, refusal))
        }
        guard refusal == nil else {
            dropUntold(key, "application \(key.id) could not be taken over", &turn)
            update(key) { $0.giveUpAdoption() }
            turn.order(key, .release)
            turn.order(key, .answer(number, refusal))
            return answerWaiters(key, refusal, &turn) { _ in true }
        }
        update(key) { $0.run?.runs() }
        comeToFront(key, on: .adopted, &turn)
        turn.order(key, .answer(number, nil))
    }

    /// What refused orders changed is as it was.
    private mutating func takeBack(_ key: ApplicationKey, _ turn: inout ApplicationTurn) {
        var refused: (registration: Registration?, badge: Int?)?
        update(key) { refused = $0.writes.takeRefused() }
        guard let refused else { return }
        let hadMode = hasBackgroundMode(key, turn)
        if let registration = refused.registration { setRegistration(key, registration) }
        if let badge = refused.badge { _ = changeBadge(key, badge, &turn) }
        update(key) { $0.writes.compare($0.record) }
        guard hadMode != hasBackgroundMode(key, turn) else { return }
        backgroundModeChanged(key, &turn)
    }

    /// The order to forget an application is on disk, or is refused by it.
    mutating func forgettingStored(
        _ key: ApplicationKey, _ refusal: Refusal?, _ turn: inout ApplicationTurn
    ) {
        guard let number = self[key]?.forgetting else { return }
        if refusal == nil {
            turn.note(key, .unregistered)
            remove(key, turn)
        } else {
            update(key) { $0.forgetting = nil }
        }
        turn.order(key, .answer(number, refusal))
    }

    /// The disk takes writes again.
    mutating func saveAgain(_ turn: inout ApplicationTurn) {
        guard !isEmpty else { return }
        for key in keys where self[key]?.writes.isUnsaved == true { save(key, .record, &turn) }
    }
}
