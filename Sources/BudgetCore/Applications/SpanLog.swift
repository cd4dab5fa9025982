/// Takes down in which state each application is, and was since that was last asked for.
///
/// What begins and ends in the same instant is no span: an application that goes through a state on its way to another
/// was never in it.
package struct SpanLog: Sendable {
    /// The spans that go on.
    private var present: [ApplicationKey: ApplicationSpan] = [:]
    /// What has begun or ended since `take`, by number.
    private var changed: [UInt64: ApplicationSpan] = [:]
    /// Those among it that ended last, of each application.
    private var ended: [ApplicationKey: UInt64] = [:]
    private var numberLast: UInt64 = 0

    package init() {}

    /// The numbers that were given so far.
    var numbers: UInt64 { numberLast }

    /// The span of an application that goes on.
    package subscript(key: ApplicationKey) -> ApplicationSpan? { present[key] }

    /// An application is known from now on.
    package mutating func begin(
        _ key: ApplicationKey, _ state: ApplicationState, reason: TerminationReason? = nil,
        at boot: BootInstant
    ) {
        numberLast += 1
        put(
            ApplicationSpan(
                number: numberLast, key: key, state: state, beganAt: boot, reason: reason))
    }

    /// An application is in another state from now on, where it is.
    ///
    /// - Parameter reason: why its run has ended.
    package mutating func move(
        _ key: ApplicationKey, to state: ApplicationState, reason: TerminationReason?,
        at boot: BootInstant
    ) {
        guard var span = present[key], span.state != state else { return }
        guard boot <= span.beganAt else {
            close(span, at: boot)
            return begin(key, state, reason: reason, at: boot)
        }
        // It was never in that state. Where it is back in the one before, that went on all the time.
        if changed[span.number] != nil, let number = ended[key], var before = changed[number],
            before.state == state, reason == nil
        {
            changed[span.number] = nil
            ended[key] = nil
            before.endedAt = nil
            return put(before)
        }
        (span.state, span.reason) = (state, reason)
        put(span)
    }

    /// An application is known no longer.
    package mutating func end(_ key: ApplicationKey, at boot: BootInstant) {
        guard let span = present.removeValue(forKey: key) else { return }
        close(span, at: boot)
    }

    /// What has begun or ended since this was last called, in the order of the numbers.
    package mutating func take() -> [ApplicationSpan] {
        guard !changed.isEmpty else { return [] }
        defer { (changed, ended) = ([:], [:]) }
        return changed.values.sorted { $0.number < $1.number }
    }

    // MARK: - After an earlier daemon

    /// Takes over what an earlier daemon wrote. Of an application that has several the last goes on; the others were
    /// cut, by a daemon that could not write.
    package mutating func restore(_ found: RestoredSpans) {
        numberLast = found.numberLast
        for span in found.open {
            if var cut = present[span.key] {
                cut.seenAt = cut.beganAt
                close(cut, at: max(span.beganAt, cut.beganAt))
            }
            present[span.key] = span
        }
    }

    /// An application is there after all, and does not run.
    ///
    /// - Parameters:
    ///   - wasRunning: whether the earlier daemon had left it running; then nobody knows when that ended.
    ///   - last: how its last run ended, as the disk has it.
    package mutating func resume(
        _ key: ApplicationKey, wasRunning: Bool, _ last: Termination?, seenAt: BootInstant?,
        at boot: BootInstant
    ) {
        guard let span = present[key] else {
            // Nothing is known of the run but that it is over.
            if wasRunning { return begin(key, .notRunning, reason: .interrupted, at: boot) }
            return begin(
                key, .notRunning, reason: last?.reason, at: min(last?.endedAt ?? boot, boot))
        }
        if wasRunning {
            cut(span, seenAt: seenAt, at: boot)
            return begin(key, .notRunning, reason: .interrupted, at: boot)
        }
        guard span.state != .notRunning else { return }
        // The disk knew of the end of the run, and not yet of this.
        let endedAt = min(max(last?.endedAt ?? boot, span.beganAt), boot)
        close(span, at: endedAt)
        begin(key, .notRunning, reason: last?.reason, at: endedAt)
    }

    /// An application is there after all, and its run goes on, in which it may have gone to another state meanwhile.
    mutating func goOn(_ key: ApplicationKey, _ state: ApplicationState, at boot: BootInstant) {
        guard present[key] != nil else { return begin(key, state, at: boot) }
        move(key, to: state, reason: nil, at: boot)
    }

    /// Ends what went on of applications that nobody knows any more.
    ///
    /// - Parameter isKnown: whether somebody does.
    package mutating func cut(
        seenAt: BootInstant?, at boot: BootInstant, unless isKnown: (ApplicationKey) -> Bool
    ) {
        let gone = present.keys.filter { !isKnown($0) }
        for key in gone {
            guard let span = present.removeValue(forKey: key) else { continue }
            cut(span, seenAt: seenAt, at: boot)
        }
    }

    private mutating func cut(
        _ span: ApplicationSpan, seenAt: BootInstant?, at boot: BootInstant
    ) {
        var span = span
        span.seenAt = min(max(seenAt ?? span.beganAt, span.beganAt), boot)
        close(span, at: boot)
    }

    private mutating func close(_ span: ApplicationSpan, at boot: BootInstant) {
        var span = span
        span.endedAt = max(boot, span.beganAt)
        changed[span.number] = span
        ended[span.key] = span.number
    }

    private mutating func put(_ span: ApplicationSpan) {
        present[span.key] = span
        changed[span.number] = span
    }
}
