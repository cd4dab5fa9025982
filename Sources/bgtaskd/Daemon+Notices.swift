internal import BudgetCore
internal import Glibc
internal import LinuxSystem
internal import Systemd

// What run tasks say of themselves, in the way services do (sd_notify(3)).
extension Daemon {
    /// Messages read of one socket in a turn, before the others have theirs.
    private static let noticesPerTurn = 16
    /// What reading may take, beyond a single message, of all sockets in a turn or of one at its task's end.
    private static let noticesTime = Duration.microseconds(500)
    /// More than any socket has waiting (net.unix.max_dgram_qlen), unless somebody goes on sending.
    private static let noticesLeftMax = 1024

    /// Makes the folder of the sockets: beside the daemon's own, or where only one user is served, in the
    /// state folder. Without it tasks run all the same.
    func openNotices() {
        var places = [configuration.socketPath + ".notify"]
        if !configuration.servesEverybody { places.append(configuration.stateFolder + "/notify") }
        var refusals: [String] = []
        for place in places {
            do {
                notices.folder = try NoticeFolder(path: place, user: configuration.user)
                return
            } catch {
                refusals.append("\(error)")
            }
        }
        log.say(.noticesNotTaken, [.reason: refusals.joined(separator: "; ")])
    }

    /// A socket for a task; `nil` where it can have none.
    func takeNoticeSource(for task: RunningTask) -> NoticeSource? {
        guard notices.folder != nil else { return nil }
        do {
            let source = try notices.take(of: task.owner) ?? makeNoticeSource(of: task.owner)
            source?.task = task.id
            return source
        } catch {
            sayDropped(.noticeSocketNotMade, "\(error)", of: task.id, from: task.owner)
            return nil
        }
    }

    private func makeNoticeSource(
        of owner: OwnerID
    ) throws(SystemError) -> NoticeSource? {
        while let path = notices.nextPath() {
            do throws(SystemError) {
                let source = try NoticeSource(number: nextNumber(), owner: owner, path: path)
                try epoll.add(source.socket.descriptor, .input, token: source.number)
                watched[source.number] = .notices(source)
                return source
            } catch {
                // A daemon with another state folder may have the number.
                guard error.errno == EADDRINUSE else { throw error }
            }
        }
        return nil
    }

    /// Reads what came, for a bounded time, a bounded number of messages and each socket in its turn.
    func readNotices(of sources: [NoticeSource]) {
        guard !sources.isEmpty else { return }
        let until = now + Daemon.noticesTime
        let first = notices.turns % sources.count
        notices.turns &+= 1
        for source in sources[first...] + sources[..<first] {
            _ = read(source, atMost: Daemon.noticesPerTurn, until: until)
            notices.heard.append(source)
            let now = now
            if let end = source.restUntil(now) {
                resting[source.number] = end
                watch(source, for: [])
            }
            guard now < until else { return }
        }
    }

    /// How reading a socket came to its end.
    private enum Rest {
        case empty
        /// Something may be left.
        case unread
        /// It cannot be read, and is closed.
        case closed
    }

    /// - Parameters:
    ///   - countMin: messages that are read however long that takes.
    ///   - until: no more are begun from then on.
    private func read(
        _ source: NoticeSource, atLeast countMin: Int = 1, atMost countMax: Int,
        until: Instant = .never
    ) -> Rest {
        for count in 1...countMax {
            do throws(SystemError) {
                switch try source.read(into: buffer) {
                case .taken: break
                case .refused(let reason, let sender):
                    sayDropped(.noticeDropped, reason, of: source.task, from: sender)
                case .nothing: return .empty
                }
            } catch {
                sayDropped(.noticeDropped, "\(error)", of: source.task, from: source.owner)
                close(source)
                return .closed
            }
            if count >= countMin, now >= until { return .unread }
        }
        return .unread
    }

    /// Tells the core what the tasks have said in this turn: of each the newest.
    func deliverNotices(at now: Instant) {
        for source in notices.heard { deliver(source, at: now) }
        notices.heard.removeAll(keepingCapacity: true)
    }

    /// Tells what a task has said before its begin was told.
    func deliverNotices(of task: RunningTask, at now: Instant) {
        if let source = task.notices { deliver(source, at: now) }
    }

    private func deliver(_ source: NoticeSource, at now: Instant) {
        guard let id = source.task, running[id]?.hasStarted == true,
            let notice = source.takeNotice()
        else { return }
        registry.noted(id, notice, at: now, &actions)
        perform(at: now)
    }

    /// Takes the last words of a task of which no process is left: of one that says little all, and of one
    /// that has left much what can be read in a moment.
    func drainNotices(of id: TaskID, at now: Instant) {
        guard let source = running[id]?.notices else { return }
        let rest = read(
            source, atLeast: Daemon.noticesPerTurn, atMost: Daemon.noticesLeftMax,
            until: now + Daemon.noticesTime)
        deliver(source, at: now)
        guard rest == .unread, source.socket.hasMessage else { return }
        sayDropped(
            .noticeDropped, "its task ended and left too many", of: id, from: source.owner)
        source.task = nil
    }

    /// Takes a socket back from a task that has ended. One that is not soon empty, because the task left too
    /// much or others send to it, goes: what was meant for a task never reaches the next.
    func giveBack(_ source: NoticeSource) {
        source.task = nil
        _ = source.takeNotice()
        guard read(source, atMost: Daemon.noticesPerTurn) == .empty, notices.keep(source)
        else { return close(source) }
    }

    private func close(_ source: NoticeSource) {
        watched[source.number] = nil
        resting[source.number] = nil
        // Fails only where it is not watched, which is what is wanted.
        try? epoll.remove(source.socket.descriptor)
    }

    func watch(_ source: NoticeSource, for readiness: Readiness) {
        do {
            try epoll.modify(source.socket.descriptor, readiness, token: source.number)
        } catch {
            sayDropped(.noticeDropped, "\(error)", of: source.task, from: source.owner)
        }
    }

    /// Removes the sockets and their folder.
    func closeNotices() {
        for task in running.values { task.notices = nil }
        for case .notices(let source) in watched.values { close(source) }
        notices.removeAll()
        guard let folder = notices.folder else { return }
        do {
            try folder.remove()
        } catch {
            log.say(.noticeFolderNotRemoved, [.reason: "\(error)"])
        }
    }

    /// Logs what a task lost, once a second at most for each account that is the cause.
    private func sayDropped(
        _ message: DaemonMessage, _ reason: String, of task: TaskID?, from sender: OwnerID
    ) {
        guard notices.drops.take(accountSource.accounts.account(of: sender), at: now) else {
            return
        }
        var fields: [JournalField: String] = [.reason: reason, .owner: "\(sender)"]
        if let task { fields[.taskID] = "\(task)" }
        log.say(message, fields)
    }

    /// Says how many messages of a user were not named.
    func reportNoticesDropped(at now: Instant) {
        for (account, count) in notices.drops.takeReport(at: now) {
            log.say(
                .noticesNotNamed,
                [.owner: "\(account)", .reason: "\(count) messages, over the rate"])
        }
    }
}
