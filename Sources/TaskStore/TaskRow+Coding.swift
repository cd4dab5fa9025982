internal import BudgetCore

extension TaskRow {
    init(_ task: StoredTask) {
        id = Int64(clamping: task.id.rawValue)
        owner = Int64(task.owner.rawValue)
        name = task.name
        application = task.application
        profile = task.profile
        durationMs = task.budget.map { millisecondsUp($0.duration) }
        graceMs = milliseconds(task.grace)
        lifetimeMaxMs = task.lifetimeMax.map(milliseconds)
        isCutByLifetime = task.isCutByLifetime ? 1 : 0
        submittedAtUs = task.submittedAt.microseconds
        queuedAtUs = task.queuedAt.microseconds
        startedAtUs = task.startedAt?.microseconds
        attempt = Int64(task.attempt)
        isCancelled = task.isCancelled ? 1 : 0
        setWork(task.work)
        setQueueing(task.queueing)
        if let ended = task.end { end = EndRow(ended) }
    }

    private mutating func setWork(_ work: Work) {
        command = JSONText.array(of: work.command)
        directory = work.directory
        environment = work.environment.isEmpty ? nil : JSONText.object(of: work.environment)
        handlerSignal = work.expiration.signal.map { Int64($0.rawValue) }
        handlerCommand = work.expiration.command.map(JSONText.array)
        let submitter = work.submitter
        primaryGroup = submitter.groups.map { Int64($0.primary) }
        supplementaryGroups = submitter.groups.map { JSONText.array(of: $0.supplementary) }
        userName = submitter.name
        noNewPrivileges = submitter.hasNoNewPrivileges ? 1 : 0
    }

    private mutating func setQueueing(_ queueing: Queueing) {
        group = queueing.group
        priority = Int64(queueing.priority)
        earliestBeginMs = queueing.earliestBegin.map(millisecondsUp)
        let words = queueing.conditions.words
        conditions = words.isEmpty ? nil : JSONText.array(of: words)
        minimumIntervalMs = queueing.minimumInterval.map(millisecondsUp)
        unique = queueing.unique?.word
        retryAttempts = queueing.retry.map { Int64($0.attempts) }
        retryDelayMs = queueing.retry.map { millisecondsUp($0.delay) }
        retryOnInterruption = queueing.retry.map { $0.onInterruption ? 1 : 0 }
    }

    /// The task that the row describes.
    func task(_ path: String) throws(StoreError) -> StoredTask {
        let check = RowCheck(path: path, subject: "task \(id)")
        let grace = Duration.milliseconds(graceMs)
        var budget: Budget?
        if let durationMs {
            let made = Budget(duration: .milliseconds(durationMs), grace: grace)
            budget = try check.known(made, "duration_ms")
        }
        var task = StoredTask(
            id: TaskID(rawValue: try check.known(UInt64(exactly: id), "id")),
            owner: OwnerID(rawValue: try check.known(UInt32(exactly: owner), "owner")),
            name: name,
            application: application,
            profile: profile,
            budget: budget,
            grace: grace,
            lifetimeMax: lifetimeMaxMs.map { .milliseconds($0) },
            isCutByLifetime: isCutByLifetime != 0,
            work: try work(check),
            queueing: try queueing(check),
            submittedAt: WallTime(microseconds: submittedAtUs),
            startedAt: startedAtUs.map(WallTime.init(microseconds:))
        )
        task.queuedAt = WallTime(microseconds: queuedAtUs)
        task.attempt = Int(attempt)
        task.isCancelled = isCancelled != 0
        task.end = try end.end(check)
        return task
    }

    private func work(_ check: RowCheck) throws(StoreError) -> Work {
        var work = Work(command: try check.known(JSONText.strings(command), "command"))
        work.directory = directory
        if let environment {
            work.environment = try check.known(JSONText.members(environment), "environment")
        }
        work.expiration.signal = try check.number(handlerSignal, "handler_signal").map {
            SignalNumber(rawValue: $0)
        }
        if let handlerCommand {
            work.expiration.command = try check.known(
                JSONText.strings(handlerCommand), "handler_command")
        }
        work.submitter = Submitter(
            name: userName, groups: try check.groups(primaryGroup, supplementaryGroups),
            hasNoNewPrivileges: noNewPrivileges != 0)
        return work
    }

    private func queueing(_ check: RowCheck) throws(StoreError) -> Queueing {
        var queueing = Queueing()
        queueing.group = group
        queueing.priority = Int(priority)
        queueing.earliestBegin = earliestBeginMs.map { .milliseconds($0) }
        queueing.minimumInterval = minimumIntervalMs.map { .milliseconds($0) }
        if let conditions {
            let words = try check.known(JSONText.strings(conditions), "conditions")
            queueing.conditions = try check.known(Conditions(words: words), "conditions")
        }
        if let unique {
            queueing.unique = try check.known(Uniqueness(word: unique), "unique_name")
        }
        if let retryAttempts {
            queueing.retry = Retry(
                attempts: Int(retryAttempts),
                delay: retryDelayMs.map { .milliseconds($0) },
                onInterruption: retryOnInterruption == 1)
        }
        return queueing
    }
}

/// Says which row and column hold a value that the store would not have written.
struct RowCheck {
    let path: String
    let subject: String

    func known<Value>(_ value: Value?, _ column: String) throws(StoreError) -> Value {
        if let value { return value }
        throw .damaged(
            "read", path, "the \(column) of \(subject) makes no sense; \(StoreError.remedy)")
    }

    func number<Value: FixedWidthInteger>(
        _ value: Int64?, _ column: String
    ) throws(StoreError) -> Value? {
        guard let value else { return nil }
        return try known(Value(exactly: value), column)
    }

    /// The groups of a submitter; `nil` where none are recorded.
    func groups(
        _ primary: Int64?, _ supplementary: String?
    ) throws(StoreError) -> SubmitterGroups? {
        guard let primary: UInt32 = try number(primary, "primary_gid") else { return nil }
        let numbers = supplementary.flatMap(JSONText.numbers)
        return SubmitterGroups(
            primary: primary, supplementary: try known(numbers, "supplementary_gids"))
    }
}

/// Rounded down, saturating.
func milliseconds(_ duration: Duration) -> Int64 {
    Int64(duration.wholeMilliseconds)
}

/// Rounded up, saturating.
func millisecondsUp(_ duration: Duration) -> Int64 {
    let whole = milliseconds(duration)
    return whole < .max && .milliseconds(whole) < duration ? whole + 1 : whole
}
