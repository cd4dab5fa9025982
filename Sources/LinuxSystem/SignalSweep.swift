internal import CLinux
internal import Glibc

/// A signal on its way to every process of a group.
///
/// A group may have thousands: a turn of the loop signals some of them, and the next goes on. Each process
/// is signalled through a pidfd, after a look whether it is (still) in the group, so that none is that only
/// has a number from there. One gets the signal once. What a process starts after it got the signal is spared: it may
/// be what handles it.
final class SignalSweep {
    let number: Int32
    private let group: Cgroup
    private let user: UInt32
    /// Those that had the signal.
    private var seen: Set<Int32> = []
    /// When those of them got it that did, in clock ticks since boot; 0 for those that are spared.
    private var signalledAt: [Int32: Int64] = [:]
    private var rest: ArraySlice<Int32> = []
    /// What was read of those that are next; `nil` where there was nothing.
    private var looks: [Int32: ProcessLook?] = [:]
    /// A group that forks for ever must not keep us busy for ever.
    private var looksLeft = SignalSweep.looksMax
    /// Whether those that are next are being looked at, and how often that has failed.
    private(set) var isAsking = false
    private var failureCount = 0
    private(set) var signalled = 0
    private(set) var hasBegun = false
    private(set) var isDone = false

    /// Two of these no process can handle, and the third does nothing to what runs: all get them.
    private static let unhandled = [SIGKILL, SIGSTOP, SIGCONT]

    private static let looksMax = 8

    /// - Parameter user: only processes get it that have this uid (``ProcessLook/user``).
    init(_ number: Int32, to group: Cgroup, ofUser user: UInt32) {
        self.number = number
        self.group = group
        self.user = user
    }

    /// Those that are next, and of whom it has to be known first whose they are and who has started them.
    private var unknown: [Int32] {
        rest.prefix(ProcessReaders.looksMax).filter { looks[$0] == nil }
    }

    /// Takes what was read of those.
    private func learn(_ found: [ProcessLook], of asked: [Int32]) {
        for processID in asked { looks[processID] = .some(nil) }
        for look in found { looks[look.processID] = look }
    }

    private static let failuresMax = 3

    /// Has those looked at that are next, where it is not known enough of them.
    ///
    /// - Parameter completion: called when the sweep can go on.
    func ask(_ readers: ProcessReaders, _ completion: @escaping () -> Void) {
        let asked = unknown
        guard !isAsking, !asked.isEmpty else { return }
        let take: (Result<[ProcessLook], SystemError>) -> Void = { [weak self] result in
            guard let self else { return }
            isAsking = false
            // Those of whom nothing can be read, however often it is tried, are passed over.
            failureCount += (try? result.get()) == nil ? 1 : 0
            let found = (try? result.get()) ?? (failureCount < Self.failuresMax ? nil : [])
            if let found { learn(found, of: asked) }
            completion()
        }
        // Where too much is asked now, the next turn asks again.
        isAsking = (try? readers.look(at: asked, because: user, take)) != nil
    }

    /// Signals up to so many processes, or those of whom enough is known.
    ///
    /// - Throws: where the group or a process cannot be looked at or signalled; nothing more comes of it.
    func turn(processesMax: Int) throws(SystemError) {
        hasBegun = true
        do throws(SystemError) {
            var left = processesMax
            while !isDone, left > 0 {
                if rest.isEmpty { try look() }
                guard unknown.isEmpty else { return }
                let batch = rest.prefix(min(left, ProcessReaders.looksMax))
                for processID in batch {
                    try send(to: processID)
                    looks[processID] = nil
                }
                rest.removeFirst(batch.count)
                left -= batch.count
            }
        } catch {
            isDone = true
            throw error
        }
    }

    /// Lists the processes that have come since the last look.
    private func look() throws(SystemError) {
        guard looksLeft > 0 else { return isDone = true }
        looksLeft -= 1
        rest = try group.processIDs().filter { !seen.contains($0) }[...]
        if rest.isEmpty { isDone = true }
    }

    /// Whether a process may have been started by one that had the signal already. What it starts is left out with it,
    /// since a group lists parents first.
    ///
    /// One that was started in the same tick of the clock as its parent got the signal may have been there before it.
    /// That is rare, and its limit is kept all the same; what comes after is what each shell script does that cleans up.
    private func mayBeAnswer(_ look: ProcessLook) -> Bool {
        guard !Self.unhandled.contains(number), let sentAt = signalledAt[look.parent] else {
            return false
        }
        return look.startTime >= sentAt
    }

