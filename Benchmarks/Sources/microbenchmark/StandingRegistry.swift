internal import BudgetCore

extension BackgroundTaskRegistry {
    /// A registry without limits that matter here.
    ///
    /// - Parameter slots: run tasks that run at once.
    static func empty(slots: Int = 1) throws -> BackgroundTaskRegistry {
        var limits = RegistryLimits()
        limits.tasksPerOwnerMax = .max
        limits.queueDepthMax = .max
        limits.queueDepthPerOwnerMax = .max
        limits.workBytesPerOwnerMax = .max
        limits.slots = slots
        guard let budget = Budget(duration: .seconds(180), grace: .seconds(5)) else {
            throw Surprise.noBudget
        }
        let profile = Profile(
            name: Profile.defaultName, budget: budget, lifetimeMax: .seconds(600))
        return BackgroundTaskRegistry(
            limits: limits, profiles: [profile], identifiers: 1...(1 << 40))
    }

    /// The same with so many live tasks of one owner, a thousand a holder, which began at the instant 0.
    /// Their ids are those from 1 on.
    static func standing(_ count: Int) throws -> BackgroundTaskRegistry {
        var registry = try empty()
        var actions: [Action] = []
        for number in 0..<count {
            let holder = HolderID(rawValue: UInt64(2 + number / 1000))
            let request = BeginRequest(name: "standing", owner: .measured, holder: holder)
            _ = try registry.begin(request, at: .start, &actions)
            actions.removeAll(keepingCapacity: true)
        }
        return registry
    }
}

extension OwnerID {
    /// The owner of what is measured.
    static let measured = OwnerID(rawValue: 1000)
}

extension Caller {
    /// The same as a caller.
    static let measured = Caller(owner: .measured)
}

extension Instant {
    /// When everything starts.
    static let start = Instant(nanoseconds: 0)
}
