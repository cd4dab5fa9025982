internal import Glibc

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
        /// A process was found outside of the task's group, where it is ended with the task. Told once.
        ///
        /// A process of no known task is killed; `user` is its real uid, where it was still there to be asked.
        case left(processID: Int32, group: String, user: UInt32? = nil)
        /// No process of the task is left. The last event of a task.
        case gone

        // Of commands that bgtask-executor runs (`ExecutedCommand`).

        /// Its handler has fired: so often by now; not for its time, where its executor ends all commands.
        case warned(count: Int, isStop: Bool)
        /// Its limit was reached, and it was killed.
        case limitReached
        /// The executor goes by the times that were set last.
        case timesTaken
        /// Its executor is gone, and has taken it along. The last event, in the place of `gone`.
        case lost
    }

    /// In place of a task's number: the process belongs to no known task, and is killed for that.
    package static let nobody = UInt64.max

    package init(task: UInt64, what: What, moment: Int64? = nil) {
        self.task = task
        self.what = what
        self.moment = moment
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

    /// The reading end of its standard output, non-blocking; once. Ends when every process that has it
    /// is gone, in a control group not before the command has ended.
    package mutating func takeStandardOutput() -> OwnedDescriptor {
        output.takeFirst()
    }

    /// The reading end of its standard error, as above.
    package mutating func takeStandardError() -> OwnedDescriptor {
        output.takeSecond()
    }
}

/// Processes that belong together, and that a `ProcessHost` watches: its `poll` tells what happens to
/// them. For one thread.
package protocol ProcessSet: AnyObject {
    /// The number that the caller gave them, which comes back with their events.
    var identifier: UInt64 { get }

    /// What can hold them still.
    var freezer: FreezeMethod { get }

    /// Where they live, also those that are started later. No other processes live there.
    var homes: [ProcessHome] { get }

    /// Whether all of them are frozen, read now; `false` after the event `gone`.
    var isFrozen: Bool { get }

    /// All of them, zombies left out.
    func processIDs() throws(SystemError) -> [Int32]

    /// Sends a signal to every one of them.
    ///
    /// Frozen processes handle no signal but SIGKILL. A task is thawed for any other; adopted processes that a unit's
    /// freeze holds have to be thawed by the caller first.
    ///
    /// - Returns: how many got it; `nil` where a supervisor was told to do it.
    @discardableResult
    func signal(_ number: Int32) throws(SystemError) -> Int?

    /// Orders the end of every one of them, the frozen included; `gone` tells when.
    func kill() throws(SystemError)

    /// Ends the use: no more events.
    func close()
}

extension ProcessSet {
    /// Sends a signal that asks them to end, and lets those go on that somebody has stopped: they would handle none
    /// (systemd.kill(5), which has SIGCONT sent after KillSignal= too).
    package func ask(_ number: Int32) throws(SystemError) {
        try signal(number)
        if ![SIGKILL, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU].contains(number) {
            try signal(SIGCONT)
        }
    }
}

/// The processes of one task: its commands and all that descends from them.
///
/// A command that is still being started may not get a signal. A second `kill` ends the supervisor as
/// well, if one is there and does not answer. `close` kills what still runs, which is cleared away later
/// by the host's `poll`.
package protocol TaskProcesses: ProcessSet {

    /// Begins to start a command; more than once for a command beside the first.
    ///
    /// Returns at once: an event tells that it runs, or why it does not. (chdir(2) and execve(2)
    /// take as long as the file systems take that they lead to, and those may be the submitter's.)
    ///
    /// - Throws: what cannot even be begun, at the stage `prepare` or `supervisor`; there is no
    ///   event for that. ECANCELED after `kill`, `close` or the event `gone`.
    func start(_ request: LaunchRequest) throws(LaunchError) -> StartedProcess

    /// Asks for the freeze or the thaw of every process, those included that are being started.
    ///
    /// The event `frozen` tells when it is done. None comes where nothing changes, such as for the thaw of what no event
    /// has called frozen. A thaw by signals also continues processes that somebody else had stopped.
    func setFrozen(_ frozen: Bool) throws(SystemError)

    /// What all processes of the task have used so far, and in the end; `nil` where that is not known,
    /// as under a supervisor until the event `gone`.
    func readUse() -> ProcessUse?
}

/// What the caller wants of a task. Becomes only what stands further down.
enum TaskDemand {
    case run
    /// No process is to be left.
    case end
    /// The same, and no event is to come.
    case endUnheard
}
