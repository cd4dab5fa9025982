internal import BudgetCore
internal import LinuxSystem
internal import Settings
internal import Systemd
internal import TaskStore
internal import Varlink

/// A listening socket among the descriptors of the loop.
final class ListeningSocket {
    let listener: UnixListener

    init(_ listener: consuming UnixListener) {
        self.listener = listener
    }
}

extension Daemon {
    /// Connections accepted in one turn.
    private static let acceptsPerTurn = 64
    /// Connections beyond clientsMax for those who are to put things right.
    private static let operatorsReserve = 16

    /// Serves a listening socket from now on.
    func listen(_ listener: consuming UnixListener) throws {
        let number = nextNumber()
        try epoll.add(listener.descriptor, .input, token: number)
        watched[number] = .listener(ListeningSocket(listener))
    }

    func accept(on socket: ListeningSocket) {
        for _ in 0..<Daemon.acceptsPerTurn {
            do {
                switch try socket.listener.accept() {
                case .connection(let descriptor): admit(descriptor)
                case .none: return
                case .exhausted(let errno): return stopAccepting(errorText(errno))
                }
            } catch {
                return log.say(.acceptFailed, [.reason: "\(error)"])
            }
        }
    }

    private func admit(_ descriptor: consuming OwnedDescriptor) {
        do {
            let credentials = try PeerCredentials(of: descriptor.rawValue)
            guard let use = admission(of: credentials) else { return }
            var limits = ConnectionLimits()
            limits.frameBytesMax = loaded.settings.limits.frameBytesMax
            let isOperator = configuration.isOperator(credentials)
            let client = Client(
                holder: HolderID(rawValue: nextNumber()), descriptor: descriptor,
                credentials: credentials, isOperator: isOperator,
                isServed: access.serves(credentials, isOperator: isOperator),
                acceptedAt: BootTimeClock.now(), ownerUse: use, limits: limits)
            clients.add(client)
            do {
                try epoll.add(client.descriptor.rawValue, client.watchedFor, token: client.token)
            } catch {
                _ = clients.remove(client)
                throw error
            }
            use.members.add(client)
            owners[use.owner] = use
            statistics.connections += 1
            account(client)
            findOrigin(of: client)
        } catch {
            log.say(.connectionNotServed, [.reason: "\(error)"])
        }
    }

    /// The account that a connection counts for; `nil` where it is not let in.
    private func admission(of peer: PeerCredentials) -> OwnerUse? {
        let owner = OwnerID(rawValue: peer.user)
        let account = accountSource.accounts.account(of: owner)
        if account == owner, owners[owner] == nil { accountSource.stranger(at: now) }
        let limits = loaded.settings.limits
        let admission = Admission(
            countMax: limits.clientsMax, countPerAccountMax: limits.clientsPerOwnerMax)
        let reserve = configuration.isOperator(peer) ? Daemon.operatorsReserve : 0
        let decision = admission.decide(
            connections: clients.count, ofAccount: owners[account]?.members.count ?? 0,
            reserve: reserve
        ) {
            owners.max { ($0.value.members.count, $0.key) < ($1.value.members.count, $1.key) }
                .map { ($0.key, $0.value.members.count) }
        }
        switch decision {
        case .admitted: break
        case .inPlaceOfOne(let other): giveUpOne(of: other, for: owner)
        case .refused(let limit, let value):
            logRefusal(.connectionRefused, peer, "\(limit) (\(value))")
            return nil
        }
        return owners[account] ?? OwnerUse(account)
    }

    /// Closes a connection of an account: the newest of those that do nothing, else the newest.
    private func giveUpOne(of account: OwnerID, for owner: OwnerID) {
        guard let use = owners[account] else { return }
        var chosen: Client?
        for client in use.members.all where !client.isClosed {
            guard let other = chosen else {
                chosen = client
                continue
            }
            let isBetter =
                (client.isIdle ? 1 : 0, client.holder.rawValue)
                > (other.isIdle ? 1 : 0, other.holder.rawValue)
            if isBetter { chosen = client }
        }
        guard let client = chosen else { return }
        logRefusal(
            .noRoomForConnection, client.credentials,
            "clientsMax (\(loaded.settings.limits.clientsMax)), and user \(owner) had none")
        leave(client)
        client.isClosed = true
        // Closed at the end of the turn: until then nobody else may have its token.
        releaseBuffers(of: client)
        makePending(client)
    }

    /// Counts a connection no longer for its account.
    func leave(_ client: Client) {
        guard !client.hasLeft else { return }
        client.hasLeft = true
        client.ownerUse.members.remove(client)
        guard client.ownerUse.members.isEmpty, owners[client.ownerUse.owner] === client.ownerUse
        else { return }
        owners[client.ownerUse.owner] = nil
    }

    /// Who counts as whom was read anew: what is open stays as it was counted.
    func accountsReady() {
        guard accountSource.take() else { return }
        let accounts = accountSource.accounts
        registry.replaceAccounts(accounts)
        journal.accounts = accounts
        storeThread.keep(HistoryBounds(loaded.settings, accounts))
    }

    /// Descriptors are used up: connections wait until one is closed, or for a second, since it may be
    /// others who have them.
    private func stopAccepting(_ reason: String) {
        guard isAccepting else { return }
        isAccepting = false
        acceptAgainAt = now + .seconds(1)
        logRefusal(.connectionsNotAccepted, nil, reason)
        setAccepting([])
    }

    func startAccepting() {
        isAccepting = true
        acceptAgainAt = nil
        setAccepting(.input)
    }

    private func setAccepting(_ readiness: Readiness) {
        for (number, watched) in watched {
            guard case .listener(let socket) = watched else { continue }
            do {
                try epoll.modify(socket.listener.descriptor, readiness, token: number)
            } catch {
                log.say(.socketNotWatched, [.reason: "\(error)"])
            }
        }
    }
}
