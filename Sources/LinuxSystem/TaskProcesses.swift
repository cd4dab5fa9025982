/// Something that happened to the processes of a task.
package struct TaskEvent: Equatable, Sendable {
    /// The number that the caller gave the task.
    package let task: UInt64
    package let what: What

    /// `index` counts a task's commands in the order of their start, from 0.
    package enum What: Equatable, Sendable {
        /// The command runs, where `start` could not say so already.
        case started(index: Int, processID: Int32)
        /// The command could not be started, where `start` could not say so already.
        case startFailed(index: Int, LaunchError)
        /// The command itself ended; what it started may go on. Once for each that was started,
        /// and before `gone`.
        case exited(index: Int, Exit)
        /// All processes are frozen, or thawed again.
        case frozen(Bool)
        /// No process of the task is left. The last event of a task.
        case gone
    }

    package init(task: UInt64, what: What) {
        self.task = task
        self.what = what
    }
}

/// A command that was started, with the ends of its output that are to be read.
package struct StartedProcess: ~Copyable {
    /// Its place among the task's commands, from 0.
    package let index: Int
    /// `nil` where a supervisor will tell it later, as `TaskEvent.What.started`.
    package let processID: Int32?
    private var output: DescriptorPair

    init(index: Int, processID: Int32?, output: consuming DescriptorPair) {
        self.index = index
        self.processID = processID
        self.output = output
    }

    /// The reading end of its standard output, non-blocking; once. Ends when every process that
    /// has it is gone.
    package mutating func takeStandardOutput() -> OwnedDescriptor {
        output.takeFirst()
    }

    /// The reading end of its standard error, as above.
    package mutating func takeStandardError() -> OwnedDescriptor {
        output.takeSecond()
    }
}

/// The processes of one task: its commands and all that descends from them.
///
/// Made by a `ProcessHost`, whose `poll` tells what happens to them. For one thread.
package protocol TaskProcesses: AnyObject {
    /// The number that the caller gave the task.
    var identifier: UInt64 { get }

    /// Starts a command; more than once for a command beside the first.
    ///
    /// In a cgroup it returns when the command runs or has failed to, and the calling thread
    /// waits for as long as chdir(2) and execve(2) take on the submitter's file system. Beside a
    /// supervisor it returns at once, and an event tells which it was.
    ///
    /// - Throws: what kept it from running; ECANCELED after `kill`, `close` or the event `gone`.
    ///   A task that never ran has no events.
    func start(_ request: LaunchRequest) throws(LaunchError) -> StartedProcess

    /// Sends a signal to every process of the task. The frozen get it with the thaw.
    ///
    /// - Returns: how many got it; `nil` where a supervisor was told to do it.
    @discardableResult
    func signal(_ number: Int32) throws(SystemError) -> Int?

    /// Orders the end of every process of the task, the frozen included; `gone` tells when.
    ///
    /// A second call ends the supervisor as well, if one is there and does not answer.
    func kill() throws(SystemError)

    /// Asks for the freeze or the thaw of every process; the event `frozen` tells when.
    ///
    /// - Throws: ENOTSUP without a cgroup.
    func setFrozen(_ frozen: Bool) throws(SystemError)

    /// Ends the use of the task: no more events. What still runs is killed, and cleared away
    /// later by the host's `poll`.
    func close()
}
