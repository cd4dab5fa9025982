internal import BudgetCore
internal import LinuxSystem
internal import Systemd
internal import TaskAPI
internal import Varlink

// Processes that run already become applications.
extension Daemon {
    func adoptApplication(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let input = try decode(call, as: Applications.Adopt.Input.self)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        try ask { registry, _ throws(Refusal) in try registry.checkAdoption(key) }
        guard !adoptions.areAdopting(key) else {
            throw .refused(.notAccepting("application \(key.id) is being adopted"))
        }
        var processIDs: [Int32] = []
        for (index, number) in input.pids.enumerated() {
            guard let processID = Int32(exactly: number), processID > 0 else {
                throw .invalid("pids[\(index)]")
            }
            processIDs.append(processID)
        }
        guard !processIDs.isEmpty else { throw .invalid("pids") }
        adoptions.add(PendingAdoption(client, key, processIDs))
        client.openCall = .adoption(key)
        lookAtNextAdoption()
    }

    /// Has the thread look at the processes of the next adoption.
    private func lookAtNextAdoption() {
        while let adoption = adoptions.next() {
            do throws(SystemError) {
                return try adoptionThread.ask(
                    adoption.processIDs, user: adoption.client.credentials.user)
            } catch {
                adoptions.wereLookedAt(adoption)
                refuse(adoption, "\(error)")
            }
        }
    }

    /// The thread has looked at processes.
    func adoptionReady() {
        guard let answer = adoptionThread.takeAnswer(), let adoption = adoptions.lookedAt else {
            return
        }
        let now = now
        adoptions.wereLookedAt(adoption)
        // Nobody has been promised anything, where the caller is gone or the application is.
        if adoptions.isPending(adoption) {
            do throws(CallFailure) {
                try describeUnits(of: adoption, answer)
            } catch {
                adoptions.remove(adoption)
                self.answer(adoption.client, error)
            }
        }
        lookAtNextAdoption()
        endTurn(at: now)
    }

    /// Asks the managers of the units whether those can be frozen.
    private func describeUnits(
        of adoption: PendingAdoption, _ answer: AdoptionThread.Answer
    ) throws(CallFailure) {
        let key = adoption.key
        try ask { registry, _ throws(Refusal) in try registry.checkAdoption(key) }
        let processes: AdoptedProcesses
        do throws(AdoptionRefusal) {
            processes = try host.adopt(
                TaskID(ofApplication: nextNumber()).rawValue, try answer.get(),
                user: adoption.client.credentials.user)
        } catch {
            throw .cannotContain(error.processID ?? adoption.processIDs[0], error.reason)
        }
        let units = try managedUnits(of: processes, adoption.processIDs[0])
        adoption.found(processes, units)
        adoptedUnits.formUnion(units.map(\.unit))
        for unit in units {
            unit.manager.describe(unit: unit.name) { [weak self] result in
                self?.described(unit, of: adoption, result)
            }
        }
    }

    /// The units of processes with their managers.
    private func managedUnits(
        of processes: AdoptedProcesses, _ processID: Int32
    ) throws(CallFailure) -> [ManagedUnit] {
        var units: [ManagedUnit] = []
        for found in processes.units {
            let unit = BudgetCore.AdoptedUnit(found)
            var reason: String?
            if unit.user == nil, configuration.user != 0 {
                reason = "the system's manager, which has \(unit.name), obeys root alone"
            } else if adoptedUnits.contains(unit) {
                reason = "\(unit.name) belongs to an application already"
            }
            if let reason {
                processes.close()
                throw .cannotContain(processID, reason)
            }
            units.append(
                ManagedUnit(
                    unit: unit, group: found.cgroupFolder, manager: unitManager(manager(of: unit))))
        }
        return units
    }

    /// The conversation with a service manager, the same for all its units.
    func unitManager(_ manager: UnitManager.Manager) -> UnitManager {
        if let known = unitManagers[manager] { return known }
        let made = UnitManager(manager, loop: loop)
        unitManagers[manager] = made
        return made
    }

