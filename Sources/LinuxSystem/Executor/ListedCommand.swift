internal import CExecutor

/// A command that an earlier daemon had started.
package struct ListedCommand {
    package let command: ExecutedCommand
    /// `nil` before its process was made.
    package let processID: Int32?
    package let hasStarted: Bool
    /// Whether the command of its handler runs, or is being started.
    package let handlerRuns: Bool
    /// When the executor fires its handler and its limit, and what that daemon has had kept.
    package let times: CommandTimes

    init(_ command: ExecutedCommand, _ message: borrowing ExecutorMessage) {
        self.command = command
        processID = message.record.pid > 0 ? message.record.pid : nil
        hasStarted = message.has(EXECUTOR_HAS_STARTED)
        handlerRuns = message.has(EXECUTOR_HANDLER_RUNS)
        times = CommandTimes(message.record)
    }
}
