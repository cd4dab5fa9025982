internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd

// Adopted applications, frozen and thawed by the service managers that their units have.
extension Daemon {
    /// Freezes all units of an application, or none; or thaws them.
    func setUnitsFrozen(
        _ application: RunningApplication, _ order: RunningApplication.Order, at now: Instant
    ) {
        var remaining = application.units.count
        var failure: UnitFailure?
        for unit in application.units {
            let completion: (Result<Void, UnitFailure>) -> Void = { [weak self] result in
                remaining -= 1
                // Nobody is left in a unit that is there no more.
                if case .failure(let error) = result, error.errorName != UnitFailure.noSuchUnit {
                    failure = failure ?? error
                }
                if remaining == 0 { self?.unitsAnswered(application, order, failure) }
            }
            if order.isFreeze {
                unit.manager.freeze(unit: unit.name, completion: completion)
            } else {
                unit.manager.thaw(unit: unit.name, completion: completion)
            }
        }
    }

    private func unitsAnswered(
        _ application: RunningApplication, _ order: RunningApplication.Order,
        _ failure: UnitFailure?
    ) {
        let now = now
        defer { endTurn(at: now) }
        // It was called off, and what came after it tells.
        guard application.order == order, applications[application.key] === application else {
            return
        }
        guard application.processes.isFrozen != order.isFreeze || failure != nil else {
            return confirm(application, at: now)
        }
        let reason = failure.map { "\($0)" } ?? "the kernel does not confirm it"
        guard order.isFreeze else { return fail(application, reason, at: now) }
        undoFreeze(of: application, order, reason)
    }

    /// Thaws those units again that were frozen, before the failure is told.
    private func undoFreeze(
        of application: RunningApplication, _ order: RunningApplication.Order, _ reason: String
    ) {
        var remaining = application.units.count
        for unit in application.units {
            unit.manager.thaw(unit: unit.name) { [weak self] result in
                remaining -= 1
                if case .failure(let error) = result { self?.say(error, of: application) }
                guard remaining == 0, let self, application.order == order else { return }
                let now = self.now
                self.fail(application, reason, at: now)
                self.endTurn(at: now)
            }
        }
    }

    /// The frozen handle no signal: they are thawed first, and get it all the same where that fails.
    func thawUnits(of application: RunningApplication, before signal: SignalNumber) {
        var remaining = application.units.count
        for unit in application.units {
            unit.manager.thaw(unit: unit.name) { [weak self] result in
                remaining -= 1
                if case .failure(let error) = result { self?.say(error, of: application) }
                guard remaining == 0, let self,
                    self.applications[application.key] === application
                else { return }
                self.sendNow(signal, to: application)
            }
        }
    }

    /// Thaws what an earlier daemon left frozen, before anybody is served; a manager that does not answer holds
    /// the start up for some seconds.
    ///
    /// - Returns: those that may be frozen still; they are tried again while it serves.
    func thawUnits(of records: [ApplicationRecord]) -> Set<BudgetCore.AdoptedUnit> {
        var left: Set<BudgetCore.AdoptedUnit> = []
        let units = Dictionary(grouping: records.flatMap(\.units), by: manager)
        let until = now + Daemon.thawLimit
        for (manager, units) in units {
            let limit = max(until - now, Daemon.thawLimitMin)
            for failure in UnitManager.thaw(units.map(\.name), of: manager, within: limit) {
                log.say(.unitNotThawed, [.unit: failure.unit, .reason: "\(failure)"])
                left.formUnion(units.filter { $0.name == failure.unit })
            }
        }
        unitsLeftFrozen = left
        return left
    }

    /// Tries once more to thaw what the start could not, and again later.
    func thawLeftUnits() {
        guard !unitsLeftFrozen.isEmpty else { return }
        for unit in unitsLeftFrozen.subtracting(adoptedUnits) {
            unitManager(manager(of: unit)).thaw(unit: unit.name) { [weak self] result in
                if case .success = result { self?.unitsLeftFrozen.remove(unit) }
            }
        }
        do {
            let timer =
                try thawTimer
                ?? loop.addTimer(priority: .clients) { [unowned self] in thawLeftUnits() }
            thawTimer = timer
            try timer.arm(after: Daemon.thawRetry)
        } catch {
            log.say(.timerNotArmed, [.reason: "\(error)"])
        }
    }

    /// What all managers may hold up a start, and each at least.
    private static let thawLimit = Duration.seconds(5)
    private static let thawLimitMin = Duration.milliseconds(500)
    private static let thawRetry = Duration.seconds(10)

    func manager(of unit: BudgetCore.AdoptedUnit) -> UnitManager.Manager {
        guard let user = unit.user else { return .system }
        return user == configuration.user ? .user : .userOf(user)
    }

    /// Has the units of an application that has ended thawed for their managers, which may take what comes after
    /// it there for frozen.
    func thawUnitsOfEnded(_ application: RunningApplication) {
        for unit in application.units {
            unit.manager.thaw(unit: unit.name) { [weak self] result in
                if case .failure(let error) = result { self?.say(error, of: application) }
            }
        }
    }

    private func say(_ failure: UnitFailure, of application: RunningApplication) {
        log.say(
            .unitNotThawed,
            [
                .application: application.key.id, .owner: "\(application.key.owner)",
                .unit: failure.unit, .reason: "\(failure)",
            ])
    }
}
