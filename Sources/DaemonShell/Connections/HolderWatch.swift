internal import BudgetCore
internal import Containers
internal import LinuxSystem
internal import Varlink

/// Watches who holds tasks, connections and processes: what they did not end is abandoned when they are gone.
final class HolderWatch {
    /// Tasks of those who went that are ended in one turn: as many as an owner may have with the usual settings.
    private static let abandonsPerTurn = 1000

    private let core: Core
    private let poll: DescriptorPoll
    private let numbers: NumberSource
    /// Processes that hold tasks, by pid.
    private var processes: [Int32: HolderProcess] = [:]
    /// Those that have exited and are still to be let go.
    private var exited: [HolderProcess] = []
    /// Whether a process may hold nothing, since a task ended or was not begun.
    private var needsSweep = false
    /// Connections and processes that are gone, whose tasks have not all ended.
    private var pendingAbandons = Deque<(holder: HolderID, reason: Reason)>()
    /// Tasks of theirs that may still end in this turn.
    private var abandonsLeft = HolderWatch.abandonsPerTurn

    init(_ core: Core, _ poll: DescriptorPoll, _ numbers: NumberSource) {
        self.core = core
        self.poll = poll
        self.numbers = numbers
    }

    // MARK: - Processes

    /// The process that a caller names as the holder of a task; it must be the caller's own.
    func holder(_ number: Int, of client: Client) throws(CallFailure) -> HolderID {
        guard let processID = Int32(exactly: number), processID > 0 else { throw .invalid("pid") }
        if let known = processes[processID] {
            if known.isRunning {
                try check(known, isOf: client)
                return known.holder
            }
            letGo(known)
        }
        let process: HolderProcess
        do throws(SystemError) {
            // The pidfd comes first: what is read of the process now is of the one it stands for.
            let descriptor = try OwnedDescriptor.process(processID)
            process = HolderProcess(number: numbers.next(), processID: processID, descriptor)
            try process.watch(in: poll) { [unowned self] in exited.append($0) }
        } catch {
            throw .invalid("pid")
        }
        do throws(CallFailure) {
            try check(process, isOf: client)
        } catch {
            process.close(in: poll)
            throw error
        }
        processes[processID] = process
        needsSweep = true
        return process.holder
    }

    /// Refuses a process that is not the caller's own now, whoever named it before.
    private func check(_ process: HolderProcess, isOf client: Client) throws(CallFailure) {
        // As of one that is not there: nobody learns here which numbers others' processes have.
        guard user(ofProcess: process.processID) == client.credentials.user,
            process.isRunning
        else { throw .invalid("pid") }
    }

    /// Ends what processes held that have exited since the last turn.
    func takeExited() {
        guard !exited.isEmpty else { return }
        for process in exited { letGo(process) }
        exited = []
    }

    private func letGo(_ process: HolderProcess) {
        guard processes[process.processID] === process else { return }
        processes[process.processID] = nil
        process.close(in: poll)
        abandon(process.holder, .processExited)
    }

    /// A held task has ended: its process may hold nothing any more.
    func taskEnded() { if !processes.isEmpty { needsSweep = true } }

    /// Lets go of processes that hold nothing, or nothing any more.
    func sweep() {
        guard needsSweep else { return }
        needsSweep = false
        for process in processes.values where !core.registry.holds(process.holder) {
            letGo(process)
        }
    }

    // MARK: - Tasks of those who are gone

    /// Ends what a connection or a process held that is gone; where that is very much, piece by piece. Until then it
    /// is live, and counts.
    func abandon(_ holder: HolderID, _ reason: Reason) {
        pendingAbandons.append((holder, reason))
        abandonMore()
    }

    /// Goes on with the tasks of those who went, as far as this turn goes.
    func abandonMore() {
        while abandonsLeft > 0, let (holder, reason) = pendingAbandons.first {
            let isDone = core.update { registry, now, actions in
                registry.holderGone(
                    holder, reason: reason, allowance: &abandonsLeft, at: now, &actions)
            }
            if isDone { _ = pendingAbandons.popFirst() }
        }
    }

    /// The turn is over.
    ///
    /// - Returns: whether another one is needed.
    func endTurn() -> Bool {
        abandonsLeft = Self.abandonsPerTurn
        return !pendingAbandons.isEmpty
    }
}

/// A process that holds tasks: they end with it.
private final class HolderProcess: DescriptorHandler {
    let processID: Int32
    let holder: HolderID
    private let descriptor: OwnedDescriptor
    private var registration: DescriptorPoll.Registration?
    private var exited: (HolderProcess) -> Void = { _ in }

    init(number: UInt64, processID: Int32, _ descriptor: consuming OwnedDescriptor) {
        holder = HolderID(rawValue: number)
        self.processID = processID
        self.descriptor = descriptor
    }

    func watch(
        in poll: DescriptorPoll, exited: @escaping (HolderProcess) -> Void
    ) throws(SystemError) {
        registration = try poll.add(descriptor.rawValue, .input, self)
        self.exited = exited
    }

    func ready(_ readiness: Readiness) { exited(self) }

    /// Whether the process is still there, and the number still its own.
    var isRunning: Bool { !descriptor.waitReadable(milliseconds: 0) }

    func close(in poll: DescriptorPoll) {
        if let registration { poll.remove(registration) }
        registration = nil
    }
}
