internal import BudgetCore
internal import LinuxSystem
internal import Settings
internal import Systemd
internal import Varlink

extension Daemon {
    /// Calls taken of one client in a turn, so that one pipeline does not hold up the others.
    static let callsPerTurn = 64
    /// What all calls that came together may take in nanoseconds, beyond a single one.
    private static let callsTime: Int64 = 500_000

    /// What one turn of the clients may take in nanoseconds, where they have something again and again: going
    /// round the whole loop for each of their calls would cost more than the call. Other limits of a turn hold
    /// for what comes together in it.
    private static let turnTime: Int64 = 200_000

    /// The clients' turn.
    func clientsReady() throws {
        let until = MonotonicClock.now() + Daemon.turnTime
        var now: Instant?
        repeat {
            try epoll.poll(into: &batch)
            guard batch.count > 0 else { break }
            now = serveBatch()
        } while MonotonicClock.now() < until
        if let now { arrangeNextTurn(at: now) }
    }

    /// Reads what came, then looks at the clock, then takes the calls and answers them.
    ///
    /// While the batch is gone through no client is closed: another would get its token, and what came
    /// for the one would be taken for the other's.
    ///
    /// - Returns: when that was.
    private func serveBatch() -> Instant {
        var outputs: [OutputPipe] = []
        var exited: [HolderProcess] = []
        var speaking: [NoticeSource] = []
        for index in 0..<batch.count {
            let (token, readiness) = batch[index]
            if let client = clients[token] {
                read(client, readiness)
            } else {
                switch watched[token] {
                case .listener(let socket): if !isLastTurn { accept(on: socket) }
                case .output(let pipe): outputs.append(pipe)
                case .holder(let holder): exited.append(holder)
                case .notices(let source): speaking.append(source)
                case nil: break
                }
            }
        }
        readNotices(of: speaking)
        let now = now
        deliverNotices(at: now)
        for pipe in outputs { outputReady(pipe, at: now) }
        for holder in exited { holderExited(holder, at: now) }
        takeCalls(at: now)
        finishCalls(at: now)
        return now
    }

    /// Has a client's part of this turn done: what is for it sent, and what it waits for arranged.
    func makePending(_ client: Client) {
        guard !client.isPending else { return }
        client.isPending = true
        pending.append(client)
    }

    private func read(_ client: Client, _ readiness: Readiness) {
        makePending(client)
        guard client.connection.wantsInput, !client.isInputAtEnd,
            !readiness.isDisjoint(with: Client.whatIsRead)
        else {
            guard !readiness.isDisjoint(with: Client.whatEnds) else { return }
            // Calls that came before the peer went are still taken, if nothing is in their way.
            client.isInputAtEnd = true
            client.isClosed = client.openCall != nil || client.connection.callsWaiting == 0
            return
        }
        do throws(ProtocolViolation) {
            try receive(of: client)
        } catch {
            refuse(client, error)
        }
    }

    /// Takes calls in their order, each after the one before has been answered.
    ///
    /// A client gets no more calls taken while it leaves its replies unread. Those for whom no time is
    /// left in this turn come first in the next.
    func takeCalls(at now: Instant) {
        for client in pending { makeReady(client) }
        let until = MonotonicClock.now() + Daemon.callsTime
        var isInTime = true
        while isInTime, let client = nextReady() {
            client.isReady = false
            guard !client.isClosed else { continue }
            isInTime = takeCalls(of: client, until, at: now)
            makePending(client)
            makeReady(client)
        }
    }

    /// The next whose calls are taken; of an owner whose events wait, nobody's.
    private func nextReady() -> Client? {
        guard rounds.holdsSomebodyBack else { return ready.next() }
        return ready.next { rounds.holdsBack($0) }
    }

    /// Lets a client that has calls to take wait for its turn.
    private func makeReady(_ client: Client) {
        guard !client.isReady, client.connection.callsWaiting > 0, mayTakeCall(of: client)
        else { return }
        client.isReady = true
        ready.add(client, of: client.ownerUse.owner)
    }

    /// - Returns: whether there is time for others.
    private func takeCalls(of client: Client, _ until: Int64, at now: Instant) -> Bool {
        var count = 0
        while client.connection.callsWaiting > 0, mayTakeCall(of: client),
            count < Daemon.callsPerTurn, !rounds.holdsBack(client.ownerUse.owner),
            takeCall(of: client, at: now)
        {
            count += 1
            guard MonotonicClock.now() < until else { return false }
        }
        // One that was refused took its time too.
        return !client.isClosed || MonotonicClock.now() < until
    }

    private func mayTakeCall(of client: Client) -> Bool {
        !client.isClosed && !client.connection.isCallInProgress
            && mayMakeMore(for: client)
    }

