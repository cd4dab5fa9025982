internal import TaskAPI
internal import Varlink

/// A task with what it was submitted with, as `--json` shows it.
struct ShownTask: Message {
    private var task = Tasks.Task()
    private var submission: Tasks.ShowSubmission.Output?

    init() {}

    init(_ task: Tasks.Task, _ submission: Tasks.ShowSubmission.Output?) {
        self.task = task
        self.submission = submission
    }

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try task.visit(&fields)
        try fields.field("submission", &submission)
    }
}

/// Shows when, where and how a task was submitted.
enum SubmissionText {
    /// Adds it to the fields of the task.
    static func add(_ submission: Tasks.ShowSubmission.Output, to fields: inout Fields) {
        let work = submission.work
        fields.add("submitted", WallClock.text(millisecondsAgo: submission.submittedMs))
        fields.add("directory", work.directory)
        fields.add("environment", work.environment?.keys.sorted().joined(separator: ", "))
        fields.add("input", submission.inputBytes.map(SizeText.bytes))
        fields.add("warning", work.expiration.map(warning))
        fields.add("when", work.conditions.map { $0.map(word).joined(separator: ", ") })
        fields.add("minimum interval", work.minimumIntervalMs.map(TimeText.span))
        fields.add("unique", work.unique?.rawValue)
        fields.add("retries", work.retry.map(retries))
        fields.add("after", predecessors(work))
        fields.add("slots", work.slots.map(String.init))
    }

    /// Says on standard error what became of a submission, where it was not simply accepted.
    static func tellReceipt(_ submitted: Tasks.Submit.Output, _ console: Console) {
        switch submitted.receipt {
        case .accepted: break
        case .coalesced: console.notice("task \(submitted.id) of that name is used instead")
        case .deferred:
            let time =
                submitted.notBeforeMs.map { milliseconds in
                    let isLong = milliseconds >= 600_000
                    let moment = WallClock.text(millisecondsAgo: -milliseconds)
                    return " for at least \(TimeText.span(milliseconds))"
                        + (isLong ? ", until \(moment)" : "")
                }
                ?? "; bgtaskctl explain \(submitted.id) says why"
            console.notice("task \(submitted.id) is held back\(time)")
        }
    }

    private static func warning(_ handler: Tasks.ExpirationHandler) -> String {
        let signal = handler.signal.map { $0.isEmpty ? "no signal" : $0 } ?? "SIGTERM"
        return handler.command.map { "\(signal); \(CommandText.line($0))" } ?? signal
    }

    /// As --when has it.
    private static func word(_ condition: Tasks.Condition) -> String {
        condition == .externalPower ? "external-power" : condition.rawValue
    }

    private static func retries(_ retry: Tasks.Retry) -> String {
        let delay = retry.delayMs.map { ", \(TimeText.span($0)) before the second" } ?? ""
        return "\(retry.attempts) attempts\(delay)"
            + (retry.onInterruption == true ? ", also if it is interrupted" : "")
    }

    private static func predecessors(_ work: Tasks.Work) -> String? {
        let completed = work.after.map { "\(numbers($0)) (if completed)" }
        let ended = work.afterAny.map { "\(numbers($0)) (however ended)" }
        let parts = [completed, ended].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func numbers(_ ids: [Int]) -> String {
        ids.map(String.init).joined(separator: ", ")
    }
}
