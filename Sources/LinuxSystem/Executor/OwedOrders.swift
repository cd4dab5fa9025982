internal import Glibc

/// What the executor is still to be told to do to the processes of a command. Of each kind one order is under way: what is
/// wanted meanwhile waits here and is joined, so that whoever wants the like again and again makes nobody else's orders wait.
package struct OwedOrders {
    package enum Kind: Hashable, Sendable {
        case signal, freezing, kill
    }

    private var underWay: Set<Kind> = []
    /// In the order in which they were wanted, none of them twice.
    private var signals: [Int32] = []
    private var freeze: Bool?
    private var isKillWanted = false

    package init() {}

    /// One that waits already is not sent twice, and those that stop processes and SIGCONT undo each other (signal(7)).
    package mutating func want(signal number: Int32) {
        let stopping = [SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU]
        if number == SIGCONT { signals.removeAll { stopping.contains($0) } }
        if stopping.contains(number) { signals.removeAll { $0 == SIGCONT } }
        if !signals.contains(number) { signals.append(number) }
    }

    /// - Parameter isFrozen: whether its processes are to be frozen or thawed; the last that is wanted counts.
    package mutating func want(freeze isFrozen: Bool) { freeze = isFrozen }

    package mutating func wantKill() { isKillWanted = true }

    package enum Order: Equatable, Sendable {
        case signal(Int32)
        case freezing(Bool)
        case kill

        package var kind: Kind {
            switch self {
            case .signal: .signal
            case .freezing: .freezing
            case .kill: .kill
            }
        }
    }

    /// Takes what is to be sent now, and is under way then.
    ///
    /// - Parameter isLast: nothing is answered any more, and nothing waits for that.
    package mutating func next(isLast: Bool = false) -> Order? {
        guard let order = waiting.first(where: { isLast || !underWay.contains($0.kind) })
        else { return nil }
        switch order {
        case .kill: isKillWanted = false
        case .signal: signals.removeFirst()
        case .freezing: freeze = nil
        }
        underWay.insert(order.kind)
        return order
    }

    /// The next of each kind.
    private var waiting: [Order] {
        [
            isKillWanted ? .kill : nil, signals.first.map { .signal($0) },
            freeze.map { .freezing($0) },
        ]
        .compactMap(\.self)
    }

    /// An order of this kind is answered.
    package mutating func answered(_ kind: Kind) { underWay.remove(kind) }

    /// The connection is another one, on which nothing is answered that was sent before. Who waited for a freeze was told that
    /// it has failed, so that none is sent any more.
    package mutating func connectionIsNew() {
        underWay = []
        freeze = nil
    }
}
