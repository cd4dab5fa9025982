internal import BudgetCore
internal import LinuxSystem
internal import Systemd
internal import TaskAPI
internal import Varlink

/// An adoption whose units are being looked at.
final class PendingAdoption {
    let client: Client
    let processes: AdoptedProcesses
    let units: [ManagedUnit]
    /// Units of which the manager has not told yet.
    var remaining: Int

    init(_ client: Client, _ processes: AdoptedProcesses, _ units: [ManagedUnit]) {
        self.client = client
        self.processes = processes
        self.units = units
        remaining = units.count
    }
}

// Processes that run already become applications.
extension Daemon {
    func adoptApplication(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let input = try decode(call, as: Applications.Adopt.Input.self)
        let key = ApplicationKey(owner: client.caller.owner, id: input.id)
        try ask { registry, _ throws(Refusal) in try registry.checkAdoption(key) }
        guard pendingAdoptions[key] == nil else {
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
        let number = TaskID(ofApplication: nextNumber())
        let processes: AdoptedProcesses
        do throws(AdoptionRefusal) {
            processes = try host.adopt(
                number.rawValue, processIDs: processIDs, user: client.credentials.user)
        } catch {
            throw .cannotContain(error.processID ?? processIDs[0], error.reason)
        }
        let adoption = PendingAdoption(
            client, processes, try managedUnits(of: processes, processIDs[0]))
        adoptedUnits.formUnion(adoption.units.map(\.unit))
        pendingAdoptions[key] = adoption
        client.openCall = .adoption(key)
        for unit in adoption.units {
            unit.manager.describe(unit: unit.name) { [weak self] result in
                self?.described(unit, of: key, adoption, result)
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
        _ unit: ManagedUnit, of key: ApplicationKey, _ adoption: PendingAdoption,
        _ result: Result<UnitDescription, UnitFailure>
    ) {
        // Another unit of it may have been refused meanwhile.
        guard pendingAdoptions[key] === adoption else { return }
        let now = now
        switch result {
        case .failure(let failure): refuse(adoption, key, "\(failure)")
        case .success(let described):
            if let reason = described.refusal(of: unit) {
                refuse(adoption, key, reason)
            } else {
                adoption.remaining -= 1
                if adoption.remaining == 0 { adopt(adoption, key) }
            }
        }
        endTurn(at: now)
    }

    /// Its units can be frozen: the core takes it over, and answers when the disk knows them.
    private func adopt(_ adoption: PendingAdoption, _ key: ApplicationKey) {
        pendingAdoptions[key] = nil
        let client = adoption.client
        let number = nextNumber()
        let units = adoption.units.map(\.unit)
        do throws(CallFailure) {
            try ask { registry, actions throws(Refusal) in
                try registry.adopt(key, units: units, number: number, &actions)
            }
        } catch {
            adoptedUnits.subtract(units)
            adoption.processes.close()
            return answer(client, error)
        }
        let application = RunningApplication(
            key, number: TaskID(rawValue: adoption.processes.identifier),
            adopted: adoption.processes)
        application.units = adoption.units
        applications.add(application)
        wait(client, for: number, key, .application)
    }

    private func refuse(_ adoption: PendingAdoption, _ key: ApplicationKey, _ reason: String) {
        pendingAdoptions[key] = nil
        adoptedUnits.subtract(adoption.units.map(\.unit))
        let processID = (try? adoption.processes.processIDs())?.first ?? 0
        adoption.processes.close()
        answer(adoption.client, .cannotContain(processID, reason))
    }

    /// Processes have ended that are no application yet.
    func adoptionIsOver(_ number: TaskID) {
        let ended = pendingAdoptions.first { $0.value.processes.identifier == number.rawValue }
        guard let (key, adoption) = ended else { return }
        refuse(adoption, key, "they have ended")
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
