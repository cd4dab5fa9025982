/// Something that happened to the processes of a task.
package struct TaskEvent: Equatable, Sendable {
    /// The number that the caller gave the task.
    package let task: UInt64
    package let what: What

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
        /// No process of the task is left. The last event of a task.
        case gone
    }

    package init(task: UInt64, what: What) {
        self.task = task
        self.what = what
    }
}

/// A command that is being started, with the ends of its output that are to be read.
package struct StartedProcess: ~Copyable {
    /// Its place among the task's commands, from 0.
    package let index: Int
    private var output: DescriptorPair

    init(index: Int, output: consuming DescriptorPair) {
        self.index = index
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

    /// Begins to start a command; more than once for a command beside the first.
    ///
    /// Returns at once: an event tells that it runs, or why it does not. (chdir(2) and execve(2)
    /// take as long as the file systems take that they lead to, and those may be the submitter's.)
    ///
    /// - Throws: what cannot even be begun, at the stage `prepare` or `supervisor`; there is no
    ///   event for that. ECANCELED after `kill`, `close` or the event `gone`.
    func start(_ request: LaunchRequest) throws(LaunchError) -> StartedProcess

    /// Sends a signal to every process of the task; a frozen task is thawed for any but SIGKILL, since
    /// the frozen handle none. A command that is still being started may not get it.
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
