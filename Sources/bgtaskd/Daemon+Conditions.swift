internal import BudgetCore
internal import Logging
internal import Systemd

// What queued tasks wait for, besides slots and times.
extension Daemon {
    /// Has the conditions followed that queued tasks wait for, and no others.
    func followConditions(at now: Instant) {
        let wanted = registry.isDraining ? [] : registry.wantedConditions
        guard wanted != sensors.wanted else { return }
        sensors.want(wanted)
        takeConditions(at: now)
    }

    /// A sensor's turn: it has read its condition.
    func conditionsRead() {
        let now = now
        takeConditions(at: now)
        endTurn(at: now)
    }

    private func takeConditions(at now: Instant) {
        registry.conditionReadings = sensors.readings.mapValues(\.text)
        let conditions = sensors.conditions
        let changed = conditions.symmetricDifference(registry.conditions)
        guard !changed.isEmpty else { return }
        for (condition, reading) in sensors.readings.sorted(by: {
            $0.key.rawValue < $1.key.rawValue
        })
        where changed.contains(condition) {
            log.say(.conditionChanged, [.reason: "\(condition.text): \(reading.text)"])
        }
        registry.conditionsChanged(to: conditions, at: now, &actions)
    }
}
