internal import Glibc

/// The processes of a task that have left its group: which signals they are still to get, and whether an event
/// has said that they left.
struct LeftProcesses {
    /// Signals that they have not got yet, oldest first.
    private var signals: [SignalSweep] = []
    /// Those that were sent SIGSTOP, because the freeze of the group does not reach them.
    private var stopped: [Stray] = []
    private var wantsStopped = false
    /// The first that was found, until an event has named it.
    private var untold: (processID: Int32, group: String)?
    private var hasTold = false

    /// One was found.
    mutating func note(_ processID: Int32, in group: String) {
        if !hasTold, untold == nil { untold = (processID, group) }
    }

    /// The event that names the first of them, once.
    mutating func takeUntold() -> ProcessEvent.What? {
        guard let (processID, group) = untold.take() else { return nil }
        hasTold = true
        return .left(processID: processID, group: group)
    }

    /// What a sweep sends to the group, they get too.
    mutating func add(_ sweep: SignalSweep) { signals.append(sweep) }

    /// They are killed: nothing else reaches them.
    mutating func forgetSignals() { signals = [] }

    /// Stops those that are found from now on. Their user may let them go on.
    mutating func stop() { wantsStopped = true }

    mutating func resume() {
        wantsStopped = false
        for stray in stopped { stray.signal(SIGCONT) }
        stopped = []
    }

    /// Signals and stops those that were found, each once.
    ///
    /// - Parameter commands: those that get signals by another way.
    mutating func pass(on strays: [Stray], except commands: Set<Int32>) {
        for sweep in signals {
            for stray in strays
            where !commands.contains(stray.processID) && !sweep.seen.contains(stray.processID) {
                stray.signal(sweep.number)
            }
        }
        signals = []
        guard wantsStopped else { return }
        for stray in strays where !stopped.contains(stray) {
            if stray.signal(SIGSTOP) { stopped.append(stray) }
        }
    }
}
