package import BudgetCore
package import LinuxSystem
package import Logging
internal import Settings
internal import Systemd

/// Who prints.
package enum Printer {
    case task(TaskID)
    case application(ApplicationKey)
}

/// The pipes of what a task or an application prints.
package final class RunnerOutput {
    let printer: Printer
    fileprivate let owner: OwnerID
    /// What it shares with the others of its owner's account.
    let share: OwnerOutput
    fileprivate var pipes: [OutputPipe] = []
    /// Whether its pipes are read: from its begin on, so that its story is told in order.
    fileprivate var isReading = false

    package init(_ printer: Printer, of owner: OwnerID, _ share: OwnerOutput) {
        self.printer = printer
        self.owner = owner
        self.share = share
    }

    fileprivate var task: TaskID? { if case .task(let id) = printer { id } else { nil } }
}

/// Reads what tasks and applications print: keeps it, logs it, and passes it on to those who read along.
///
/// Who prints more than may be read waits in its own pipe.
package final class OutputPump {
    /// What readers who are behind get until the pipe is looked at again.
    private static let readersShare = Duration.milliseconds(2)

    private let core: Core
    private let poll: DescriptorPoll
    private let closers: any DescriptorCloser
    private let settings: CurrentSettings
    private let accounts: AccountSource
    private let subscriptions: Subscriptions
    private let journal: AuditTrail
    private let log: Logger
    private var kept = OutputStore()
    /// What is printed by tasks whose processes are there.
    private var running: [TaskID: RunnerOutput] = [:]
    /// Tasks of which an earlier daemon has left all that it had read.
    private var whole: Set<TaskID> = []
    private var shares = OwnerOutputs()
    private var numberLast: UInt64 = 0
    private var readCount: UInt64 = 0
    /// Pipes that have something, or have ended.
    private var ready: [OutputPipe] = []
    private var throttled: [UInt64: OutputPipe] = [:]
    private var throttledUntil = Deadlines<UInt64>()

    package init(
        _ core: Core, _ poll: DescriptorPoll, _ closers: any DescriptorCloser,
        _ settings: CurrentSettings,
        _ accounts: AccountSource, _ subscriptions: Subscriptions, _ journal: AuditTrail,
        _ log: Logger
    ) {
        self.core = core
        self.poll = poll
        self.closers = closers
        self.settings = settings
        self.accounts = accounts
        self.subscriptions = subscriptions
        self.journal = journal
        self.log = log
    }

    /// What the output of ended tasks takes in memory.
    package var keptBytes: Int { kept.keptBytes }

    /// What is kept of a task's output.
    package subscript(id: TaskID) -> OutputLog? { kept[id] }

    /// Whether it is here what an ended task printed, as far as it was kept; else the disk may have it.
    func has(_ id: TaskID) -> Bool { kept[id].map { $0.byteCount > 0 || $0.end == 0 } ?? false }

    /// A task has ended for good, and the disk knows.
    ///
    /// - Returns: what is kept of its output.
    func endIsKnown(_ id: TaskID) -> OutputLog { kept.endIsKnown(id) }

    /// Forgets the output of a task that is not known any more.
    func forget(_ id: TaskID) { kept.forget(id) }

    // MARK: - Pipes

    /// A place for the pipes of what is going to be started.
    package func open(_ printer: Printer, of owner: OwnerID) -> RunnerOutput {
        if case .task(let id) = printer { kept.taskGoesOn(id) }
        let share = shares.share(
            of: accounts.accounts.account(of: owner),
            bytesPerSecondMax: settings.limits.outputRatePerOwnerMax,
            linesPerSecondMax: settings.limits.logRatePerOwnerMax)
        let output = RunnerOutput(printer, of: owner, share)
        if let task = output.task { running[task] = output }
        return output
    }

    /// Adds a stream of a command.
    package func add(
        _ descriptor: consuming OwnedDescriptor, _ stream: OutputStream, to output: RunnerOutput
    ) throws(SystemError) {
        numberLast += 1
        let source = OutputSource(descriptor, of: output.owner.rawValue, closer: closers)
        let pipe = OutputPipe(number: numberLast, of: output, stream: stream, source)
        output.pipes.append(pipe)
        if output.isReading { try follow(pipe) }
    }

    /// A task or an application has begun: what it prints is read from now on.
    package func startReading(_ output: RunnerOutput) {
        output.isReading = true
        do throws(SystemError) {
            for pipe in output.pipes { try follow(pipe) }
        } catch {
            log.say(.outputNotRead, [.reason: "\(error)"])
        }
    }

    private func follow(_ pipe: OutputPipe) throws(SystemError) {
        try pipe.follow(in: poll) { [unowned self] in ready.append($0) }
    }

    /// Reads what is left once no process is.
    func drain(_ output: RunnerOutput) {
        for pipe in output.pipes {
            // What waits now, and no more: somebody outside the task may have the pipe and go on.
            var left = pipe.waitingCount
            while left > 0, case .bytes(let count, let complete) = pipe.read(into: poll.buffer) {
                take(complete, of: pipe)
                left -= count
            }
            take(pipe.takeRest(), of: pipe)
            close(pipe)
        }
    }

    /// Lets go of the pipes of what has ended; what a task has printed is kept, as far as there is room.
    package func close(_ output: RunnerOutput) {
        for pipe in output.pipes { close(pipe) }
        shares.release(output.share)
        guard let task = output.task else { return }
        running[task] = nil
        kept.taskEnded(
            task, account: output.share.account, totalMax: settings.limits.outputTotalBytesMax)
    }

    private func close(_ pipe: OutputPipe) {
        pipe.output.pipes.removeAll { $0 === pipe }
        forgetThrottle(of: pipe.number)
        logLinesNotLogged(of: pipe)
        pipe.unfollow(in: poll)
    }

    // MARK: - From one daemon to the next

    /// Reads no more, and gives what the next daemon goes on from: of each task that has not ended what is kept of its
    /// output, also where that is nothing. What waits in the pipes is left there.
    package func handOver() -> [EndedOutput] {
        for output in running.values {
            for pipe in output.pipes {
                // Of a line that is not complete the next daemon reads the rest.
                take(pipe.takeRest(), of: pipe)
                forgetThrottle(of: pipe.number)
                logLinesNotLogged(of: pipe)
                pipe.unfollow(in: poll)
            }
        }
        return Set(kept.tasks).union(running.keys).sorted().compactMap { id in
            guard let task = core.registry.record(id)?.task, task.state != .ended else {
                return nil
            }
            return EndedOutput(task: id, owner: task.owner, log: kept[id] ?? OutputLog())
        }
    }

    /// Takes what an earlier daemon had of the output of a task that has not ended, as its beginning.
    ///
    /// - Parameter isWhole: whether that daemon has left all that it had read.
    package func restore(_ id: TaskID, _ log: OutputLog, isWhole: Bool) {
        kept.restore(id, log)
        if isWhole { whole.insert(id) }
    }

    /// A command of an earlier daemon goes on. What that had read of its output, and has not left, is said to be lost.
    package func commandFound(_ id: TaskID) {
        guard whole.remove(id) == nil, let owner = core.registry.record(id)?.task.owner,
            journal.takesEntry(about: owner, at: core.now)
        else { return }
        log.say(.outputLost, [.taskID: "\(id)", .owner: "\(owner)"])
    }

    /// What is kept of a task that has no processes any more, or not yet, counts among the output of ended ones.
    package func commandNotFound(_ id: TaskID) {
        whole.remove(id)
        guard running[id] == nil, let owner = core.registry.record(id)?.task.owner else { return }
        kept.taskEnded(
            id, account: accounts.accounts.account(of: owner),
            totalMax: settings.limits.outputTotalBytesMax)
    }

    // MARK: - Reading

    /// Reads the pipes that have something, each once.
    package func readReady() {
        guard !ready.isEmpty else { return }
        let pipes = ready
        ready.removeAll(keepingCapacity: true)
        for pipe in pipes where pipe.isFollowed { read(pipe) }
    }

    private func read(_ pipe: OutputPipe) {
        let allowed = pipe.allowedCount(core.now)
        // Others of its owner may have taken what there was for all.
        guard allowed > 0 else {
            if let until = pipe.throttledUntil(core.now) { throttle(pipe, until) }
            return
        }
        readCount += 1
        pipe.lastRead = readCount
        switch pipe.read(into: poll.buffer, atMost: allowed) {
        case .bytes(_, let complete):
            take(complete, of: pipe)
            let behind = areReadersBehind(pipe) ? core.now + Self.readersShare : nil
            let until = [pipe.throttledUntil(core.now), behind].compactMap(\.self).max()
            if let until { throttle(pipe, until) }
        case .failed(let reason):
            if journal.takesEntry(about: pipe.output.owner, at: core.now) {
                log.say(.outputNotRead, [.reason: reason, .owner: "\(pipe.output.owner)"])
            }
            fallthrough
        case .end:
            take(pipe.takeRest(), of: pipe)
            close(pipe)
        case .nothing: break
        }
    }

    private func areReadersBehind(_ pipe: OutputPipe) -> Bool {
        pipe.output.task.map(subscriptions.areReadersBehind) ?? false
    }

    // MARK: - Those that are left alone for a time

    /// When the first of them is to be read again.
    package var nextDeadline: Instant? { throttledUntil.first }

    /// Has the pipes read again that have been left alone long enough; first those that have waited longest, since what
    /// they share may not be enough for all.
    package func resumeThrottled() {
        let due = throttledUntil.due(at: core.now).compactMap { throttled[$0] }
        for pipe in due.sorted(by: { $0.lastRead < $1.lastRead }) {
            guard !areReadersBehind(pipe) else {
                throttledUntil[pipe.number] = core.now + Self.readersShare
                continue
            }
            forgetThrottle(of: pipe.number)
            setRests(false, pipe)
        }
    }

    private func throttle(_ pipe: OutputPipe, _ until: Instant) {
        throttled[pipe.number] = pipe
        throttledUntil[pipe.number] = until
        setRests(true, pipe)
    }

    private func forgetThrottle(of number: UInt64) {
        guard throttled.removeValue(forKey: number) != nil else { return }
        throttledUntil[number] = nil
    }

    private func setRests(_ rests: Bool, _ pipe: OutputPipe) {
        do throws(SystemError) {
            try pipe.setRests(rests, in: poll)
        } catch {
            log.say(.outputNotRead, [.reason: "\(error)"])
        }
    }

    // MARK: - What is printed

    /// Keeps complete lines of a task's output, and passes them on; those of an application go to the log alone.
    private func take(_ bytes: [UInt8], of pipe: OutputPipe) {
        guard !bytes.isEmpty else { return }
        if let task = pipe.output.task {
            kept.append(
                bytes[...], of: pipe.stream, task: task, at: core.clocks.time,
                max: settings.limits.outputBytesMax)
            subscriptions.publishOutput(bytes, pipe.stream, of: task)
        }
        log(bytes, of: pipe)
    }

    private func log(_ bytes: [UInt8], of pipe: OutputPipe) {
        guard journal.logsOutput else { return }
        let write: (OutputLine) -> Void
        switch pipe.output.printer {
        case .application(let key):
            write = { [journal] in journal.output($0, pipe.stream, of: key) }
        case .task(let id):
            guard let record = core.registry.record(id) else { return }
            write = { [journal] in journal.output($0, pipe.stream, record) }
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let line = pipe.takeLine(from: &rest)
            guard journal.takes(line, pipe.stream) else { continue }
            if pipe.mayLogLine(core.now) {
                logLinesNotLogged(of: pipe)
                write(line)
            } else {
                pipe.lineNotLogged()
            }
        }
    }

    /// Says how many lines the log was spared, as one of the entries about their owner.
    private func logLinesNotLogged(of pipe: OutputPipe) {
        // Also where it is one entry too many: with each line to come there would be another.
        let count = pipe.takeLinesNotLogged()
        guard count > 0 else { return }
        switch pipe.output.printer {
        case .application(let key): journal.outputNotLogged(count, of: key, at: core.now)
        case .task(let id):
            guard let record = core.registry.record(id) else { return }
            journal.outputNotLogged(count, record, at: core.now)
        }
    }
}
