internal import BudgetCore

/// The columns of an end, in `tasks` and in `attempts`.
struct EndRow {
    var endedAtUs: Int64?
    var outcome: Int64?
    var exitStatus: Int64?
    var exitSignal: Int64?
    var reason: String?
    var reasonOwner: Int64?
    var reasonText: String?
    var usedMs: Int64?
    var cpuMs: Int64?
    var memoryPeakBytes: Int64?
    var warnedAtUs: Int64?

    mutating func visit<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try row.column("ended_at_us", &endedAtUs)
        try row.column("outcome", &outcome)
        try row.column("exit_status", &exitStatus)
        try row.column("exit_signal", &exitSignal)
        try row.column("reason", &reason)
        try row.column("reason_uid", &reasonOwner)
        try row.column("reason_text", &reasonText)
        try row.column("used_ms", &usedMs)
        try row.column("cpu_ms", &cpuMs)
        try row.column("memory_peak_bytes", &memoryPeakBytes)
        try row.column("warned_at_us", &warnedAtUs)
    }
}

extension EndRow {
    init(_ end: StoredEnd) {
        endedAtUs = end.at.microseconds
        outcome = end.outcome.code
        switch end.exit {
        case .status(let status): exitStatus = Int64(status)
        case .signal(let signal): exitSignal = Int64(signal.rawValue)
        case nil: break
        }
        usedMs = milliseconds(end.used)
        cpuMs = end.cpu.map(milliseconds)
        memoryPeakBytes = end.memoryPeakBytes.map { Int64($0) }
        warnedAtUs = end.warnedAt?.microseconds
        setReason(end.reason)
    }

    private mutating func setReason(_ value: Reason?) {
        guard let value else { return }
        switch value {
        case .budgetSpent: reason = "budgetSpent"
        case .applicationTimeSpent: reason = "applicationTimeSpent"
        case .simulated: reason = "simulated"
        case .shutdown: reason = "shutdown"
        case .daemonAway: reason = "daemonAway"
        case .executorStop: reason = "executorStop"
        case .connectionClosed: reason = "connectionClosed"
        case .processExited: reason = "processExited"
        case .queueLost: reason = "queueLost"
        case .daemonLost: reason = "daemonLost"
        case .recorded(let text):
            reason = "recorded"
            reasonText = text
        case .cancelled(let owner, let text):
            reason = "cancelled"
            reasonOwner = Int64(owner.rawValue)
            reasonText = text
        case .notStarted(let text):
            reason = "notStarted"
            reasonText = text
        case .predecessor(let broken):
            reason = "predecessor"
            reasonText = "\(broken.id)" + (broken.outcome.map { " \($0.code)" } ?? "")
        }
    }

    /// The end that the columns describe; `nil` where they say that there is none.
    func end(_ check: RowCheck) throws(StoreError) -> StoredEnd? {
        guard let endedAtUs else { return nil }
        return StoredEnd(
            at: WallTime(microseconds: endedAtUs),
            outcome: try check.known(outcome.flatMap(Outcome.init(code:)), "outcome"),
            exit: try exit(check),
            reason: try reason(check),
            warnedAt: warnedAtUs.map(WallTime.init(microseconds:)),
            used: .milliseconds(usedMs ?? 0),
            cpu: cpuMs.map { .milliseconds($0) },
            memoryPeakBytes: memoryPeakBytes.map { Int($0) })
    }

    private func exit(_ check: RowCheck) throws(StoreError) -> ProcessExit? {
        if let status: Int32 = try check.number(exitStatus, "exit_status") {
            return .status(status)
        }
        return try check.number(exitSignal, "exit_signal").map {
            .signal(SignalNumber(rawValue: $0))
        }
    }

    private func reason(_ check: RowCheck) throws(StoreError) -> Reason? {
        switch reason {
        case nil: return nil
        case "budgetSpent": return .budgetSpent
        case "applicationTimeSpent": return .applicationTimeSpent
        case "simulated": return .simulated
        case "shutdown": return .shutdown
        case "daemonAway": return .daemonAway
        case "executorStop": return .executorStop
        case "connectionClosed": return .connectionClosed
        case "processExited": return .processExited
        case "queueLost": return .queueLost
        case "daemonLost": return .daemonLost
        case "predecessor":
            return .predecessor(
                try check.known(BrokenDependency(recorded: reasonText ?? ""), "reason_text"))
        case "notStarted": return .notStarted(reasonText ?? "")
        case "cancelled":
            let owner: UInt32? = try check.number(reasonOwner, "reason_uid")
            let known = try check.known(owner, "reason_uid")
            return .cancelled(by: OwnerID(rawValue: known), text: reasonText)
        default: return .recorded(reasonText ?? reason ?? "")
        }
    }
}

extension BrokenDependency {
    /// - Parameter text: the id, and the number of the outcome where that is known.
    fileprivate init?(recorded text: String) {
        let words = text.split(separator: " ")
        guard let first = words.first, let id = UInt64(first) else { return nil }
        self.init(
            TaskID(rawValue: id),
            words.dropFirst().first.flatMap { Int64($0) }.flatMap { Outcome(code: $0) })
    }
}

extension Outcome {
    /// The number in the database, which must never change its meaning.
    var code: Int64 {
        switch self {
        case .completed: 0
        case .failed: 1
        case .expired: 2
        case .overrun: 3
        case .cancelled: 4
        case .abandoned: 5
        case .interrupted: 6
        }
    }

    init?(code: Int64) {
        guard let outcome = Outcome.allCases.first(where: { $0.code == code }) else { return nil }
        self = outcome
    }
}
