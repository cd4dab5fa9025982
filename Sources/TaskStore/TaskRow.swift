internal import BudgetCore

/// The columns of the table `tasks`, which are listed here alone.
struct TaskRow {
    var id: Int64 = 0
    var owner: Int64 = 0
    var name = ""
    var application: String?
    var profile = ""
    var durationMs: Int64?
    var graceMs: Int64 = 0
    var lifetimeMaxMs: Int64?
    var isCutByLifetime: Int64 = 0
    var command = ""
    var directory: String?
    var environment: String?
    var handlerSignal: Int64?
    var handlerCommand: String?
    var primaryGroup: Int64?
    var supplementaryGroups: String?
    var userName: String?
    var noNewPrivileges: Int64 = 0
    var input: String?
    var group: String?
    var priority: Int64 = 0
    var earliestBeginMs: Int64?
    var conditions: String?
    var minimumIntervalMs: Int64?
    var unique: String?
    var retryAttempts: Int64?
    var retryDelayMs: Int64?
    var retryOnInterruption: Int64?
    var slots: Int64 = 1
    var isPaused: Int64 = 0
    var afterCompleted: String?
    var afterEnded: String?
    var restartOf: Int64?
    var submittedAtUs: Int64 = 0
    var queuedAtUs: Int64 = 0
    var startedAtUs: Int64?
    var attempt: Int64 = 0
    var isCancelled: Int64 = 0
    var executor: String?
    var end = EndRow()

    mutating func visit<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try visitLive(&row)
        try end.visit(&row)
    }

    /// All but the end.
    mutating func visitLive<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try row.column("id", &id)
        try row.column("owner", &owner)
        try row.column("name", &name)
        try row.column("application", &application)
        try row.column("profile", &profile)
        try row.column("duration_ms", &durationMs)
        try row.column("grace_ms", &graceMs)
        try row.column("lifetime_max_ms", &lifetimeMaxMs)
        try row.column("is_cut_by_lifetime", &isCutByLifetime)
        try visitWork(&row)
        try visitQueueing(&row)
        try row.column("submitted_at_us", &submittedAtUs)
        try row.column("queued_at_us", &queuedAtUs)
        try row.column("started_at_us", &startedAtUs)
        try row.column("attempt", &attempt)
        try row.column("is_cancelled", &isCancelled)
        try row.column("executor", &executor)
    }

    private mutating func visitWork<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try row.column("command", &command)
        try row.column("directory", &directory)
        try row.column("environment", &environment)
        try row.column("handler_signal", &handlerSignal)
        try row.column("handler_command", &handlerCommand)
        try row.column("primary_gid", &primaryGroup)
        try row.column("supplementary_gids", &supplementaryGroups)
        try row.column("user_name", &userName)
        try row.column("no_new_privs", &noNewPrivileges)
        try row.column("input", &input)
    }

    private mutating func visitQueueing<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try row.column("group_name", &group)
        try row.column("priority", &priority)
        try row.column("earliest_begin_ms", &earliestBeginMs)
        try row.column("conditions", &conditions)
        try row.column("minimum_interval_ms", &minimumIntervalMs)
        try row.column("unique_name", &unique)
        try row.column("retry_attempts", &retryAttempts)
        try row.column("retry_delay_ms", &retryDelayMs)
        try row.column("retry_on_interruption", &retryOnInterruption)
        try row.column("slots", &slots)
        try row.column("is_paused", &isPaused)
        try row.column("after_completed", &afterCompleted)
        try row.column("after_ended", &afterEnded)
        try row.column("restart_of", &restartOf)
    }
}

extension TaskRow {
    /// The columns of when it may run, and no others.
    init(_ queueing: Queueing) {
        setQueueing(queueing)
    }

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
        executor = task.executor?.stored
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
        input = work.input
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
        slots = Int64(queueing.slots)
        isPaused = queueing.isPaused ? 1 : 0
        restartOf = queueing.restartOf.map { Int64(clamping: $0.rawValue) }
        guard !queueing.after.isEmpty else { return }
        afterCompleted = Self.text(of: queueing.after.filter { !$0.anyOutcome })
        afterEnded = Self.text(of: queueing.after.filter(\.anyOutcome))
    }

    private static func text(of predecessors: [Predecessor]) -> String? {
        predecessors.isEmpty
            ? nil : JSONText.array(of: predecessors.map { Int64(clamping: $0.id.rawValue) })
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
        task.executor = try executor.map { text throws(StoreError) in
            try check.known(ExecutorInstance(stored: text), "executor")
        }
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
        work.input = input
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
        queueing.slots = try check.known(Int(exactly: slots), "slots")
        queueing.isPaused = isPaused != 0
        queueing.restartOf = try check.number(restartOf, "restart_of").map {
            TaskID(rawValue: $0)
        }
        if let afterCompleted {
            queueing.after = try predecessors(afterCompleted, "after_completed", false, check)
        }
        if let afterEnded {
            queueing.after += try predecessors(afterEnded, "after_ended", true, check)
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

    private func predecessors(
        _ text: String, _ column: String, _ anyOutcome: Bool, _ check: RowCheck
    ) throws(StoreError) -> [Predecessor] {
        let ids: [UInt64] = try check.known(JSONText.numbers(text), column)
        return ids.map { Predecessor(TaskID(rawValue: $0), anyOutcome: anyOutcome) }
    }
}
