internal import BudgetCore
internal import LinuxSystem
internal import Settings
internal import Systemd
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
            let owner = OwnerID(rawValue: credentials.user)
            if let limit = limitReached(by: credentials) {
                return logRefusal(.connectionRefused, credentials, limit)
            }
            var limits = ConnectionLimits()
            limits.frameBytesMax = loaded.settings.limits.frameBytesMax
            let use = owners[owner] ?? OwnerUse(owner)
            let client = Client(
                holder: HolderID(rawValue: nextNumber()), descriptor: descriptor,
                credentials: credentials,
                isOperator: configuration.isOperator(credentials), ownerUse: use, limits: limits)
            clients.add(client)
            do {
                try epoll.add(client.descriptor.rawValue, client.watchedFor, token: client.token)
            } catch {
                _ = clients.remove(client)
                throw error
            }
            use.members.add(client)
            owners[owner] = use
            statistics.connections += 1
            findOrigin(of: client)
        } catch {
            log.say(.connectionNotServed, [.reason: "\(error)"])
        }
    }

    /// The limit that keeps a connection out, with its value.
    private func limitReached(by peer: PeerCredentials) -> String? {
        let limits = loaded.settings.limits
        let reserve = configuration.isOperator(peer) ? Daemon.operatorsReserve : 0
        guard clients.count < limits.clientsMax + reserve else {
            return "clientsMax (\(limits.clientsMax))"
        }
        let count = owners[OwnerID(rawValue: peer.user)]?.members.count ?? 0
        return count < limits.clientsPerOwnerMax
            ? nil : "clientsPerOwnerMax (\(limits.clientsPerOwnerMax))"
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
