internal import BudgetCore
internal import LinuxSystem
internal import Settings
internal import Systemd

extension Daemon {
    /// Reads a stream of a task, from its begin on, so that its story is told in order.
    func watch(
        _ descriptor: consuming OwnedDescriptor, _ stream: OutputStream, of task: RunningTask,
        command: Int
    ) throws {
        let pipe = OutputPipe(
            number: nextNumber(), of: task, command: command, stream: stream, descriptor)
        watched[pipe.number] = .output(pipe)
        task.pipes.append(pipe)
        if task.hasStarted { try read(pipe) }
    }

    /// What a task of an owner shares with those that run already.
    func sharedOutput(of owner: OwnerID) -> OwnerOutput {
        let limits = loaded.settings.limits
        return ownerOutputs.share(
            of: accountSource.accounts.account(of: owner),
            bytesPerSecondMax: limits.outputRatePerOwnerMax,
            linesPerSecondMax: limits.logRatePerOwnerMax)
    }

    /// A task has begun: what it prints is read from now on.
    func readOutput(of task: RunningTask) {
        do {
            for pipe in task.pipes { try read(pipe) }
        } catch {
            log.say(.outputNotRead, [.reason: "\(error)"])
        }
    }

    private func read(_ pipe: OutputPipe) throws {
        try epoll.add(pipe.descriptor.rawValue, .input, token: pipe.number)
    }

    /// What readers who are behind get until the pipe is looked at again.
    private static let readersShare = Duration.milliseconds(2)

    /// One read of a pipe that has something, or has ended.
    func outputReady(_ pipe: OutputPipe, at now: Instant) {
        switch pipe.read(into: buffer) {
        case .bytes(let complete):
            keep(complete, of: pipe, at: now)
            let behind = areReadersBehind(pipe.task) ? now + Daemon.readersShare : nil
            guard let until = [pipe.restUntil(now), behind].compactMap(\.self).max() else {
                return
            }
            resting[pipe.number] = until
            watch(pipe, for: [])
        case .end:
            keep(pipe.cutter.takeRest(), of: pipe, at: now)
            close(pipe, at: now)
        case .nothing: break
        }
    }

    /// Reads what is left of a task's output once no process of it is, or of a single command's once that
    /// has ended: what a handler's command leaves behind does not keep the daemon's descriptors.
    func drainOutput(of id: TaskID, command: Int? = nil, at now: Instant) {
        for pipe in running[id]?.pipes ?? [] where watched[pipe.number] != nil {
            guard command == nil || command == pipe.command else { continue }
            // What waits now, and no more: somebody outside the task may have the pipe and go on.
            for _ in stride(from: 0, to: pipe.waitingCount, by: OutputPipe.readMax) {
                guard case .bytes(let complete) = pipe.read(into: buffer) else { break }
                keep(complete, of: pipe, at: now)
            }
            keep(pipe.cutter.takeRest(), of: pipe, at: now)
            close(pipe, at: now)
        }
    }

    /// Says how many lines the log was spared, as one of the entries about their owner.
    private func sayNotLogged(of pipe: OutputPipe, at now: Instant) {
        let count = pipe.linesNotLogged
        guard count > 0 else { return }
        // Also where it is one entry too many: with each line to come there would be another.
        pipe.linesNotLogged = 0
        if let application = applications[pipe.task] {
            journal.outputNotLogged(count, of: application.key, at: now)
        } else if let record = registry.record(pipe.task) {
            journal.outputNotLogged(count, record, at: now)
        }
    }

    /// Passes what an application printed on to the log, which is where it is kept.
    private func log(
        _ bytes: [UInt8], of pipe: OutputPipe, _ key: ApplicationKey, at now: Instant
    ) {
        guard journal.logsOutput else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let line = pipe.takeLine(from: &rest)
            guard journal.takes(line, pipe.stream) else { continue }
            if pipe.mayLogLine(now) {
                sayNotLogged(of: pipe, at: now)
                journal.output(line, pipe.stream, of: key)
            } else {
                pipe.linesNotLogged += 1
            }
        }
    }

    /// Ends the watch of a pipe, and lets go of it.
    func close(_ pipe: OutputPipe, at now: Instant) {
        guard watched.removeValue(forKey: pipe.number) != nil else { return }
        resting[pipe.number] = nil
        sayNotLogged(of: pipe, at: now)
        // Fails only where it is not watched, which is what is wanted.
        try? epoll.remove(pipe.descriptor.rawValue)
        running[pipe.task]?.pipes.removeAll { $0 === pipe }
    }

    /// Reads the pipes and sockets again that have rested long enough.
    func resumeResting(at now: Instant) {
        guard !resting.isEmpty else { return }
        for number in resting.due(at: now) {
            resting[number] = nil
            switch watched[number] {
            case .output(let pipe):
                guard !areReadersBehind(pipe.task) else {
                    resting[number] = now + Daemon.readersShare
                    continue
                }
                watch(pipe, for: .input)
            case .notices(let source): watch(source, for: .input)
            case .listener, .holder, nil: break
            }
        }
    }

    private func watch(_ pipe: OutputPipe, for readiness: Readiness) {
        do {
            try epoll.modify(pipe.descriptor.rawValue, readiness, token: pipe.number)
        } catch {
            log.say(.outputNotRead, [.reason: "\(error)"])
        }
    }

    /// Keeps complete lines of a task's output, and passes them on.
    private func keep(_ bytes: [UInt8], of pipe: OutputPipe, at now: Instant) {
        guard !bytes.isEmpty else { return }
        if let application = applications[pipe.task] {
            return log(bytes, of: pipe, application.key, at: now)
        }
        outputs.append(
            bytes[...], of: pipe.stream, task: pipe.task,
            max: loaded.settings.limits.outputBytesMax)
        for client in watchers.followers(of: pipe.task) { wantReplies(client) }
        guard let record = registry.record(pipe.task) else { return }
        tellOutput(bytes, pipe.stream, record, at: now)
        guard journal.logsOutput else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let line = pipe.takeLine(from: &rest)
            guard journal.takes(line, pipe.stream) else { continue }
            if pipe.mayLogLine(now) {
                sayNotLogged(of: pipe, at: now)
                journal.output(line, pipe.stream, record)
            } else {
                pipe.linesNotLogged += 1
            }
        }
    }
}
