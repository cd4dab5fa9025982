internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd

/// A unit that an adopted application lives in, with its service manager.
struct ManagedUnit {
    let unit: BudgetCore.AdoptedUnit
    /// The folder of its control group, by which its processes were found in it.
    let group: String
    let manager: UnitManager

    var name: String { unit.name }
}

/// Has the service managers freeze and thaw the units that adopted applications live in.
final class UnitFreezer {
    /// What all managers may hold up a start, and each at least.
    private static let startLimit = Duration.seconds(5)
    private static let startLimitMin = Duration.milliseconds(500)
    /// What a manager that does not answer costs an order.
    private static let limit = Duration.seconds(5)
    private static let retryInterval = Duration.seconds(10)

    private let loop: EventLoop
    private let user: UInt32
    private let log: Logger
    private let closers: Closers
    /// By their users; `nil` is the system's.
    private var managers: [UInt32?: UnitManager] = [:]
    /// Units that applications live in, those included that are being looked at.
    private var taken: Set<BudgetCore.AdoptedUnit> = []
    /// What an earlier daemon left frozen and could not be thawed yet.
    private var leftFrozen: Set<BudgetCore.AdoptedUnit> = []
    private var retryTimer: TimerSource?

    /// - Parameter user: whom the daemon runs as.
    init(_ loop: EventLoop, _ closers: Closers, user: UInt32, _ log: Logger) {
        self.loop = loop
        self.closers = closers
        self.user = user
        self.log = log
    }

    // MARK: - Whose a unit is

    func isTaken(_ unit: BudgetCore.AdoptedUnit) -> Bool { taken.contains(unit) }

    /// The units are an application's, or are going to be.
    func take(_ units: [ManagedUnit]) { taken.formUnion(units.map(\.unit)) }

    /// The units are nobody's any more.
    func letGo(_ units: [ManagedUnit]) { taken.subtract(units.map(\.unit)) }

    /// The application of the units has ended: they are thawed for their managers, which may take what comes after it
    /// there for frozen.
    func release(_ units: [ManagedUnit], of key: ApplicationKey) {
        letGo(units)
        thaw(units, of: key) {}
    }

    /// The conversation with the service manager of a unit, the same for all its units.
    func manager(of unit: BudgetCore.AdoptedUnit) -> UnitManager {
        if let known = managers[unit.user] { return known }
        let made = UnitManager(at: address(ofManagerOf: unit.user), loop: loop, limit: Self.limit)
        managers[unit.user] = made
        return made
    }

    private func address(ofManagerOf user: UInt32?) -> ManagerAddress {
        guard let user else { return ManagerAddress(of: .system) }
        guard user != self.user else { return ManagerAddress(of: .user) }
        return ManagerAddress(ofUser: user) { [closers] path, user throws(SystemdError) in
            do throws(SystemError) {
                return try closers.connect(to: path, as: user).take()
            } catch {
                throw SystemdError(operation: error.operation, errno: error.errno, subject: path)
            }
        }
    }

    // MARK: - Freezing

    /// Freezes all units of an application, or thaws them.
    ///
    /// - Parameter answered: called once all managers have answered, with what the first failure was.
    func setFrozen(
        _ isFrozen: Bool, _ units: [ManagedUnit], of key: ApplicationKey,
        answered: @escaping (String?) -> Void
    ) {
        var remaining = units.count
        var failure: UnitFailure?
        for unit in units {
            let completion: (Result<Void, UnitFailure>) -> Void = { result in
                remaining -= 1
                // Nobody is left in a unit that is there no more.
                if case .failure(let error) = result, error.errorName != UnitFailure.noSuchUnit {
                    failure = failure ?? error
                }
                if remaining == 0 { answered(failure.map { "\($0)" }) }
            }
            if isFrozen {
                unit.manager.freeze(unit: unit.name, completion: completion)
            } else {
                unit.manager.thaw(unit: unit.name, completion: completion)
            }
        }
    }

    /// Thaws all units of an application; what fails is logged.
    func thaw(
        _ units: [ManagedUnit], of key: ApplicationKey, done: @escaping () -> Void
    ) {
        var remaining = units.count
        for unit in units {
            unit.manager.thaw(unit: unit.name) { [log] result in
                remaining -= 1
                if case .failure(let failure) = result {
                    log.say(
                        .unitNotThawed,
                        [
                            .application: key.id, .owner: "\(key.owner)", .unit: failure.unit,
                            .reason: "\(failure)",
                        ])
                }
                if remaining == 0 { done() }
            }
        }
    }

    // MARK: - What an earlier daemon left

    /// Thaws what an earlier daemon left frozen, before anybody is served; a manager that does not answer holds the
    /// start up for some seconds.
    ///
    /// - Returns: those that may be frozen still; they are tried again while it serves.
    func thawLeftovers(_ units: [BudgetCore.AdoptedUnit]) -> Set<BudgetCore.AdoptedUnit> {
        let units = Dictionary(grouping: units, by: \.user)
        let until = Instant.measured() + Self.startLimit
        for (user, units) in units {
            let limit = max(until - Instant.measured(), Self.startLimitMin)
            for failure in UnitManager.thaw(
                units.map(\.name), at: address(ofManagerOf: user), within: limit)
            {
                log.say(.unitNotThawed, [.unit: failure.unit, .reason: "\(failure)"])
                leftFrozen.formUnion(units.filter { $0.name == failure.unit })
            }
        }
        return leftFrozen
    }

    /// Tries once more to thaw what the start could not, and again later.
    func retryLeftovers() {
        guard !leftFrozen.isEmpty else { return }
        for unit in leftFrozen.subtracting(taken) {
            manager(of: unit).thaw(unit: unit.name) { [weak self] result in
                if case .success = result { self?.leftFrozen.remove(unit) }
            }
        }
        do {
            let timer =
                try retryTimer
                ?? loop.addTimer(priority: .clients) { [unowned self] in retryLeftovers() }
            retryTimer = timer
            try timer.arm(after: Self.retryInterval)
        } catch {
            log.say(.timerNotArmed, [.reason: "\(error)"])
        }
    }
}
