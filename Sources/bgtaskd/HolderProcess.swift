internal import BudgetCore
internal import Glibc
internal import LinuxSystem
internal import Varlink

/// A process that holds tasks: they end with it.
final class HolderProcess {
    let number: UInt64
    let processID: Int32
    let descriptor: OwnedDescriptor

    var holder: HolderID { HolderID(rawValue: number) }

    init(number: UInt64, processID: Int32, _ descriptor: consuming OwnedDescriptor) {
        self.number = number
        self.processID = processID
        self.descriptor = descriptor
    }

    /// Whether the process is still there, and the number still its own.
    var isRunning: Bool {
        var wanted = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, 0) == 0
    }
}

extension Daemon {
    /// The process that a caller names as the holder of a task; it must be the caller's own.
    func holder(_ number: Int, of client: Client) throws(CallFailure) -> HolderID {
        guard let processID = Int32(exactly: number), processID > 0 else { throw .invalid("pid") }
        if let known = holders[processID] {
            if known.isRunning {
                try check(known, isOf: client)
                return known.holder
            }
            holderExited(known, at: now)
        }
        let holder: HolderProcess
        do throws(SystemError) {
            // The pidfd comes first: what is read of the process now is of the one it stands for.
            let descriptor = try OwnedDescriptor.process(processID)
            holder = HolderProcess(number: nextNumber(), processID: processID, descriptor)
            try epoll.add(holder.descriptor.rawValue, .input, token: holder.number)
        } catch {
            throw .invalid("pid")
        }
        try check(holder, isOf: client)
        holders[processID] = holder
        watched[holder.number] = .holder(holder)
        mayReleaseHolders = true
        return holder.holder
    }

    /// Refuses a process that is not the caller's own now, whoever named it before.
    private func check(_ holder: HolderProcess, isOf client: Client) throws(CallFailure) {
        let user: UInt32
        do throws(SystemError) {
            user = try realUser(of: holder.processID)
        } catch {
            throw .invalid("pid")
        }
        // As of one that is not there: nobody learns here which numbers others' processes have.
        guard user == client.credentials.user else { throw .invalid("pid") }
        guard holder.isRunning else { throw .invalid("pid") }
    }

    /// A process that held tasks is gone: what it did not end is abandoned.
    func holderExited(_ holder: HolderProcess, at now: Instant) {
        holders[holder.processID] = nil
        watched[holder.number] = nil
        // Closing the last descriptor of it would do as well; its owner may live a little longer.
        try? epoll.remove(holder.descriptor.rawValue)
        abandonTasks(of: holder.holder, .processExited, at: now)
    }

    /// Tasks of those who went that are ended in one turn: as many as an owner may have with the usual settings.
    static let abandonedPerTurn = 1000

    /// Ends what a connection or a process held that is gone; where that is very much, piece by piece. Until
    /// then it is live, and counts.
    func abandonTasks(of holder: HolderID, _ reason: Reason, at now: Instant) {
        departed.append((holder, reason))
        abandonMore(at: now)
    }

    /// Goes on with the tasks of those who went, as far as this turn goes.
    func abandonMore(at now: Instant) {
        while abandonsLeft > 0, let (holder, reason) = departed.first {
            let isDone = registry.holderGone(
                holder, reason: reason, allowance: &abandonsLeft, at: now, &actions)
            if isDone { _ = departed.popFirst() }
        }
    }

    /// Lets go of processes that hold nothing, or nothing any more.
    func releaseHolders() {
        guard mayReleaseHolders else { return }
        mayReleaseHolders = false
        for holder in holders.values where !registry.holds(holder.holder) {
            holderExited(holder, at: now)
        }
    }
}
