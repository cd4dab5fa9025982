internal import TaskAPI
internal import Varlink

/// A ``TaskHolder`` that keeps none of Swift's threads waiting.
final class Holder: Sendable {
    private static let all = PerDaemon { Holder($0) }

    static func at(_ path: String) -> Holder { all.at(path) }

    private let thread = WorkThread()
    private let tasks: TaskHolder

    private init(_ daemon: DaemonEndpoint) { tasks = TaskHolder(daemon) }

    /// Begins a task.
    func begin(
        _ task: BackgroundTask, _ budget: BudgetRequest, profile: String?, application: String?
    ) async throws(BackgroundTimeError) {
        try await thread.run { [tasks] in
            Result { () throws(BackgroundTimeError) in
                var input = Tasks.Begin.Input()
                (input.name, input.budget) = (task.name, budget.wire)
                (input.profile, input.application) = (profile, application)
                try tasks.begin(task, input)
            }
        }
    }

    /// Ends a task.
    ///
    /// - Returns: how it has ended, as far as that is known.
    func end(_ task: BackgroundTask) async -> String? {
        guard let id = task.id else {
            task.end(nil)
            return nil
        }
        let outcome = try? await thread.run { [tasks] in
            Result { () throws(BackgroundTimeError) in try tasks.end(id)?.rawValue }
        }
        task.end(outcome ?? nil)
        return task.outcome
    }

    /// Calls a method about a task.
    func call<M: Varlink.Method & SendableMetatype>(
        _ method: M.Type, _ input: M.Input
    ) async throws(BackgroundTimeError) -> M.Output where M.Input: Sendable, M.Output: Sendable {
        try await thread.run { [tasks] in
            Result { () throws(BackgroundTimeError) in try tasks.call(method, input) }
        }
    }
}
