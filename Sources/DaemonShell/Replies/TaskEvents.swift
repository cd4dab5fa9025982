internal import BudgetCore
internal import TaskAPI
internal import Varlink

/// Logs what happens to tasks, and tells those who wait for it.
final class TaskEvents {
    private let core: Core
    private let journal: AuditTrail
    private let subscriptions: Subscriptions
    private let replies: PendingReplies
    private let holders: HolderWatch
    private let tasks: TaskRunner

    init(
        _ core: Core, _ journal: AuditTrail, _ subscriptions: Subscriptions,
        _ replies: PendingReplies, _ holders: HolderWatch, _ tasks: TaskRunner
    ) {
        self.core = core
        self.journal = journal
        self.subscriptions = subscriptions
        self.replies = replies
        self.holders = holders
        self.tasks = tasks
    }

    func tell(_ happening: Happening, _ id: TaskID) {
        guard let brief = core.update({ registry, _, _ in registry.brief(of: id) }) else { return }
        // Patterns, since `==` of another module's types is a call each time.
        let isHeld = if case .held = brief.kind { true } else { false }
        let isEnd = if case .ended = happening { true } else { false }
        if isEnd, isHeld { holders.taskEnded() }
        let isFollowed = subscriptions.areThere(for: id, of: brief.owner)
        let isAwaited = isEnd && replies.isAwaited(.end(id))
        if isFollowed || isAwaited || journal.takes(happening, brief),
            let record = core.registry.record(id)
        {
            journal.write(happening, record, at: core.now)
            if isFollowed { subscriptions.publish(happening, record) }
            if isAwaited { answerWaits(for: record) }
        }
        if !isHeld, isEnd || happening == .attemptEnded { tasks.forget(id) }
    }

    func oldTasksNotNamed(_ count: Int) { journal.oldTasksNotNamed(count) }

    private func answerWaits(for record: TaskRecord) {
        var output = Tasks.Wait.Output()
        output.task = Tasks.Task(record, in: core.registry, at: core.now)
        output.task?.tellAttempts(of: record, at: core.now)
        let message = SharedMessage(output)
        replies.resolveAll(.end(record.task.id)) { $0.reply(message, continues: false) }
    }
}
