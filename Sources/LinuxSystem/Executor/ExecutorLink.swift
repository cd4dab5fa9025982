internal import CExecutor
internal import CLinux
internal import Glibc

/// The way to bgtask-executor: what it is ordered, and what it tells of the commands that it runs.
///
/// It outlives its connection: where the executor is gone, the next one is waited for, and commands that it does not
/// know are told to be lost. For one thread.
package final class ExecutorLink: WatchOwner {
    /// How long the executor may take for its greeting and the list of what it runs.
    private static let greetingMax: Int64 = 30_000_000_000
    /// How long one that ends or is started just now is waited for at the start.
    private static let startMax: Int64 = 10_000_000_000
    /// How long it is waited for room for descriptors.
    private static let roomPause: Int64 = 500_000_000
    /// How long orders that wait for room may hold up the end.
    private static let closingMax: Int64 = 2_000_000_000
    /// Orders that wait for room in the socket. While they are that many nothing is started.
    private static let waitingMax = 4096

    private enum Phase {
        /// Nobody is connected; tried again at the moment of the clock.
        case absent(retryAt: Int64)
        /// WELCOME or LISTED is waited for, until that moment.
        case greeting(ExecutorConnection, until: Int64)
        case ready(ExecutorConnection)
    }

    /// How it is reached.
    enum Way {
        /// It listens at this socket.
        case socket(path: String)
        /// It is started.
        case child(ExecutorChild)
    }

    private let way: Way
    private let owner: Owner
    private let watches: WatchList
    private var phase = Phase.absent(retryAt: 0)
    private var absence = ExecutorAbsence()
    /// The one that was found last.
    package private(set) var executor: Executor?
    private var tree: ExecutorTree?
    private var serial: UInt64 = 0
    private var commands: [UInt64: ExecutedCommand] = [:]
    /// Those that an earlier daemon had started.
    package private(set) var listed: [ListedCommand] = []
    /// Those that the executor runs that is being greeted, and those of them that nobody knows.
    private var known: Set<UInt64> = []
    private var unwanted: [ExecutedCommand] = []
    /// Commands that were told to be lost, of which the disk does not know that.
    private var lostUnstored: Set<UInt64> = []
    /// Whether what is listed was started by an earlier daemon.
    private var executorIsFirst = true
    private var awaited = AwaitedOrders()
    /// A start was refused since too many orders wait.
    private var isBehind = false
    private var silence = ExecutorSilence()
    private var limits = OverdueLimits()
    private var renewal = ExecutorRenewal()
    /// When everything is asked for once more, since this process had no room for descriptors; `nil`: nothing is missed.
    private var listAgainAt: Int64?
    /// Those whose times are to be told.
    private var changed: [UInt64: ExecutedCommand] = [:]
    /// What has happened outside of `ready`, such as before anybody could be told.
    private var held: [ProcessEvent] = []
    private var news: [News] = []
    private var bounds = Bounds()
    /// What of it the last HELLO has said.
    private var saidAbsenceMax: UInt64?

    /// Greets the executor, and waits for the list of what it runs.
    ///
    /// - Throws: ENOENT or ECONNREFUSED where nobody listens; EBUSY where it runs commands of another owner; ETIMEDOUT; EPIPE
    ///   where one that was started has ended.
    init(_ way: Way, owner: Owner, watches: WatchList) throws(SystemError) {
        self.way = way
        self.owner = owner
        self.watches = watches
        let until = MonotonicClock.now() + Self.startMax
        while !isReady {
            do throws(SystemError) {
                try greet()
            } catch {
                if case .child(let child) = way {
                    throw error.errno == EPIPE ? child.failure() : error
                }
                guard [EPIPE, ECONNREFUSED, EAGAIN].contains(error.errno),
                    MonotonicClock.now() < until
                else { throw error }
                (commands, listed, held) = ([:], [], [])
                poll(nil, 0, 100)
            }
        }
        news = []
        listed.sort { $0.command.identifier < $1.command.identifier }
    }

    /// Connects, and waits until it is known what runs.
    private func greet() throws(SystemError) {
        try connect()
        var events: [ProcessEvent] = []
        while case .greeting(let connection, let until) = phase {
            let left = (until - MonotonicClock.now()) / 1_000_000
            do throws(SystemError) {
                guard left > 0 else {
                    throw SystemError(operation: "greet", errno: ETIMEDOUT, subject: path)
                }
                guard connection.wait(milliseconds: Int32(clamping: left)) else { continue }
                try receiveAll(connection, &events)
            } catch {
                connection.endWatch()
                phase = .absent(retryAt: 0)
                throw error
            }
        }
        held += events
    }

    /// Whether its commands go on when this process ends.
    package var outlivesProcess: Bool { if case .socket = way { true } else { false } }

    /// What holds the processes of its commands together.
    package var containment: Containment { tree == nil ? .supervisor : .cgroup }

    private var path: String {
        switch way {
        case .socket(let path): path
        case .child(let child): child.path
        }
    }

    /// Whether there is one, which knows this daemon.
    package var isReady: Bool { if case .ready = phase { true } else { false } }

    /// Whether it has not answered for some time: nothing is started then.
    package var isSilent: Bool { silence.isLong }

    /// Takes those that an earlier daemon had started, in the order of their identifiers.
    package func takeListed() -> [ListedCommand] {
        defer { listed = [] }
        return listed
    }

    /// What has become of the connection since the last call.
    package func takeNews() -> [News] {
        defer { news = [] }
        return news
    }

    // MARK: - The connection

    private func connect() throws(SystemError) {
        let connection =
            switch way {
            case .socket(let path): try ExecutorConnection(path: path)
            case .child(let child): try child.start()
            }
        try connection.send(hello())
        // Who is refused by an executor that has hung up already reads why.
        try? connection.send(executor_record(EXECUTOR_LIST, serial: nextSerial()))
        try connection.watch(in: watches, owner: self)
        phase = .greeting(connection, until: MonotonicClock.now() + Self.greetingMax)
        known = []
    }

    private func hello() -> executor_record {
        var hello = executor_record(EXECUTOR_HELLO, serial: nextSerial())
        hello.instance = (owner.high, owner.low)
        hello.grace = bounds.absenceMax ?? 0
        saidAbsenceMax = bounds.absenceMax
        return hello
    }

    /// Sets what holds for commands that are started from now on, and for all of them after this daemon.
    package func setBounds(_ bounds: Bounds) {
        self.bounds = bounds
        greetAgain()
    }

    /// Says HELLO again, where what it says has changed since.
    private func greetAgain() {
        guard bounds.absenceMax != saidAbsenceMax, case .ready(let connection) = phase
        else { return }
        _ = send(hello(), nil, connection)
    }

    private var connection: ExecutorConnection? {
        switch phase {
        case .absent: nil
        case .greeting(let connection, _), .ready(let connection): connection
        }
    }

    /// When it is to be seen whether there is an executor again; nanoseconds on CLOCK_MONOTONIC.
    package var nextDeadline: Int64? {
        switch phase {
        case .absent(let retryAt): retryAt
        case .greeting(_, let until): until
        case .ready(let connection):
            [silence.nextDeadline, limits.nextDeadline, listAgainAt, connection.sendHeldAt]
                .compactMap(\.self).min()
        }
    }

    /// Tries to connect again, or gives up what there is no executor for.
    package func deadlineReached() {
        let now = MonotonicClock.now()
        switch phase {
        case .ready(let connection):
            if silence.isNewlyLong(at: now) { news.append(.silent) }
            if silence.isToBeLookedAt(at: now) { endIfUseless() }
            keepLimits(at: now)
            // Where the other end is gone, that is found out by reading.
            if let moment = connection.sendHeldAt, moment <= now { try? connection.sendHeld() }
            guard let listAgainAt, listAgainAt <= now else { return }
            self.listAgainAt = nil
            order(EXECUTOR_LIST)
            return
        case .greeting(_, let until):
            guard until <= now else { return }
            lose(SystemError(operation: "greet", errno: ETIMEDOUT, subject: path))
        case .absent(let retryAt):
            guard retryAt <= now else { return }
            do throws(SystemError) {
                try connect()
            } catch {
                phase = .absent(retryAt: absence.nextTry(after: now))
            }
        }
        if absence.takesTooLong(at: now) { loseCommands() }
    }

    /// Kills what is past its limit and was not told to be.
    private func keepLimits(at now: Int64) {
        let all = commands.values.lazy.map { (command: $0.identifier, limitAt: $0.openLimit) }
        for identifier in limits.takeOverdue(of: all, at: now) {
            guard let command = commands[identifier], command.killAtLimit() else { continue }
            news.append(.limitKept(command: identifier))
            emit(.limitReached, of: command, &held)
        }
    }

    /// Kills an executor that stands still where nothing of it runs: its service manager does not watch it while it has
    /// commands, and cannot see that they are gone.
    private func endIfUseless() {
        guard let executor, runsNothing(executor.processID) else { return }
        Glibc.kill(executor.processID, SIGKILL)
        news.append(.killed(executor))
    }

    /// Whether no process descends from an executor. It is the subreaper of all that do, and so one that lives would have a
    /// parent that lives, up to a child of its own.
    private func runsNothing(_ processID: Int32) -> Bool {
        let path = "/proc/\(processID)/task/\(processID)/children"
        guard let children = try? readText(path) else { return false }
        let group = try? readText("/proc/\(processID)/cgroup")
        return children.split(separator: " ").compactMap { Int32($0) }.allSatisfy { child in
            // One that is over, or is not there any more.
            guard let process = try? OwnedDescriptor.process(child),
                !process.waitReadable(milliseconds: 0)
            else { return true }
            // What closes, reads and removes for it lives where it does. No command but root's can go there, whatever it calls itself.
            guard let name = try? readText("/proc/\(child)/comm") else { return false }
            return Self.helpers.contains(name)
                && (try? readText("/proc/\(child)/cgroup")) == group
        }
    }

    private static let helpers = ["bgtask-closer\n", "bgtask-reader\n", "bgtask-remover\n"]

    /// Kills a supervisor of a command, and with it the command itself.
    ///
    /// - Returns: whether it was there.
    func killSupervisor(_ processID: Int32) -> Bool {
        guard let executor, let process = try? OwnedDescriptor.process(processID),
            // The number may be another's by now.
            (try? ProcessStat(of: processID))?.parent == executor.processID
        else { return false }
        return clx_pidfd_send_signal(process.rawValue, SIGKILL) == 0
    }

    /// The connection is of no use any more.
    private func lose(_ error: SystemError) {
        switch phase {
        case .absent: return
        case .greeting(let connection, _), .ready(let connection): connection.endWatch()
        }
        let now = MonotonicClock.now()
        if isReady {
            news.append(.lost(error))
            // One that is there, and that this process has no room for, has not taken anything along.
            absence.begin(at: now, hasEnded: error.errno != EMFILE)
        }
        phase = .absent(retryAt: isReady ? now : absence.nextTry(after: now))
        awaited = AwaitedOrders()
        silence = ExecutorSilence()
        listAgainAt = nil
    }

    /// The commands of an executor that is gone are gone too, but for some.
    private func loseCommands(but known: Set<UInt64> = []) {
        for command in commands.values where !known.contains(command.identifier) {
            commands[command.identifier] = nil
            guard !command.phase.isOver else { continue }
            command.lost()
            lostUnstored.insert(command.identifier)
            emit(.lost, of: command, &held)
        }
    }

    /// Says no more, and hears no more. What runs goes on, but for one that is a child, which ends.
    package func close() {
        sendLast()
        connection?.endWatch()
        phase = .absent(retryAt: .max)
        if case .child(let child) = way { child.waitForEnd(reaps: false) }
    }

    /// What was ordered is to arrive. What is told meanwhile is told again to the next who asks.
    private func sendLast() {
        guard let connection else { return }
        let until = MonotonicClock.now() + Self.closingMax
        for command in commands.values { tellOwed(of: command, isLast: true) }
        do throws(SystemError) {
            try connection.sendHeld()
            while connection.waitingCount > 0, MonotonicClock.now() < until {
                guard connection.wait(milliseconds: 200) else { continue }
                while try connection.receive() != nil {}
                try connection.sendWaiting()
            }
        } catch {
            // The other end is gone: it knows no more than it does.
        }
    }

    // MARK: - Orders

    private func nextSerial() -> UInt64 {
        serial += 1
        return serial
    }

    /// Sends an order; where nobody is there any more, that is found out by reading.
    ///
    /// - Parameter serial: `nil` for the next one, where nobody waits for the answer.
    private func order(
        _ kind: executor_kind, _ command: ExecutedCommand? = nil, serial: UInt64? = nil,
        _ fill: (inout executor_record) -> Void = { _ in }
    ) {
        guard case .ready(let connection) = phase else { return }
        var record = executor_record(kind, serial: serial ?? nextSerial())
        record.command = command?.identifier ?? 0
        fill(&record)
        _ = send(record, nil, connection)
    }

    /// - Returns: whether the other end is there; where it is not, reading what it said last tells so.
    private func send(
        _ record: executor_record, _ descriptors: OutgoingDescriptors?,
        _ connection: ExecutorConnection
    ) -> Bool {
        do throws(SystemError) {
            try connection.send(record, descriptors)
            return true
        } catch {
            return false
        }
    }

    /// A place for a command.
    package func makeCommand(_ identifier: UInt64) -> ExecutedCommand {
        ExecutedCommand(identifier, link: self)
    }

    func start(
        _ command: ExecutedCommand, _ request: LaunchRequest, _ start: ExecutedCommand.Start
    ) throws(LaunchError) {
        let subject = request.arguments.first ?? ""
        guard case .ready(let connection) = phase
        else { throw unavailable("is not connected", ENOTCONN) }
        guard !silence.isLong else { throw unavailable("does not answer", ENOTCONN) }
        guard connection.waitingCount < Self.waitingMax else {
            isBehind = true
            throw unavailable("is behind with its orders", ENOTCONN)
        }
        guard commands[command.identifier] == nil else {
            throw unavailable("has the command before it still", EBUSY)
        }
        let descriptors = OutgoingDescriptors()
        descriptors.add(
            try CommandWork.file(
                request, handler: start.handler, processesMax: bounds.processesMax))
        var record = executor_record(EXECUTOR_START, serial: nextSerial())
        record.command = command.identifier
        record.attempt = UInt32(clamping: start.attempt)
        record.number = UInt32(start.handlerSignal ?? 0)
        record.grace = start.grace
        record.set(start.times)
        do throws(SystemError) {
            if let input = request.input {
                descriptors.add(try readableMemoryFile(input))
                record.flags |= EXECUTOR_WITH_INPUT.rawValue
            }
            if let kept = start.kept {
                descriptors.add(
                    OwnedDescriptor(
                        try systemCall("dup") { fcntl(kept, F_DUPFD_CLOEXEC, 0) }))
                record.flags |= EXECUTOR_WITH_KEPT.rawValue
            }
        } catch {
            throw LaunchError(stage: .prepare, errno: error.errno, subject: subject)
        }
        guard send(record, descriptors, connection) else {
            throw unavailable("is not connected")
        }
        commands[command.identifier] = command
        limits.note(limitAt: start.times.limitAt)
        awaited.add(.start, of: command.identifier, serial: record.serial)
        silence.ordered(at: MonotonicClock.now())
    }

    /// - Parameter errno: ENOTCONN until `News.found`, `News.answers` or `News.caughtUp`.
    private func unavailable(_ what: String, _ errno: Int32 = EAGAIN) -> LaunchError {
        LaunchError(stage: .executor, errno: errno, subject: "bgtask-executor \(what)")
    }

    func timesChanged(of command: ExecutedCommand) {
        guard command.phase.isOrdered else { return }
        changed[command.identifier] = command
        limits.note(limitAt: command.openLimit)
    }

    /// Tells the executor of all times that have changed.
    package func tellTimes() {
        guard !changed.isEmpty, isReady else { return }
        for command in changed.values where !command.phase.isOver {
            let serial = nextSerial()
            guard let wanted = command.nextTimesOrder(serial: serial) else { continue }
            awaited.add(.times, of: command.identifier, serial: serial)
            order(EXECUTOR_SET_DEADLINES, command, serial: serial) { record in
                record.set(wanted.times)
                record.number = wanted.fired
                if wanted.isAgain { record.flags |= EXECUTOR_HANDLER_AGAIN.rawValue }
            }
        }
        changed.removeAll(keepingCapacity: true)
        if awaited.areUrgent { silence.ordered(at: MonotonicClock.now()) }
    }

    /// Tells the executor what may be told now of what it is owed of a command; the rest goes when that is answered, or when
    /// an executor is there.
    ///
    /// - Parameter isLast: all of it goes, since no answer is waited for.
    func tellOwed(of command: ExecutedCommand, isLast: Bool = false) {
        guard isReady, !command.phase.isOver else { return }
        while let owed = command.nextOwed(isLast: isLast) {
            let serial = nextSerial()
            switch owed {
            case .signal(let number):
                awaited.add(.signal, of: command.identifier, serial: serial)
                order(EXECUTOR_SIGNAL, command, serial: serial) { $0.number = UInt32(number) }
            case .freezing(let isFrozen):
                awaited.add(.freezing(isFrozen), of: command.identifier, serial: serial)
                order(isFrozen ? EXECUTOR_FREEZE : EXECUTOR_THAW, command, serial: serial)
            case .kill:
                awaited.add(.kill, of: command.identifier, serial: serial)
                order(EXECUTOR_KILL, command, serial: serial)
            }
        }
    }

    private func answered(_ kind: OwedOrders.Kind, _ command: ExecutedCommand) {
        command.owedAnswered(kind)
        tellOwed(of: command)
    }

    /// - Throws: EAGAIN while no executor is there, which would be told too late.
    func expectFreezing(_ isFrozen: Bool) throws(SystemError) {
        guard isReady else {
            throw SystemError(
                operation: isFrozen ? "freeze" : "thaw", errno: EAGAIN,
                detail: "bgtask-executor is not connected; try again")
        }
    }

    /// Nobody wants to know of a command any more.
    func isAbandoned(_ command: ExecutedCommand) { forgetIfOver(command) }

    /// What the caller knows of the end of a command is on disk: the executor may forget it.
    package func endIsStored(_ identifier: UInt64) {
        lostUnstored.remove(identifier)
        guard let command = commands[identifier] else { return }
        command.endIsStored()
        forgetIfOver(command)
    }

    /// Goes with the next order: nobody waits for it.
    private func forget(_ command: ExecutedCommand) {
        var record = executor_record(EXECUTOR_FORGET, serial: nextSerial())
        record.command = command.identifier
        record.attempt = UInt32(clamping: command.attempt)
        connection?.hold(record)
    }

    private func forgetIfOver(_ command: ExecutedCommand) {
        guard command.isToBeForgotten, command.phase.isOver, isReady,
            commands[command.identifier] === command
        else { return }
        forget(command)
        commands[command.identifier] = nil
        renewIfIdle()
    }

    /// Ends and forgets a command that nobody here knows of.
    package func discard(_ command: ExecutedCommand) {
        // What was told of it is not about a later attempt of its task.
        held.removeAll { $0.task == command.identifier }
        if !lostUnstored.contains(command.identifier) { command.endIsStored() }
        command.close()
    }

    /// Has the executor end once nothing runs any more.
    package func exitWhenIdle() { order(EXECUTOR_EXIT) }

    func folder(ofGroup number: UInt64) -> OwnedDescriptor? {
        tree.flatMap { try? $0.folder(ofGroup: number) }
    }

    /// The folder in which the groups of commands are; `nil` where there are none.
    package var groupFolder: String? { tree?.path }

    /// The name of a group of a command, as /proc/PID/cgroup shows it.
    func name(ofGroup number: UInt64) -> String? { tree?.name(ofGroup: number) }

    /// A group of a command; `nil` where there is no executor that has one.
    func cgroup(_ number: UInt64) throws(SystemError) -> Cgroup? { try tree?.cgroup(number) }

    // MARK: - What it tells

    /// Appends what has happened outside of `ready`.
    func takeHeld(_ events: inout [ProcessEvent]) {
        events += held
        held = []
    }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        guard let connection else { return }
        do throws(SystemError) {
            // Where the other end is gone, what it said last is there to be read.
            try? connection.sendWaiting()
            if isBehind, connection.waitingCount == 0 {
                isBehind = false
                news.append(.caughtUp)
            }
            try receiveAll(connection, &events)
        } catch {
            lose(error)
        }
    }

    private func receiveAll(
        _ connection: ExecutorConnection, _ events: inout [ProcessEvent]
    ) throws(SystemError) {
        // What comes meanwhile keeps the descriptor readable.
        for _ in 0..<256 {
            do throws(SystemError) {
                guard var message = try connection.receive() else { break }
                try take(&message, &events)
            } catch  where error.errno == EMFILE && isReady {
                listAgainAt = MonotonicClock.now() + Self.roomPause
            }
        }
        if silence.heard(isAwaited: awaited.areUrgent, at: MonotonicClock.now()) {
            news.append(.answers)
        }
    }

    private func take(
        _ message: inout ExecutorMessage, _ events: inout [ProcessEvent]
    ) throws(SystemError) {
        switch message.kind {
        case EXECUTOR_WELCOME: welcome(&message)
        case EXECUTOR_DONE: try takeAnswer(message.record, &events)
        case EXECUTOR_ENTRY: takeEntry(&message, &events)
        case EXECUTOR_LISTED: listIsOver(&events)
        case EXECUTOR_LEFT:
            let task = message.record.command == 0 ? ProcessEvent.nobody : message.record.command
            events.append(
                ProcessEvent(
                    task: task,
                    what: .left(
                        processID: message.record.pid, group: message.text,
                        user: message.record.number)))
        default:
            guard let command = commands[message.record.command],
                command.attempt == Int(message.record.attempt)
            else { return }
            let moment = message.record.moment
            if let what = command.take(&message) {
                // 0 is not known, as of what ended before the machine was started anew.
                emit(what, of: command, at: moment == 0 ? nil : moment, &events)
            }
            forgetIfOver(command)
        }
    }

    /// One of the commands that the executor runs, or has run.
    private func takeEntry(_ message: inout ExecutorMessage, _ events: inout [ProcessEvent]) {
        let identifier = message.record.command
        if let command = commands[identifier], command.attempt == Int(message.record.attempt) {
            known.insert(identifier)
            if let what = command.isListed(&message) { emit(what, of: command, &events) }
            return
        }
        // One of those that were listed again is forgotten already.
        guard !isReady else { return }
        let command = ExecutedCommand(entry: &message, link: self)
        known.insert(identifier)
        commands[identifier] = command
        limits.note(limitAt: command.openLimit)
        if executorIsFirst {
            listed.append(ListedCommand(command, message))
        } else {
            // One that was forgotten, whose executor did not learn of it.
            command.abandon()
            unwanted.append(command)
        }
    }

    private func welcome(_ message: inout ExecutorMessage) {
        let instance = message.record.instance
        executor = Executor(
            high: instance.0, low: instance.1, processID: message.record.pid,
            version: message.text)
        tree = nil
        if let folder = message.takeDescriptor() { tree = ExecutorTree(folder) }
    }

    private func listIsOver(_ events: inout [ProcessEvent]) {
        guard case .greeting(let connection, _) = phase, let executor else { return }
        phase = .ready(connection)
        executorIsFirst = false
        absence.end()
        loseCommands(but: known)
        for command in commands.values where !command.phase.isOver {
            command.tellAgain()
            changed[command.identifier] = command
            if command.isAbandoned { command.kill() }
            tellOwed(of: command)
        }
        for command in unwanted { discard(command) }
        unwanted = []
        for command in commands.values { forgetIfOver(command) }
        news.append(.found(executor))
        events += held
        held = []
        greetAgain()
        renewIfIdle()
    }

    /// Has an executor of another version run its program anew, where it has no command: it hangs up then.
    private func renewIfIdle() {
        guard outlivesProcess, commands.isEmpty, case .ready(let connection) = phase,
            let executor,
            renewal.wants(from: executor.version)
        else { return }
        let serial = nextSerial()
        order(EXECUTOR_EXIT, serial: serial) { $0.flags = EXECUTOR_AGAIN.rawValue }
        renewal.begin(from: executor.version, serial: serial)
        // Nothing is started meanwhile.
        phase = .greeting(connection, until: MonotonicClock.now() + Self.greetingMax)
    }

    private func takeAnswer(
        _ answer: executor_record, _ events: inout [ProcessEvent]
    ) throws(SystemError) {
        if renewal.isRefused(by: answer.serial, code: answer.code),
            case .greeting(let connection, _) = phase
        {
            phase = .ready(connection)
            return
        }
        if case .greeting = phase, answer.code != 0 {
            throw SystemError(
                operation: "greet", errno: answer.code, subject: path,
                detail: answer.code == EBUSY
                    ? """
                    it has commands of another state folder, or its daemon; it lets go of them when that daemon has \
                    been away for daemon.absenceMax
                    """
                    : nil)
        }
        guard let order = awaited.take(answer.serial), let command = commands[order.command]
        else { return }
        switch order.what {
        case .start:
            guard let what = command.startAnswered(answer.code) else { return }
            commands[order.command] = nil
            emit(what, of: command, &events)
        case .freezing(let frozen):
            // Where it makes no change, nothing else tells. What was told before the order is no answer to it.
            let what: ProcessEvent.What? =
                switch (answer.code, executor_freeze_answer(answer.number)) {
                case (0, EXECUTOR_FREEZE_UNKNOWN): .frozen(command.isFrozen)
                case (0, EXECUTOR_FREEZE_IS_SO): .frozen(frozen)
                case (0, _): nil
                default: command.refused(freeze: frozen, answer.code)
                }
            if let what { emit(what, of: command, &events) }
            answered(.freezing, command)
        case .signal: answered(.signal, command)
        case .kill: answered(.kill, command)
        case .times:
            let isTaken = answer.code != EAGAIN
            guard command.timesAnswered(answer.serial, isTaken: isTaken), isTaken else { return }
            emit(.timesTaken, of: command, &events)
        }
    }

    private func emit(
        _ what: ProcessEvent.What, of command: ExecutedCommand, at moment: UInt64? = nil,
        _ events: inout [ProcessEvent]
    ) {
        guard !command.isAbandoned else { return }
        events.append(
            ProcessEvent(
                task: command.identifier, what: what, moment: moment.map { Int64(clamping: $0) }))
    }
}
