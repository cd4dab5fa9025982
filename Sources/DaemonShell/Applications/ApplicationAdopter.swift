internal import BudgetCore
internal import LinuxSystem
internal import Systemd

/// Makes applications of processes that run already: they are looked at, then the units that they live in.
final class ApplicationAdopter {
    private let core: Core
    private let host: ProcessHost
    private let user: UInt32
    private let applications: RunningApplications
    private let units: UnitFreezer
    private let replies: PendingReplies
    private let numbers: NumberSource
    private let closers: Closers
    private let thread: AdoptionThread
    private var adoptions = Adoptions()
    /// Called where an application has been adopted, whose processes may have connections already.
    private var adopted: (OwnerID) -> Void = { _ in }

    /// - Parameter user: whom the daemon runs as.
    init(
        _ core: Core, _ host: ProcessHost, user: UInt32, _ applications: RunningApplications,
        _ units: UnitFreezer, _ replies: PendingReplies, _ numbers: NumberSource,
        _ closers: Closers
    ) throws(SystemError) {
        self.closers = closers
        self.core = core
        self.host = host
        self.user = user
        self.applications = applications
        self.units = units
        self.replies = replies
        self.numbers = numbers
        thread = try AdoptionThread()
    }

    func connect(adopted: @escaping (OwnerID) -> Void) { self.adopted = adopted }

    /// Readable when processes have been looked at.
    var descriptor: Int32 { thread.descriptor }

    func isAdopting(_ key: ApplicationKey) -> Bool { adoptions.areAdopting(key) }

    /// Adopts processes of a client; the call is answered once the disk knows them.
    func adopt(
        _ processIDs: [Int32], as key: ApplicationKey, for client: Client,
        completion: @escaping PendingReplies.Completion
    ) {
        let adoption = PendingAdoption(client, replies.newTicket(), key, processIDs)
        adoptions.add(adoption)
        replies.open(
            client, adoption.ticket, dropped: { [unowned self] in callerIsGone(adoption) },
            completion: completion)
        lookAtNext()
    }

    /// A client is gone: what has not been looked at for it is not looked at any more.
    private func callerIsGone(_ adoption: PendingAdoption) {
        guard !adoptions.isPending(adoption) else { return adoptions.withdraw(adoption) }
        core.update { registry, _, _ in
            registry.forgetWaiter(adoption.ticket.number, of: adoption.key)
        }
    }

    // MARK: - The look at the processes

    private func lookAtNext() {
        while let adoption = adoptions.next() {
            do throws(SystemError) {
                return try thread.request(
                    adoption.processIDs, user: adoption.client.credentials.user,
                    closers.duplicateMaker())
            } catch {
                adoptions.wereLookedAt(adoption)
                refuse(adoption, "\(error)")
            }
        }
    }

    /// Takes what a look at processes has found.
    func takeAnswer() {
        guard let answer = thread.takeAnswer(), let adoption = adoptions.lookedAt else { return }
        adoptions.wereLookedAt(adoption)
        // Nobody has been promised anything, where the caller is gone or the application is.
        if adoptions.isPending(adoption) {
            do throws(CallFailure) {
                try describeUnits(of: adoption, answer)
            } catch {
                adoptions.remove(adoption)
                replies.resolve(adoption.ticket, error)
            }
        }
        lookAtNext()
    }

    // MARK: - Their units

    /// Asks the managers of the units whether those can be frozen.
    private func describeUnits(
        of adoption: PendingAdoption, _ answer: AdoptionThread.Answer
    ) throws(CallFailure) {
        let key = adoption.key
        try core.ask { registry, _, _ throws(Refusal) in try registry.checkAdoption(key) }
        let processes: AdoptedProcesses
        do throws(AdoptionRefusal) {
            processes = try host.adopt(
                RunnerID(ofAdopted: numbers.next()).number, try answer.get(),
                user: adoption.client.credentials.user)
        } catch {
            throw .cannotContain(error.processID ?? adoption.processIDs[0], error.reason)
        }
        let found = try managedUnits(of: processes, adoption.processIDs[0])
        adoption.found(processes, found)
        units.take(found)
        for unit in found {
            unit.manager.describe(unit: unit.name) { [weak self] result in
                self?.described(unit, of: adoption, result)
            }
        }
    }

    /// The units of processes with their managers.
    private func managedUnits(
        of processes: AdoptedProcesses, _ processID: Int32
    ) throws(CallFailure) -> [ManagedUnit] {
        var managed: [ManagedUnit] = []
        for found in processes.units {
            let unit = BudgetCore.AdoptedUnit(found)
            var reason: String?
            if unit.user == nil, user != 0 {
                reason = "the system's manager, which has \(unit.name), obeys root alone"
            } else if units.isTaken(unit) {
                reason = "\(unit.name) belongs to an application already"
            }
            if let reason {
                processes.close()
                throw .cannotContain(processID, reason)
            }
            managed.append(
                ManagedUnit(
                    unit: unit, group: found.cgroupFolder, manager: units.manager(of: unit)))
        }
        return managed
    }

    private func described(
        _ unit: ManagedUnit, of adoption: PendingAdoption,
        _ result: Result<UnitDescription, UnitFailure>
    ) {
        // Another unit of it may have been refused meanwhile.
        guard adoptions.isPending(adoption) else { return }
        core.turn {
            switch result {
            case .failure(let failure): refuse(adoption, "\(failure)")
            case .success(let described):
                if let reason = described.refusal(of: unit) {
                    refuse(adoption, reason)
                } else if adoption.unitWasDescribed() {
                    finish(adoption)
                }
            }
        }
    }

    /// Its units can be frozen: the core takes it over, and answers when the disk knows them.
    private func finish(_ adoption: PendingAdoption) {
        guard let processes = adoption.processes else { return }
        adoptions.remove(adoption)
        let key = adoption.key
        do throws(CallFailure) {
            try core.ask { registry, _, actions throws(Refusal) in
                try registry.adopt(
                    key, units: adoption.units.map(\.unit), number: adoption.ticket.number,
                    &actions)
            }
        } catch {
            units.letGo(adoption.units)
            processes.close()
            return replies.resolve(adoption.ticket, error)
        }
        applications.add(
            RunningApplication(
                key, id: RunnerID(number: processes.identifier), adopted: processes,
                in: adoption.units))
        adopted(key.owner)
    }

    // MARK: - What does not become one

    private func refuse(_ adoption: PendingAdoption, _ reason: String) {
        let processID = (try? adoption.processes?.processIDs())?.first
        adoptions.remove(adoption)
        units.letGo(adoption.units)
        adoption.processes?.close()
        replies.resolve(
            adoption.ticket,
            .cannotContain(processID ?? adoption.processIDs.first ?? 0, reason))
    }

    /// Processes have ended that are no application yet.
    func processesEnded(_ id: RunnerID) {
        guard let adoption = adoptions.first(of: id.number) else { return }
        refuse(adoption, "they have ended")
    }

    /// An application has ended: what was to become another of its name does not.
    func applicationEnded(_ key: ApplicationKey) {
        guard let adoption = adoptions[key] else { return }
        refuse(adoption, "application \(key.id) has ended meanwhile")
    }
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
