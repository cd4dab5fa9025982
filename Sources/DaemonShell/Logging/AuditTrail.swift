internal import BudgetCore
internal import LinuxSystem
package import Settings
package import Systemd

/// Logs each action once: what happened to a task, with the fields that it can be found by.
///
/// Programs go by MESSAGE_ID and the fields (docs/architecture.md, the journal); the message names the task for people.
package final class AuditTrail {
    let writer: JournalWriter
    /// What the log takes of each account, besides what its tasks print.
    private var allowance: EntryAllowance
    /// Whom each owner's entries count for.
    private var accounts = Accounts()

    package init(_ writer: JournalWriter, _ limits: Settings.Limits) {
        self.writer = writer
        allowance = EntryAllowance(perSecondMax: limits.auditRatePerOwnerMax)
    }

    func replaceAccounts(_ accounts: Accounts) { self.accounts = accounts }

    /// Has the log take so many entries of each account from now on.
    func limit(entriesPerSecond max: Int) { allowance.limit(perSecondMax: max) }

    /// When it is to be said what was left out; `nil` while nothing was.
    var nextReport: Instant? { allowance.nextReport }

    /// Counts an entry about an owner.
    ///
    /// - Returns: whether it may be written.
    func takesEntry(about owner: OwnerID, at now: Instant) -> Bool {
        allowance.take(accounts.account(of: owner), at: now)
    }

    /// Whether any line that a task prints could be logged.
    var logsOutput: Bool { writer.writes(LevelPrefix.mostUrgent) }

    /// Whether a task may be named for what happened to it; looked at before the whole of the task is.
    func takes(_ happening: Happening, _ task: TaskBrief) -> Bool {
        // Patterns, since `==` of another module's types is a call each time.
        switch (happening, task.outcome) {
        case (.queued, _), (.began, _), (_, .completed?):
            writer.writes(JournalMessage.quietLevel(of: task.kind))
        default: true
        }
    }

    /// Logs what happened to a task.
    func write(_ happening: Happening, _ record: TaskRecord, at now: Instant) {
        // A task that starts at once has not waited.
        if happening == .queued, record.task.state != .queued { return }
        guard let text = JournalMessage(happening, record), writer.writes(text.level),
            takesEntry(about: record.task.owner, at: now)
        else { return }
        writer.write(
            JournalEntry(
                level: text.level,
                message: .string("Task \(record.task.id) (\(record.task.name)) \(text.predicate)"),
                messageID: text.id,
                fields: fields(of: record, at: now)
                    + (happening == .attemptEnded ? fieldsOfLastAttempt(record) : [])
            ))
    }

    /// Whether the log takes a line of a task.
    ///
    /// A prefix lets a line through that its stream would not, and never keeps one out: whoever reads the
    /// log at its usual level misses nothing because a task calls it debug.
    func takes(_ line: OutputLine, _ stream: OutputStream) -> Bool {
        writer.writes(line.passingLevel(on: stream))
    }

    /// Passes a line that a task printed on.
    func output(_ line: OutputLine, _ stream: OutputStream, _ record: TaskRecord) {
        let entry = JournalEntry(
            .output,
            level: line.level ?? stream.level,
            message: .bytes(Array(line.text)),
            identifier: AuditTrail.identifier(ofOutputOf: record.task.owner),
            fields: identity(of: record.task) + [(.stream, .string(stream.rawValue))])
        writer.write(entry, as: line.passingLevel(on: stream))
    }

    /// What lines of an owner's commands have for a name in the journal: `bgtask-1001`. Under the daemon's own a
    /// reader of `journalctl -t bgtaskd`, or of a syslog file, could not tell them from its sentences.
    static func identifier(ofOutputOf owner: OwnerID) -> JournalValue {
        .string("bgtask-\(owner)")
    }

    /// Says how many lines of a task were left out.
    func outputNotLogged(_ count: Int, _ record: TaskRecord, at now: Instant) {
        guard writer.writes(.warning), takesEntry(about: record.task.owner, at: now) else { return }
        write(
            .warning, JournalMessage.outputNotLogged, "Lines of a task's output were not logged",
            identity(of: record.task) + [(.reason, .string("\(count) lines, over the rate"))])
    }

    /// Says how many old tasks were not named.
    func oldTasksNotNamed(_ count: Int) {
        write(
            .notice, JournalMessage.oldTasksNotNamed, "Old tasks were not logged one by one",
            [(.reason, .string("\(count) tasks, over the rate"))])
    }

    /// Says how much was left out of owners of whom there was too much.
    func reportMissed(at now: Instant) {
        for (account, count) in allowance.takeReport(at: now) {
            write(
                .warning, JournalMessage.entriesNotLogged,
                "Entries about a user's tasks were not logged",
                [
                    (.owner, .integer(Int64(account.rawValue))),
                    (.reason, .string("\(count) entries, over the rate")),
                ])
        }
    }

    /// Notes an `end` of the invalid id.
    func endOfNothing(_ owner: OwnerID, at now: Instant) {
        guard takesEntry(about: owner, at: now) else { return }
        write(
            .notice, JournalMessage.endOfNothing, "The invalid task 0 was ended",
            [(.owner, .integer(Int64(owner.rawValue)))])
    }

    /// Notes an order that an operator gave for a task of somebody else; of one's own nothing is noted.
    func logOrder(_ order: String, _ id: TaskID, in core: Core, by owner: OwnerID) {
        guard let record = core.registry.record(id), record.task.owner != owner else { return }
        ordered(order, record, by: owner)
    }

    private func ordered(_ order: String, _ record: TaskRecord, by operatorID: OwnerID) {
        write(
            .notice, JournalMessage.ordered,
            "An operator's order for task \(record.task.id) (\(record.task.name)): \(order)",
            identity(of: record.task) + [
                (.operator, .integer(Int64(operatorID.rawValue))), (.reason, .string(order)),
            ])
    }

    /// Notes that all tasks of a user were paused, or resumed; like other entries about who ordered it, so many a second.
    func paused(_ owner: OwnerID, _ isPaused: Bool, by order: OwnerID, at now: Instant) {
        guard takesEntry(about: order, at: now) else { return }
        let message = isPaused ? DaemonMessage.ownerPaused : .ownerResumed
        write(
            .notice, message.id, message.sentence,
            [
                (.owner, .integer(Int64(owner.rawValue))),
                (.operator, .integer(Int64(order.rawValue))),
            ])
    }

    /// Notes that tasks that have ended were forgotten: the journal is what is left of them.
    ///
    /// - Parameter ids: in ascending order.
    func cleaned(_ ids: [TaskID], by caller: Caller, at now: Instant) {
        guard takesEntry(about: caller.owner, at: now) else { return }
        let ranges = Self.ranges(of: ids)
        let shown = ranges.prefix(Self.rangesShownMax).map {
            $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
        }
        let more = ranges.dropFirst(Self.rangesShownMax).reduce(0) { $0 + $1.count }
        let list = shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        write(
            .notice, DaemonMessage.cleaned.id, DaemonMessage.cleaned.sentence,
            [
                (.operator, .integer(Int64(caller.owner.rawValue))),
                (.reason, .string("\(caller.seesAll ? "of any user: " : "")\(list)")),
            ])
    }

    /// As many as fit in a line that somebody reads.
    private static let rangesShownMax = 100

    /// Numbers in ascending order, those together that follow each other.
    private static func ranges(of ids: [TaskID]) -> [ClosedRange<UInt64>] {
        ids.reduce(into: []) { ranges, id in
            if let last = ranges.last, last.upperBound + 1 == id.rawValue {
                ranges[ranges.count - 1] = last.lowerBound...id.rawValue
            } else {
                ranges.append(id.rawValue...id.rawValue)
            }
        }
    }

    /// Says why the command of an expiration handler does not run.
    func handlerNotStarted(_ record: TaskRecord, _ reason: String, at now: Instant) {
        guard takesEntry(about: record.task.owner, at: now) else { return }
        write(
            .warning, JournalMessage.handlerNotStarted,
            "The command of an expiration handler could not be started",
            identity(of: record.task) + [(.reason, .string(reason))])
    }

    // MARK: - Applications

    /// Logs what an application was told.
    func write(_ event: ApplicationEvent, of key: ApplicationKey, at now: Instant) {
        guard let message = ApplicationMessage(event) else { return }
        write(message, of: key, [(.state, .string("\(event.state)"))], at: now)
    }

    /// Logs what only the log is told of an application.
    func write(
        _ note: ApplicationNote, of key: ApplicationKey, _ record: ApplicationRecord?,
        at now: Instant
    ) {
        var fields: Fields = []
        if case .ended = note { fields = self.fields(of: record?.lastTermination?.exit) }
        write(ApplicationMessage(note, record), of: key, fields, at: now)
    }

    private func write(
        _ message: ApplicationMessage, of key: ApplicationKey, _ more: Fields, at now: Instant
    ) {
        guard writer.writes(message.level), takesEntry(about: key.owner, at: now) else { return }
        var fields = identity(of: key) + more
        if let reason = message.reason { fields.append((.reason, .string(reason))) }
        writer.write(
            JournalEntry(
                level: message.level,
                message: .string("Application \(key.id) \(message.predicate)"),
                messageID: message.id, fields: fields))
    }

    /// Passes a line that an application printed on.
    func output(_ line: OutputLine, _ stream: OutputStream, of key: ApplicationKey) {
        let entry = JournalEntry(
            .output,
            level: line.level ?? stream.level,
            message: .bytes(Array(line.text)),
            identifier: AuditTrail.identifier(ofOutputOf: key.owner),
            fields: identity(of: key) + [(.stream, .string(stream.rawValue))])
        writer.write(entry, as: line.passingLevel(on: stream))
    }

    /// Says how many lines of an application were left out.
    func outputNotLogged(_ count: Int, of key: ApplicationKey, at now: Instant) {
        guard writer.writes(.warning), takesEntry(about: key.owner, at: now) else { return }
        write(
            .warning, JournalMessage.outputNotLogged,
            "Lines of an application's output were not logged",
            identity(of: key) + [(.reason, .string("\(count) lines, over the rate"))])
    }

    private func identity(of key: ApplicationKey) -> Fields {
        [(.application, .string(key.id)), (.owner, .integer(Int64(key.owner.rawValue)))]
    }

    // MARK: - Fields

    typealias Fields = [(key: JournalField, value: JournalValue)]

    func write(
        _ level: JournalLevel, _ id: JournalMessageID, _ sentence: String, _ fields: Fields
    ) {
        writer.write(
            JournalEntry(level: level, message: .string(sentence), messageID: id, fields: fields))
    }

    private func identity(of task: BackgroundTask) -> Fields {
        var fields: Fields = [
            (.taskID, .integer(Int64(clamping: task.id.rawValue))), (.taskName, .string(task.name)),
        ]
        if let application = task.application {
            fields.append((.application, .string(application)))
        }
        fields.append((.owner, .integer(Int64(task.owner.rawValue))))
        return fields
    }

    private func fields(of record: TaskRecord, at now: Instant) -> Fields {
        let task = record.task
        var fields = identity(of: task)
        fields.append((.state, .string("\(task.state)")))
        if let outcome = task.outcome { fields.append((.outcome, .string("\(outcome)"))) }
        if let budget = task.budget {
            fields.append((.budget, .integer(budget.duration.wholeNanoseconds / 1000)))
        }
        if task.state != .queued {
            fields.append((.used, .integer(task.used(at: now).wholeNanoseconds / 1000)))
        }
        fields += self.fields(of: record.run?.exit)
        if let use = record.run?.use {
            fields.append((.cpu, .integer(use.cpu.wholeNanoseconds / 1000)))
            if let bytes = use.memoryPeakBytes {
                fields.append((.memoryPeak, .integer(Int64(bytes))))
            }
        }
        if let reason = task.reason { fields.append((.reason, .string(reason.text))) }
        if let group = record.run?.queueing.group { fields.append((.group, .string(group))) }
        if let run = record.run, run.queueing.retry != nil, task.state != .queued {
            fields.append((.attempt, .integer(Int64(run.attempt))))
        }
        return fields
    }

    private func fieldsOfLastAttempt(_ record: TaskRecord) -> Fields {
        guard let attempt = record.run?.attempts.last else { return [] }
        var fields: Fields = [
            (.attempt, .integer(Int64(attempt.attempt))),
            (.outcome, .string("\(attempt.outcome)")),
            (.used, .integer(attempt.used.wholeNanoseconds / 1000)),
        ]
        fields += self.fields(of: attempt.exit)
        if let reason = attempt.reason { fields.append((.reason, .string(reason.text))) }
        return fields
    }

    func fields(of exit: ProcessExit?) -> Fields {
        switch exit {
        case .status(let status)?: [(.exitStatus, .integer(Int64(status)))]
        case .signal(let signal)?: [(.signal, .string(SignalName.name(of: signal.rawValue)))]
        case nil: []
        }
    }
}
