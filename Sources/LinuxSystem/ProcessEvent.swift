/// Something that happened to the processes of a task.
package struct ProcessEvent: Equatable, Sendable {
    /// The number that the caller gave the task.
    package let task: UInt64
    package let what: What
    /// When it was, in nanoseconds on CLOCK_MONOTONIC; `nil` where it is told at once.
    package let moment: Int64?

    /// `index` counts a task's commands in the order of their start, from 0.
    package enum What: Equatable, Sendable {
        /// The command runs.
        case started(index: Int, processID: Int32)
        /// The command could not be started.
        case startFailed(index: Int, LaunchError)
        /// The command itself ended; what it started may go on. Once for each that was started,
        /// and before `gone`.
        case exited(index: Int, Exit)
        /// All processes are frozen, or thawed again.
        case frozen(Bool)
        /// The processes could not all be frozen, and all go on again. In place of `frozen(true)`.
        case freezeFailed(SystemError)
        /// A thaw was refused: all is as before.
        case thawFailed(SystemError)
        /// A process was found outside of the task's group, where it is ended with the task. Told once.
        ///
        /// A process of no known task is killed; `user` is its real uid, where it was still there to be asked.
        case left(processID: Int32, group: String, user: UInt32? = nil)
        /// No process of the task is left. The last event of a task.
        case gone

        // Of commands that bgtask-executor runs (`ExecutedCommand`).

        /// Its handler has fired: so often by now; not for its time, where its executor ends all commands.
        case warned(count: Int, stop: Stop?)
        /// Its limit was reached, and it was killed.
        case limitReached
        /// The executor goes by the times that were set last.
        case timesTaken
        /// Its executor is gone, and has taken it along. The last event, in the place of `gone`.
        case lost
    }

    /// Why an executor ends all commands.
    package enum Stop: Equatable, Sendable {
        /// No daemon was there for too long.
        case daemonAway
        /// It is told to end, or to end them.
        case executorStop
    }

    /// In place of a task's number: the process belongs to no known task, and is killed for that.
    package static let nobody = UInt64.max

    package init(task: UInt64, what: What, moment: Int64? = nil) {
        self.task = task
        self.what = what
        self.moment = moment
    }
}
