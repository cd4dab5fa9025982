internal import CExecutor
internal import CLinux
internal import Glibc

/// A command that bgtask-executor runs, which goes on when this process ends.
///
/// Its executor fires its handler and its limit; see `ExecutorLink` for what it tells.
package final class ExecutedCommand {
    /// What a command is started with, besides what any process is.
    package struct Start {
        /// The caller's count of the starts of one task, from 1.
        package var attempt: Int
        /// Sent to all its processes when the handler fires; `nil` sends none.
        package var handlerSignal: Int32?
        /// Run beside it then; empty: nothing.
        package var handler: [String]
        package var times: CommandTimes
        /// Nanoseconds from a handler that fires before its time to the limit.
        package var grace: UInt64
        /// A descriptor that the executor keeps and gives to the next daemon; borrowed.
        package var kept: Int32?

        package init(
            attempt: Int, handlerSignal: Int32?, handler: [String], times: CommandTimes,
            grace: UInt64, kept: Int32?
        ) {
            self.attempt = attempt
            self.handlerSignal = handlerSignal
            self.handler = handler
            self.times = times
            self.grace = grace
            self.kept = kept
        }
    }

    /// How far it is, as far as was told.
    enum Phase {
        /// Nothing was ordered yet.
        case new
        /// The order is on its way.
        case ordered
        /// The executor has it, and its program may not run yet.
        case starting
        case running
        /// It was never started, or no process of it is left.
        case over
    }

    /// What it is known by.
    package let identifier: UInt64
    package private(set) var attempt = 1
    private unowned let link: ExecutorLink
    private(set) var phase = Phase.new
    /// What is told of the start quotes it.
    private var request: LaunchRequest?
    /// What is run as its handler; empty where that is nothing, or not known.
    private var handler: [String] = []
    private var standardOutput: Int32 = -1
    private var standardError: Int32 = -1
    private var kept: Int32 = -1
    private var times = MirroredTimes(told: CommandTimes(handlerAt: 0, limitAt: 0, notes: []))
    /// Its output has come.
    private var hasOutput = false
    /// What was told of it, so that nothing is told twice.
    private var hasExited = false
    private var isLimitTold = false
    /// Nothing was left of it when its executor let its limit pass.
    private var isLimitIdle = false
    /// Signals and more that the executor is still to be told of.
    private var owed = OwedOrders()
    /// Nobody wants to know any more; it is forgotten when it is over.
    private(set) var isAbandoned = false
    /// Its end is on disk: it may be forgotten once it is over.
    private(set) var isToBeForgotten = false
    /// The number of its group; 0 before that is known, and where there are no groups.
    private var group: UInt64 = 0
    /// What that had used before the command began, which the kernel counts on.
    private var cpuBefore: UInt64 = 0
    /// Its supervisor; 0 where it has a group.
    private var supervisor: UInt32 = 0
    private var useAtEnd: ProcessUse?

    init(_ identifier: UInt64, link: ExecutorLink) {
        self.identifier = identifier
        self.link = link
    }

    /// One that an earlier daemon has started.
    init(entry message: inout ExecutorMessage, link: ExecutorLink) {
        identifier = message.record.command
        self.link = link
        attempt = Int(message.record.attempt)
        phase = message.has(EXECUTOR_HAS_STARTED) ? .running : .starting
        (group, supervisor) = (message.record.place, message.record.supervisor)
        cpuBefore = message.record.cpu_us
        times = MirroredTimes(told: CommandTimes(message.record))
        takeOutput(of: &message)
        kept = message.takeDescriptor()?.take() ?? -1
    }

    deinit { closeDescriptors() }

    private func closeDescriptors() {
        for descriptor in [standardOutput, standardError, kept] where descriptor >= 0 {
            Glibc.close(descriptor)
        }
        (standardOutput, standardError, kept) = (-1, -1, -1)
    }

    // MARK: - Orders

    /// Has it started; the events `started` or `startFailed` follow.
    ///
    /// - Throws: where that cannot even be ordered, such as while no executor is there.
    package func start(_ request: LaunchRequest, _ start: Start) throws(LaunchError) {
        attempt = start.attempt
        times = MirroredTimes(told: start.times)
        self.request = request
        handler = start.handler
        try link.start(self, request, start)
        phase = .ordered
    }

    /// Sets when handler and limit are due; told to the executor by `ExecutorLink.tellTimes`.
    package func setTimes(_ times: CommandTimes) {
        self.times.want(times)
        link.timesChanged(of: self)
    }

    /// Has the handler fire now, where it has not fired for this already.
    package func warn() {
        times.warn()
        link.timesChanged(of: self)
    }

    /// - Returns: what the executor is to be told of the times with this serial; `nil` where nothing is.
    func nextTimesOrder(serial: UInt64) -> MirroredTimes.Order? { times.nextOrder(serial: serial) }

    /// - Returns: whether it is the answer to the newest order.
    func timesAnswered(_ serial: UInt64, isTaken: Bool) -> Bool {
        times.answered(serial, isTaken: isTaken)
    }

    /// The connection is another one: nobody knows which orders have come.
    func tellAgain() {
        times.tellAgain()
        owed.connectionIsNew()
    }

    /// Whether the executor goes by the times that were set last.
    package var hasToldTimes: Bool { times.areInForce || phase.isOver }

    /// Sends a signal to all its processes, which are thawed for it.
    ///
    /// - Returns: `nil`: how many get it is not known here.
    @discardableResult
    package func signal(_ number: Int32) -> Int? {
        guard !phase.isOver else { return nil }
        owed.want(signal: number)
        link.tellOwed(of: self)
        return nil
    }

    /// Asks for the freeze or the thaw of all its processes; the event `frozen` tells when it is done, or that it was done
    /// already.
    ///
    /// - Throws: EAGAIN while no executor is there.
    package func setFrozen(_ frozen: Bool) throws(SystemError) {
        guard !phase.isOver else { return }
        try link.expectFreezing(frozen)
        owed.want(freeze: frozen)
        link.tellOwed(of: self)
    }

    /// Orders the end of all its processes; `gone` tells when.
    package func kill() {
        guard !phase.isOver else { return }
        owed.wantKill()
        link.tellOwed(of: self)
    }

    /// When it is to be at its end, and was not told to be; 0: never.
    var openLimit: UInt64 { isLimitTold || isLimitIdle || phase.isOver ? 0 : times.limitAt }

    /// Kills it at its limit, which its executor has let pass. It is not forgotten, and so its group is nobody else's.
    ///
    /// - Returns: whether anything was there to be killed, and could be.
    func killAtLimit() -> Bool {
        guard !phase.isOver else { return false }
        if supervisor != 0 {
            isLimitTold = link.killSupervisor(Int32(bitPattern: supervisor))
        } else if group != 0 {
            do {
                guard let cgroup = try cgroup(), try cgroup.stateNow().isPopulated else {
                    // Those that have left it are the executor's to find.
                    isLimitIdle = true
                    return false
                }
                try cgroup.kill()
                isLimitTold = true
            } catch {
                // It is tried again.
                return false
            }
        }
        return isLimitTold
    }

    /// Ends the use: no more events. What still runs is killed.
    package func close() {
        abandon()
        guard phase.isOrdered else { return }
        kill()
        link.isAbandoned(self)
    }

    /// Nobody wants to know of it any more.
    func abandon() { isAbandoned = true }

    /// Takes what the executor is to be told now of what it is owed; see ``OwedOrders/next(isLast:)``.
    func nextOwed(isLast: Bool) -> OwedOrders.Order? { owed.next(isLast: isLast) }

    /// An order of this kind is answered.
    func owedAnswered(_ kind: OwedOrders.Kind) { owed.answered(kind) }

    /// What its caller knows of its end is on disk.
    func endIsStored() { isToBeForgotten = true }

    // MARK: - What it has

    /// What came with its start, once.
    package func takeStandardOutput() -> OwnedDescriptor? { Self.take(&standardOutput) }

    /// The same of its standard error.
    package func takeStandardError() -> OwnedDescriptor? { Self.take(&standardError) }

    /// The descriptor that was to be kept with it, once, where an earlier daemon gave it.
    package func takeKept() -> OwnedDescriptor? { Self.take(&kept) }

    private static func take(_ descriptor: inout Int32) -> OwnedDescriptor? {
        guard descriptor >= 0 else { return nil }
        defer { descriptor = -1 }
        return OwnedDescriptor(descriptor)
    }

    /// Where its processes live; `nil` while that is not known, and when none is left.
    var home: ProcessHome? {
        if phase.isOver { return nil }
        if supervisor != 0 { return .supervisor(Int32(bitPattern: supervisor)) }
        return group == 0 ? nil : link.name(ofGroup: group).map(ProcessHome.group)
    }

    /// Its group, while it has one.
    func cgroup() throws(SystemError) -> Cgroup? {
        guard !phase.isOver, group != 0 else { return nil }
        return try link.cgroup(group)
    }

    /// What all its processes have used so far, and in the end; `nil` where that is not known.
    package func readUse() -> ProcessUse? {
        if let useAtEnd { return useAtEnd }
        guard group != 0, let folder = link.folder(ofGroup: group) else { return nil }
        return ProcessUse(ofGroup: folder.rawValue, after: cpuBefore)
    }

    // MARK: - What it is told

    /// Its output comes in the order standard output, standard error, what is kept.
    private func takeOutput(of message: inout ExecutorMessage) {
        // What came before is the same, or is in use.
        guard !hasOutput else { return }
        hasOutput = true
        standardOutput = message.takeDescriptor()?.take() ?? -1
        standardError = message.takeDescriptor()?.take() ?? -1
    }

    /// It is among those that the executor has, which was started here: the start may have been told to nobody.
    func isListed(_ message: inout ExecutorMessage) -> ProcessEvent.What? {
        guard message.has(EXECUTOR_HAS_STARTED) else { return startAnswered(0) }
        return started(&message)
    }

    /// The executor has the order to start it, or refuses it.
    ///
    /// - Returns: what is to be told of it.
    func startAnswered(_ code: Int32) -> ProcessEvent.What? {
        guard code != 0 else {
            if case .ordered = phase { phase = .starting }
            return nil
        }
        phase = .over
        // Tried again: an earlier attempt is not forgotten yet, or the executor ends, or had no room for descriptors.
        let errno = [EEXIST, ECANCELED, EBADF].contains(code) ? EAGAIN : code
        return .startFailed(index: 0, failure(.prepare, errno))
    }

    /// Its executor is gone, and has taken it along.
    func lost() { phase = .over }

    /// Takes what the executor tells of it.
    ///
    /// - Returns: what is to be told of it.
    func take(_ message: inout ExecutorMessage) -> ProcessEvent.What? {
        let isOfHandler = message.has(EXECUTOR_OF_HANDLER)
        switch message.kind {
        case EXECUTOR_STARTED: return started(&message)
        case EXECUTOR_NOT_STARTED: return notStarted(message.record, isOfHandler)
        case EXECUTOR_HANDLER_FIRED:
            let count = message.record.number
            return times.handlerFired(count)
                ? .warned(count: Int(count), stop: message.stop) : nil
        case EXECUTOR_LIMIT_FIRED:
            defer { isLimitTold = true }
            return isLimitTold ? nil : .limitReached
        case EXECUTOR_EXITED where isOfHandler: return .exited(index: 1, message.exit)
        case EXECUTOR_EXITED:
            defer { hasExited = true }
            return hasExited ? nil : .exited(index: 0, message.exit)
        case EXECUTOR_FROZEN where message.record.code != 0:
            return freezeFailed(message.record.code)
        case EXECUTOR_FROZEN: return .frozen(message.has(EXECUTOR_IS_FROZEN))
        case EXECUTOR_GONE: return gone(message.record)
        default: return nil
        }
    }

    private func started(_ message: inout ExecutorMessage) -> ProcessEvent.What? {
        takeOutput(of: &message)
        (group, supervisor) = (message.record.place, message.record.supervisor)
        cpuBefore = message.record.cpu_us
        request = nil
        switch phase {
        case .ordered, .starting:
            phase = .running
            return .started(index: 0, processID: message.record.pid)
        case .new, .running, .over: return nil
        }
    }

    private func notStarted(
        _ record: executor_record, _ isOfHandler: Bool
    ) -> ProcessEvent.What? {
        let stage = clx_stage(record.number)
        guard !isOfHandler else {
            let arguments = handler.isEmpty ? ["its expiration handler"] : handler
            return .startFailed(
                index: 1,
                LaunchError(
                    stage: stage, errno: record.code,
                    request: LaunchRequest(arguments: arguments)))
        }
        if case .over = phase { return nil }
        phase = .over
        let request = request ?? LaunchRequest(arguments: ["its command"])
        return .startFailed(
            index: 0, LaunchError(stage: stage, errno: record.code, request: request))
    }

    private static let reasons: [Int32: String] = [
        ETIMEDOUT: "it does not stop, or starts others all the time",
        EPERM: "one of its processes has become another user's, and may not be stopped",
    ]

    private func freezeFailed(_ errno: Int32) -> ProcessEvent.What {
        .freezeFailed(
            SystemError(
                operation: "freeze", errno: errno, subject: "command \(identifier)",
                detail: Self.reasons[errno]))
    }

    /// - Returns: what the refusal of a freeze or a thaw tells; `nil` where its end tells more.
    func refused(freeze: Bool, _ errno: Int32) -> ProcessEvent.What? {
        if errno == ESRCH || errno == ENOENT { return nil }
        if freeze { return freezeFailed(errno) }
        return .thawFailed(
            SystemError(operation: "thaw", errno: errno, subject: "command \(identifier)"))
    }

    private func failure(_ stage: LaunchError.Stage, _ errno: Int32) -> LaunchError {
        LaunchError(stage: stage, errno: errno, subject: request?.arguments.first ?? "")
    }

    private func gone(_ record: executor_record) -> ProcessEvent.What? {
        if case .over = phase { return nil }
        phase = .over
        useAtEnd = ProcessUse(
            cpuMicroseconds: record.cpu_us,
            memoryPeakBytes: record.memory_peak_bytes == 0 ? nil : record.memory_peak_bytes)
        return .gone
    }
}

extension ExecutedCommand.Phase {
    /// Whether the executor may have it.
    var isOrdered: Bool { if case .new = self { false } else { true } }
    var isOver: Bool { if case .over = self { true } else { false } }
}

extension CommandTimes {
    init(_ record: executor_record) {
        self.init(
            handlerAt: record.handler_at, limitAt: record.limit_at, notes: record.keptNotes)
    }
}