    private func send(to processID: Int32) throws(SystemError) {
        guard seen.insert(processID).inserted else { return }
        let process: OwnedDescriptor
        do throws(SystemError) {
            process = try .process(processID)
        } catch {
            if error.errno == EMFILE || error.errno == ENFILE { throw error }
            return
        }
        guard group.holds(processID) else { return }
        // One of which nothing could be read is gone.
        guard let look = looks[processID] ?? nil, look.user == user else { return }
        guard !mayBeAnswer(look) else { return signalledAt[processID] = 0 }
        let sentAt = Int64(clamping: BootTimeClock.ticks())
        if clx_pidfd_send_signal(process.rawValue, number) == 0 {
            signalledAt[processID] = sentAt
            signalled += 1
            return
        }
        let error = errno
        // A process that has become another user's must not keep the signal from the rest.
        if error == ESRCH || error == EPERM { return }
        throw SystemError(operation: "kill", errno: error, subject: "\(processID)")
    }
}

/// The sweeps that need more than one turn, in the order in which they were begun.
final class SignalSweeps: WatchOwner {
    private let timer: OwnedDescriptor
    private let readers: ProcessReaders
    private var sweeps: [(sweep: SignalSweep, group: ObjectIdentifier)] = []

    /// How many processes are signalled in a turn, which is some milliseconds; as long is the pause.
    private static let processesPerTurn = 256
    private static let pauseNanoseconds = 4_000_000

    init(watches: WatchList, _ readers: ProcessReaders) throws(SystemError) {
        self.readers = readers
        timer = try .timer()
        _ = try watches.add(timer.rawValue, .input, owner: self, role: 0)
    }

    /// Begins a sweep, after those of the same group that are under way.
    ///
    /// - Returns: how many processes got the signal; `nil` where more turns are needed.
    func begin(_ sweep: SignalSweep, of group: Cgroup) throws(SystemError) -> Int? {
        if !areUnderWay(in: group) {
            try sweep.turn(processesMax: Self.processesPerTurn)
            if sweep.isDone { return sweep.signalled }
        }
        wait(sweep, ObjectIdentifier(group))
        goOn()
        return nil
    }

    /// Has a sweep wait for its turn. Those that wait already are merged with it as the kernel does with signals that are
    /// pending (signal(7)): the same signal is sent once, and of SIGSTOP and SIGCONT the later one. So no more of them wait
    /// than there are signals, however many are ordered.
    private func wait(_ sweep: SignalSweep, _ group: ObjectIdentifier) {
        let opposite = [SIGSTOP: SIGCONT, SIGCONT: SIGSTOP][sweep.number]
        func waits(_ other: (sweep: SignalSweep, group: ObjectIdentifier), _ number: Int32?) -> Bool
        {
            other.group == group && !other.sweep.hasBegun && other.sweep.number == number
        }
        sweeps.removeAll { waits($0, opposite) }
        if let place = sweeps.firstIndex(where: { waits($0, sweep.number) }) {
            sweeps[place].sweep = sweep
        } else {
            sweeps.append((sweep, group))
        }
    }

    /// Whether a sweep of a group goes on, which another one would wait for.
    private func areUnderWay(in group: Cgroup) -> Bool {
        sweeps.contains { $0.group == ObjectIdentifier(group) }
    }

    /// Ends the sweeps of a group, of which nobody wants to know any more.
    func end(of group: Cgroup) {
        if !sweeps.isEmpty { sweeps.removeAll { $0.group == ObjectIdentifier(group) } }
    }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        timer.takeEvents()
        guard let place = nextPlace else { return goOn() }
        let (sweep, group) = sweeps.remove(at: place)
        // A sweep that fails is over: its rest gets no signal, but the hard limit still kills it.
        try? sweep.turn(processesMax: Self.processesPerTurn)
        if !sweep.isDone {
            // Another group's is next, and no later one of the same.
            let after = sweeps.firstIndex { $0.group == group } ?? sweeps.endIndex
            sweeps.insert((sweep, group), at: after)
        }
        goOn()
    }

    /// The first that can go on: the first of its group, and nothing of it is asked for.
    private var nextPlace: Int? {
        var groups: Set<ObjectIdentifier> = []
        return sweeps.firstIndex { groups.insert($0.group).inserted && !$0.sweep.isAsking }
    }

    /// Sees to it that those that can have their next turn.
    private func goOn() {
        for (sweep, _) in sweeps { sweep.ask(readers) { [weak self] in self?.goOn() } }
        if nextPlace != nil { timer.arm(nanoseconds: Self.pauseNanoseconds) }
    }
}
