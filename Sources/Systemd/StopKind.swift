/// What the service manager wants with a stop of this process.
///
/// SIGTERM does not say it: it is the same for `systemctl stop`, where nothing may be left, and for `systemctl restart`,
/// after which the next process goes on. The manager knows by the job that our unit has meanwhile.
package enum StopKind: Equatable, Sendable {
    /// The unit is to be down: `systemctl stop`, the end of the system or of the user's manager.
    case stop
    /// Another process follows this one.
    case restart
    /// The manager has no such job, or has not said so in time. The words are for a log.
    case unknown(String)

    /// How long a stop can wait for the answer, for which a busy machine takes its time: without it the commands of a unit
    /// that is stopped would go on.
    package static let usualLimit = Duration.seconds(5)

    /// Asks the manager for it, without holding up the loop.
    ///
    /// - Parameters:
    ///   - manager: the one that has started this process.
    ///   - limit: for the whole answer; what comes later is ``unknown(_:)``.
    ///   - completion: called once, from the loop, or at once where that has ended.
    package static func ask(
        scope manager: UnitManager.Manager, loop: EventLoop, limit: Duration = usualLimit,
        completion: @escaping (StopKind) -> Void
    ) {
        ask(at: ManagerAddress(of: manager), loop: loop, limit: limit, completion: completion)
    }

    package static func ask(
        at address: ManagerAddress, loop: EventLoop, limit: Duration,
        completion: @escaping (StopKind) -> Void
    ) {
        let units = UnitManager(at: address, loop: loop, limit: limit)
        units.ownJobType { result in
            // It is kept by this closure alone, until the answer is there.
            withExtendedLifetime(units) { completion(StopKind(result)) }
        }
    }

    init(_ jobType: Result<String?, UnitFailure>) {
        switch jobType {
        case .success("stop"): self = .stop
        case .success("restart"), .success("try-restart"), .success("reload-or-restart"):
            self = .restart
        case .success(nil): self = .unknown("no job of the service manager is under way")
        case .success(let other?): self = .unknown("the service manager has a job of type \(other)")
        case .failure(let failure): self = .unknown("\(failure)")
        }
    }
}
