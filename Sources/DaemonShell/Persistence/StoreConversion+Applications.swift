internal import BudgetCore
package import TaskStore

extension StoredApplication {
    init(_ key: ApplicationKey, _ record: ApplicationRecord, _ clocks: ClockPair) {
        self.init(
            key: key, registration: record.registration, badge: record.badge,
            isRunning: record.isRunning, run: record.run, units: record.units,
            lastTermination: record.lastTermination.map { StoredTermination($0, clocks) })
    }
}

extension StoredTermination {
    fileprivate init(_ termination: Termination, _ clocks: ClockPair) {
        self.init(
            at: clocks.time(at: termination.endedAt), reason: termination.reason,
            exit: termination.exit, held: termination.held, background: termination.background)
    }
}

extension StoredSpan {
    init(_ span: ApplicationSpan, _ clocks: ClockPair) {
        self.init(
            number: span.number, key: span.key, state: span.state,
            beganAt: clocks.time(at: span.beganAt), endedAt: span.endedAt.map(clocks.time),
            seenAt: span.seenAt.map(clocks.time), reason: span.reason)
    }
}

extension RestoredSpans {
    init(_ stored: OpenSpans, _ clocks: ClockPair) {
        self.init(
            open: stored.spans.map { span in
                ApplicationSpan(
                    number: span.number, key: span.key, state: span.state,
                    beganAt: clocks.boot(at: span.beganAt), reason: span.reason)
            },
            numberLast: stored.numberLast, seenAt: stored.seenAt.map(clocks.boot))
    }
}

extension ApplicationRecord {
    package init(_ stored: StoredApplication, _ clocks: ClockPair) {
        self.init(registration: stored.registration)
        badge = stored.badge
        isRunning = stored.isRunning
        run = stored.run
        units = stored.units
        lastTermination = stored.lastTermination.map { Termination($0, clocks) }
    }
}

extension Termination {
    fileprivate init(_ stored: StoredTermination, _ clocks: ClockPair) {
        self.init(
            reason: stored.reason, exit: stored.exit, held: stored.held,
            background: stored.background, endedAt: clocks.boot(at: stored.at))
    }
}