    private func takeCall(of client: Client, at now: Instant) -> Bool {
        do throws(ProtocolViolation) {
            guard let call = try client.connection.nextCall() else { return false }
            statistics.calls += 1
            answer(call, of: client, at: now)
            if client.connection.pendingOutputCount >= Daemon.outputShare { account(client) }
            return true
        } catch {
            refuse(client, error)
            return false
        }
    }

    private func refuse(_ client: Client, _ violation: ProtocolViolation) {
        statistics.violations += 1
        // The calls before it are answered.
        client.send()
        client.isClosed = true
        logRefusal(.clientBrokeProtocol, client.credentials, "\(violation)")
    }

    /// Sends what the turn's calls and events left for each client, and closes what is at its end.
    func sendPending() {
        var index = 0
        repeat {
            relieveCrowded()
            while index < pending.count {
                send(to: pending[index])
                index += 1
            }
            makeReplies()
        } while !crowded.isEmpty || index < pending.count
        pending.removeAll(keepingCapacity: pending.count <= Daemon.pendingKept)
        rounds.endTurn()
        if rounds.isEmpty { outputPieces.removeAll() }
        if ready.count > 0 || !rounds.isEmpty { continueLater() }
    }

    private static let pendingKept = 1024

    /// Makes replies for those who wait for their turn, as far as this turn goes.
    private func makeReplies() {
        while let client = rounds.next() {
            guard !client.isClosed else { continue }
            makePiece(for: client)
        }
    }

    private func send(to client: Client) {
        if !client.isClosed { client.send() }
        wantReplies(client)
        // What a client that closes further on in this turn has for it is sent in this turn too.
        client.isPending = false
        makeReady(client)
        if isDone(client) { close(client, at: now) } else { watch(client) }
    }

    private func isDone(_ client: Client) -> Bool {
        if client.isClosed { return true }
        guard client.isInputAtEnd else { return false }
        // A streaming call ends when the peer closes; other calls that came are still answered.
        switch client.openCall {
        case .wait, .order, .groupOrder, .lookUp, .application, .adoption, .account: return false
        case .begin, .watch, .output, .list, .history, .applicationWatch, .applicationList, nil:
            break
        }
        return client.connection.isCallInProgress
            || client.connection.callsWaiting == 0 && client.connection.pendingOutputCount == 0
    }

    /// Waits for what the client can do next.
    func watch(_ client: Client) {
        var wanted = Readiness()
        account(client)
        guard !client.isClosed else { return }
        if client.connection.wantsInput, !client.isInputAtEnd {
            if hasRoom(client) {
                wanted = Client.whatComes
            } else {
                waitForRoom(client)
            }
        }
        if client.connection.pendingOutputCount > 0 { wanted.insert(.output) }
        guard wanted != client.watchedFor else { return }
        do {
            try epoll.modify(client.descriptor.rawValue, wanted, token: client.token)
            client.watchedFor = wanted
        } catch {
            log.say(.clientNotWatched, [.reason: "\(error)"])
            close(client, at: now)
        }
    }

    /// Ends a connection: what it held is abandoned.
    func close(_ client: Client, at now: Instant) {
        guard clients.remove(client) else { return }
        client.isClosed = true
        dropEvents(of: client)
        releaseBuffers(of: client)
        client.ownerUse.waiting.remove(ObjectIdentifier(client))
        switch client.openCall {
        case .lookUp, .history: questions.remove(client)
        case .applicationWatch(_, let caller): applicationWatchers.remove(client, caller)
        case .application(let number): forgetApplicationCall(number)
        case .account: users.forgetCall(of: client)
        case .adoption(let key): adoptionIsUnwanted(by: client, key)
        default: break
        }
        watchers.remove(client)
        // The descriptor is closed with the client; until then the epoll must not name it.
        try? epoll.remove(client.descriptor.rawValue)
        leave(client)
        abandonTasks(of: client.holder, .connectionClosed, at: now)
        perform(at: now)
        if !isAccepting { startAccepting() }
    }

    /// Logs why a connection was closed, ten times a second at most for each user, so that one who is
    /// refused much does not keep the others' refusals from the log.
    func logRefusal(_ message: DaemonMessage, _ peer: PeerCredentials?, _ reason: String) {
        let account = peer.map {
            accountSource.accounts.account(of: OwnerID(rawValue: $0.user))
        }
        if let account, !refusals.take(account, at: now) {
            statistics.refusalsNotLogged += 1
            return
        }
        var fields: [JournalField: String] = [.reason: "\(reason)"]
        if let peer {
            fields[.owner] = "\(peer.user)"
            fields[.peerProcessID] = "\(peer.processID)"
        }
        log.say(message, fields)
    }

    /// Says how many closed connections of a user were not named.
    func reportRefusals(at now: Instant) {
        for (account, count) in refusals.takeReport(at: now) {
            log.say(
                .connectionsNotNamed,
                [.owner: "\(account)", .reason: "\(count) connections, over the rate"])
        }
    }
}
