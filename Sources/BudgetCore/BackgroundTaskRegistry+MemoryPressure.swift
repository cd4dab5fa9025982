extension BackgroundTaskRegistry {
    /// Memory is short: suspended applications are killed, the least recently used first, and none that is
    /// not suspended.
    ///
    /// - Parameters:
    ///   - owner: whose applications; `nil`: everybody's.
    ///   - count: at most so many.
    /// - Returns: those that are being killed.
    package mutating func memoryPressure(
        on owner: OwnerID?, count: Int, at now: Instant, _ actions: inout [Action]
    ) -> [ApplicationKey] {
        let enforces = applicationRules.enforces
        let suspended = applications.keys.compactMap { applications[$0] }.filter {
            guard owner == nil || $0.key.owner == owner, let run = $0.run else { return false }
            return enforces ? run.phase == .frozen : run.wouldBeSuspended
        }
        let chosen = suspended.sorted { $0.lastUse < $1.lastUse }.prefix(max(count, 0)).map(\.key)
        guard enforces else {
            for key in chosen { note(key, .wouldEnd(.memoryPressure), &actions) }
            return []
        }
        for key in chosen { end(key, .memoryPressure, at: now, &actions) }
        return chosen
    }

    package func isSuspended(_ key: ApplicationKey) -> Bool {
        applications[key]?.run?.phase == .frozen
    }

    package var suspendedApplicationCount: Int { applications.frozenCount }

    /// Whether memory pressure would find an application to end, or to name where nothing is enforced.
    package var looksAtMemory: Bool { applications.frozenCount + applications.heldBackCount > 0 }
}
