/// A run task that has ended, or any task for which a whole record is wanted.
package struct TaskRecord: Equatable, Sendable {
    package var task: BackgroundTask
    private var shared: Run?

    /// What a run task has beyond a held one, beside the record: it is large, and most tasks have none.
    final class Run: Sendable {
        let task: RunTask

        init(_ task: RunTask) {
            self.task = task
        }
    }

    init(task: BackgroundTask, run: RunTask?) {
        self.init(task: task, run: run.map(Run.init))
    }

    init(task: BackgroundTask, run: Run?) {
        self.task = task
        shared = run
    }

    package var run: RunTask? { shared?.task }

    package static func == (one: TaskRecord, other: TaskRecord) -> Bool {
        one.task == other.task && one.run == other.run
    }
}