    private func described(
        _ unit: ManagedUnit, of adoption: PendingAdoption,
        _ result: Result<UnitDescription, UnitFailure>
    ) {
        // Another unit of it may have been refused meanwhile.
        guard adoptions.isPending(adoption) else { return }
        let now = now
        switch result {
        case .failure(let failure): refuse(adoption, "\(failure)")
        case .success(let described):
            if let reason = described.refusal(of: unit) {
                refuse(adoption, reason)
            } else if adoption.unitWasDescribed() {
                adopt(adoption)
            }
        }
        endTurn(at: now)
    }

    /// Its units can be frozen: the core takes it over, and answers when the disk knows them.
    private func adopt(_ adoption: PendingAdoption) {
        guard let processes = adoption.processes else { return }
        adoptions.remove(adoption)
        let (client, key) = (adoption.client, adoption.key)
        let number = nextNumber()
        let units = adoption.units.map(\.unit)
        do throws(CallFailure) {
            try ask { registry, actions throws(Refusal) in
                try registry.adopt(key, units: units, number: number, &actions)
            }
        } catch {
            adoptedUnits.subtract(units)
            processes.close()
            return answer(client, error)
        }
        let application = RunningApplication(
            key, number: TaskID(rawValue: processes.identifier), adopted: processes)
        application.units = adoption.units
        applications.add(application)
        findOriginsAnew(of: key.owner)
        wait(client, for: number, key, .application)
    }

    private func refuse(_ adoption: PendingAdoption, _ reason: String) {
        let processID = (try? adoption.processes?.processIDs())?.first
        letGo(of: adoption)
        answer(
            adoption.client, .cannotContain(processID ?? adoption.processIDs.first ?? 0, reason))
    }

    /// Ends an adoption that has not come to its end.
    private func letGo(of adoption: PendingAdoption) {
        adoptions.remove(adoption)
        adoptedUnits.subtract(adoption.units.map(\.unit))
        adoption.processes?.close()
    }

    /// Processes have ended that are no application yet.
    func adoptionIsOver(_ number: TaskID) {
        guard let adoption = adoptions.first(of: number.rawValue) else { return }
        refuse(adoption, "they have ended")
    }

    /// An application has ended: what was to become another of its name does not.
    func adoptionIsOver(of key: ApplicationKey) {
        guard let adoption = adoptions[key] else { return }
        refuse(adoption, "application \(key.id) has ended meanwhile")
    }

    /// A client is gone: what has not been looked at for it is not looked at any more.
    func adoptionIsUnwanted(by client: Client, _ key: ApplicationKey) {
        guard let adoption = adoptions[key], adoption.client === client else { return }
        adoptions.withdraw(adoption)
    }

    private func answer(_ client: Client, _ failure: CallFailure) {
        guard !client.isClosed else { return }
        client.openCall = nil
        client.reply(failure)
        resume(client)
    }
}

/// A unit that an adopted application lives in, with its service manager.
struct ManagedUnit {
    let unit: BudgetCore.AdoptedUnit
    /// The folder of its control group, by which its processes were found in it.
    let group: String
    let manager: UnitManager

    var name: String { unit.name }
}

extension BudgetCore.AdoptedUnit {
    init(_ unit: LinuxSystem.AdoptedUnit) {
        switch unit.manager {
        case .system: self.init(name: unit.name, user: nil)
        case .user(let user): self.init(name: unit.name, user: user)
        }
    }
}

extension UnitDescription {
    /// Why the unit is not to be frozen; `nil` where it may be.
    fileprivate func refusal(of found: ManagedUnit) -> String? {
        if controlGroup.isEmpty || !found.group.hasSuffix(controlGroup) {
            return "the control group \(found.group) is not that of \(unit)"
        }
        if !canFreeze { return "\(unit) cannot be frozen here" }
        if hasWatchdog { return "\(unit) has a watchdog, which would end it while it is frozen" }
        if activeState != "active" { return "\(unit) is \(activeState)" }
        return nil
    }
}
