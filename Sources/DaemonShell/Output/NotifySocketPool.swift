package import BudgetCore
internal import Glibc
package import LinuxSystem
package import Logging
internal import Systemd

/// The sockets at which run tasks say something of themselves, in the way services do (sd_notify(3)).
package final class NotifySocketPool {
    /// Messages read of one socket in a turn, before the others have theirs.
    private static let messagesPerTurn = 16
    /// What reading may take, beyond a single message, of all sockets in a turn or of one at its task's end.
    private static let readTime = Duration.microseconds(500)
    /// More than any socket has waiting (net.unix.max_dgram_qlen), unless somebody goes on sending.
    private static let messagesLeftMax = 1024
    /// Until a message is tried again that could not be taken.
    private static let retryInterval = Duration.seconds(1)
    /// Free ones that are kept, so that starting a task takes no system call for its socket.
    private static let freeMax = 64

    private let core: Core
    private let poll: DescriptorPoll
    private let closers: Closers
    private let accounts: AccountSource
    private let log: Logger
    /// Where the sockets are; `nil` where there can be none.
    private var folder: NotifyFolder?
    /// Whether it has sockets that are left to the next daemon.
    private var isFolderLeft = false
    private var sockets: [UInt64: TaskNotifySocket] = [:]
    private var numberLast: UInt64 = 0
    /// Those that no task has, by owner.
    private var free: [OwnerID: [TaskNotifySocket]] = [:]
    private var freeCount = 0
    /// Those that have something.
    private var ready: [TaskNotifySocket] = []
    /// Those that were read in this turn.
    private var heard: [TaskNotifySocket] = []
    /// Turns in which some were read; the next begins with another of them.
    private var turns = 0
    private var throttledUntil = Deadlines<UInt64>()
    /// Those of which a closer takes a message, which are not read meanwhile.
    private var closing: Set<UInt64> = []
    /// What the log takes of messages that are not taken.
    private var drops = EntryAllowance(perSecondMax: 1)

    package init(
        _ core: Core, _ poll: DescriptorPoll, _ closers: Closers, _ accounts: AccountSource,
        _ log: Logger
    ) {
        self.core = core
        self.poll = poll
        self.closers = closers
        self.accounts = accounts
        self.log = log
    }

    /// Makes the folder of the sockets: beside the daemon's own, or where only one user is served, in the state
    /// folder. Those that somebody has a descriptor of stay in it, as the sockets of commands that go on do. Without
    /// it tasks run all the same.
    package func open(_ configuration: Configuration) {
        var places = [configuration.socketPath + ".notify"]
        if !configuration.servesEverybody { places.append(configuration.stateFolder + "/notify") }
        var refusals: [String] = []
        for place in places {
            do {
                folder = try NotifyFolder(
                    path: place, user: configuration.user, closer: closers)
                return
            } catch {
                refusals.append("\(error)")
            }
        }
        log.say(.noticesNotTaken, [.reason: refusals.joined(separator: "; ")])
    }

    // MARK: - Who has one

    /// A socket for a task; `nil` where it can have none.
    package func take(for task: TaskID, of owner: OwnerID) -> TaskNotifySocket? {
        guard folder != nil else { return nil }
        guard !closers.isCrowded(by: owner.rawValue) else {
            let reason = "too many that had descriptors sent to them are still to be closed"
            logDrop(.noticeSocketNotMade, reason, of: task, from: owner)
            return nil
        }
        do throws(SystemError) {
            var socket = takeFree(of: owner)
            if socket == nil { socket = try make(of: owner) }
            socket?.give(to: task)
            return socket
        } catch {
            logDrop(.noticeSocketNotMade, "\(error)", of: task, from: owner)
            return nil
        }
    }

    /// The socket of a task whose command goes on from an earlier daemon, with what waits in it; `nil` where it is none.
    ///
    /// - Parameter descriptor: of that socket, as who kept it gives it back.
    package func takeOver(
        _ descriptor: consuming OwnedDescriptor, for task: TaskID, of owner: OwnerID
    ) -> TaskNotifySocket? {
        do throws(SystemError) {
            numberLast += 1
            let socket = try TaskNotifySocket(
                number: numberLast, owner: owner, descriptor, of: task, closer: closers)
            do throws(SystemError) {
                try follow(socket)
            } catch {
                // Its task goes on speaking to it, and nobody reads that.
                socket.leave()
                throw error
            }
            return socket
        } catch {
            logDrop(.noticeSocketNotMade, "\(error)", of: task, from: owner)
            return nil
        }
    }

    private func follow(_ socket: TaskNotifySocket) throws(SystemError) {
        try socket.follow(in: poll) { [unowned self] in ready.append($0) }
        sockets[socket.number] = socket
    }

    private func takeFree(of owner: OwnerID) -> TaskNotifySocket? {
        guard let socket = free[owner]?.popLast() else { return nil }
        freeCount -= 1
        if free[owner]?.isEmpty == true { free[owner] = nil }
        return socket
    }

    private func make(of owner: OwnerID) throws(SystemError) -> TaskNotifySocket? {
        while let folder {
            numberLast += 1
            do throws(SystemError) {
                let socket = try TaskNotifySocket(
                    number: numberLast, owner: owner,
                    path: folder.path(ofNumber: Int(numberLast)), closer: closers)
                try follow(socket)
                return socket
            } catch {
                // A daemon with another state folder may have the number.
                guard error.errno == EADDRINUSE else { throw error }
            }
        }
        return nil
    }

    /// Takes a socket back from a task that has ended. One that is not soon empty, because the task left too much or
    /// others send to it, goes: what was meant for a task never reaches the next.
    package func giveBack(_ socket: TaskNotifySocket) {
        socket.takeBack()
        // One that is closed, or left to the next daemon, is not read.
        guard sockets[socket.number] === socket else { return }
        resume(socket)
        guard !closing.contains(socket.number),
            read(socket, atMost: Self.messagesPerTurn) == .empty, freeCount < Self.freeMax
        else { return forget(socket) }
        freeCount += 1
        free[socket.owner, default: []].append(socket)
    }

    private func forget(_ socket: TaskNotifySocket) {
        sockets[socket.number] = nil
        throttledUntil[socket.number] = nil
        closing.remove(socket.number)
        socket.unfollow(in: poll)
    }

    /// Reads no more, and leaves the sockets that tasks have to the next daemon, with the folder; to be called before
    /// `close`, and after all that was read has been told. Who has kept their descriptors gives them to that daemon.
    package func handOver() {
        for socket in sockets.values where socket.task != nil {
            socket.leave()
            forget(socket)
            isFolderLeft = true
        }
    }

    /// Removes the sockets and their folder.
    package func close() {
        for socket in sockets.values { socket.unfollow(in: poll) }
        (sockets, free, freeCount, ready, heard) = ([:], [:], 0, [], [])
        if !isFolderLeft { folder?.remove(closers) }
    }

    // MARK: - Reading

    /// How reading a socket came to its end.
    private enum End {
        case empty
        /// Something may be left.
        case unread
        /// A message with descriptors is next.
        case descriptor
        /// It cannot be read, and is closed.
        case closed
    }

    /// Reads what came, for a bounded time, a bounded number of messages and each socket in its turn. What is left is
    /// told of again.
    package func readReady() {
        guard !ready.isEmpty else { return }
        let sources = ready
        ready.removeAll(keepingCapacity: true)
        let until = Instant.measured() + Self.readTime
        let first = turns % sources.count
        turns &+= 1
        for socket in sources[first...] + sources[..<first]
        where sockets[socket.number] === socket {
            guard !socket.isStarting else {
                // What its task says before its begin is told waits here, also for a daemon after this one.
                setRests(true, socket)
                continue
            }
            let end = read(socket, atMost: Self.messagesPerTurn, until: until)
            heard.append(socket)
            if end == .descriptor { haveTaken(socket) }
            let now = Instant.measured()
            if let end = socket.throttledUntil(now) {
                throttledUntil[socket.number] = end
                setRests(true, socket)
            }
            guard now < until else { return }
        }
    }

    /// - Parameters:
    ///   - countMin: messages that are read however long that takes.
    ///   - until: no more are begun from then on.
    private func read(
        _ socket: TaskNotifySocket, atLeast countMin: Int = 1, atMost countMax: Int,
        until: Instant = .never
    ) -> End {
        for count in 1...countMax {
            do throws(SystemError) {
                switch try socket.read(into: poll.buffer) {
                case .taken: break
                case .refused(let reason, let sender):
                    logDrop(.noticeDropped, reason, of: socket.task, from: sender)
                case .nothing: return .empty
                case .descriptor: return .descriptor
                }
            } catch {
                logDrop(.noticeDropped, "\(error)", of: socket.task, from: socket.owner)
                forget(socket)
                return .closed
            }
            if count >= countMin, Instant.measured() >= until { return .unread }
        }
        return .unread
    }

    /// Has a message with descriptors taken by somebody who may wait for them; the socket rests until then.
    private func haveTaken(_ socket: TaskNotifySocket) {
        setRests(true, socket)
        closing.insert(socket.number)
        do throws(SystemError) {
            try closers.take(socket.descriptor, of: socket.owner.rawValue) {
                [weak self, weak socket] receipt, text in
                if let self, let socket { taken(receipt, text, of: socket) }
            }
        } catch {
            logDrop(.noticeDropped, "\(error)", of: socket.task, from: socket.owner)
            readLater(socket)
        }
    }

    private func taken(
        _ receipt: NotifySocket.Receipt?, _ text: UnsafeMutableRawBufferPointer,
        of socket: TaskNotifySocket
    ) {
        guard sockets[socket.number] === socket else { return }
        guard let receipt else { return readLater(socket) }
        if case .refused(let reason, let sender) = socket.taken(receipt, text) {
            logDrop(.noticeDropped, reason, of: socket.task, from: sender)
        }
        heard.append(socket)
        closing.remove(socket.number)
        resume(socket)
    }

    /// Nobody has taken its message, and it is tried again.
    private func readLater(_ socket: TaskNotifySocket) {
        closing.remove(socket.number)
        throttledUntil[socket.number] = core.now + Self.retryInterval
    }

    /// Tells the core what the tasks have said in this turn: of each the newest.
    func deliver() {
        guard !heard.isEmpty else { return }
        for socket in heard { deliver(socket) }
        heard.removeAll(keepingCapacity: true)
    }

    /// The begin of a task has been told: what it has said before is told now.
    package func started(_ socket: TaskNotifySocket) {
        socket.taskStarted()
        resume(socket)
        deliver(socket)
    }

    private func deliver(_ socket: TaskNotifySocket) {
        guard let (task, notice) = socket.takeNotice() else { return }
        core.update { registry, now, actions in registry.noted(task, notice, at: now, &actions) }
        core.perform()
    }

    /// Takes the last words of a task of which no process is left: at least so many, and then what can be read in a
    /// moment.
    package func drain(_ socket: TaskNotifySocket) {
        guard sockets[socket.number] === socket else { return }
        let end =
            closing.contains(socket.number)
            ? .descriptor
            : read(
                socket, atLeast: Self.messagesPerTurn, atMost: Self.messagesLeftMax,
                until: Instant.measured() + Self.readTime)
        deliver(socket)
        guard end == .descriptor || end == .unread && socket.hasMessage else { return }
        let what = end == .unread ? "too many" : "one with descriptors"
        logDrop(
            .noticeDropped, "its task ended and left \(what)", of: socket.task,
            from: socket.owner)
        socket.takeBack()
    }

    // MARK: - Those that are left alone for a time

    /// When the first of them is to be read again.
    var nextDeadline: Instant? { throttledUntil.first }

    func resumeThrottled() {
        for number in throttledUntil.due(at: core.now) {
            throttledUntil[number] = nil
            if let socket = sockets[number] { resume(socket) }
        }
    }

    /// Reads it again, if nothing else is in the way.
    private func resume(_ socket: TaskNotifySocket) {
        guard socket.rests, throttledUntil[socket.number] == nil, !closing.contains(socket.number)
        else { return }
        setRests(false, socket)
    }

    private func setRests(_ rests: Bool, _ socket: TaskNotifySocket) {
        do throws(SystemError) {
            try socket.setRests(rests, in: poll)
        } catch {
            logDrop(.noticeDropped, "\(error)", of: socket.task, from: socket.owner)
        }
    }

    // MARK: - What is lost

    /// Logs what a task lost, once a second at most for each account that is the cause.
    private func logDrop(
        _ message: DaemonMessage, _ reason: String, of task: TaskID?, from sender: OwnerID
    ) {
        guard drops.take(accounts.accounts.account(of: sender), at: core.now) else { return }
        var fields: [JournalField: String] = [.reason: reason, .owner: "\(sender)"]
        if let task { fields[.taskID] = "\(task)" }
        log.say(message, fields)
    }

    /// When it is to be said how many messages were not named.
    var nextReport: Instant? { drops.nextReport }

    /// Says how many messages of a user were not named.
    func reportDrops() {
        for (account, count) in drops.takeReport(at: core.now) {
            log.say(
                .noticesNotNamed,
                [.owner: "\(account)", .reason: "\(count) messages, over the rate"])
        }
    }
}
