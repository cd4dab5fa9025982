import BudgetCore
import TestKit

// One daemon follows another.
extension ApplicationSimulation {
    mutating func restart() {
        guard !model.isDraining else { return }
        event = "restart"
        for span in held.registry.takeSpans() { spans[span.number] = span }
        let applications = model.names.compactMap { held.registry.applications[key($0)] }
        let records = applications.compactMap { application in
            application.saved.map { (key: application.key, record: $0) }
        }
        let running = found(of: applications)
        let numbers = held.registry.identifierLast.rawValue
        let asleep = held.registry.asleep
        held = Self.registry(
            isSingle: model.isSingle, identifiers: numbers + 1...numbers + 1_000_000)
        held.registry.asleep = asleep
        forgetCalls()
        model.restart()
        for name in model.names where model.app(name).phase == .off {
            guard seen[key(name)] ?? .notRunning != .notRunning else { continue }
            seen[key(name)] = .notRunning
            course[key(name), default: []].append((.notRunning, held.registry.boot(at: now)))
        }
        let open = spans.values.filter { $0.endedAt == nil }.sorted { $0.number < $1.number }
        let restored = RestoredSpans(
            open: open, numberLast: spans.keys.max() ?? 0, seenAt: held.registry.boot(at: now))
        held.registry.restore(
            applications: records, running: running, spans: restored, frozen: [], at: now,
            &actions)
    }

    /// What the program that runs commands has of them.
    private func found(of applications: [ManagedApplication]) -> [UInt64: FoundApplication] {
        var found: [UInt64: FoundApplication] = [:]
        for application in applications {
            guard let run = application.saved?.run,
                let times = held.registry.applicationTimes(of: application.key)
            else { continue }
            let isToStart = orders.contains { $0.key == application.key && $0.kind == .start }
            let isFrozen = application.run?.phase != .ending && application.state == .suspended
            found[run] = FoundApplication(
                hasStarted: !isToStart, isFrozen: isFrozen,
                notes: ApplicationNotes(words: times.notes.words))
        }
        return found
    }

    /// Nobody waits any more. What was ordered of launched ones is done still, but for freezes, which are called off.
    private mutating func forgetCalls() {
        waiting.formIntersection(answered)
        past = []
        orders.removeAll {
            $0.kind == .freeze || $0.kind == .thaw || model.app($0.key.id).isAdopted
        }
    }
}
