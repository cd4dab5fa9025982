internal import CLinux
internal import Glibc

/// Finds the processes that left the group of their task, gives each to its task (see `StrayClaims`), and ends
/// those that nobody has a claim to.
///
/// As a child subreaper this process is the parent of whatever outlives its own parents, so that each of
/// them descends from it.
///
/// Scans run on a thread of their own, one at a time; whoever asks during one gets the next.
final class StrayTracker: WatchOwner {
    /// A task whose processes may have left its group.
    protocol Client: AnyObject {
        /// What is known of it now.
        var claimant: StrayClaims.Claimant { get }

        /// What a scan has found of it.
        ///
        /// - Parameter number: the number of the scan, as `scan` returned it.
        func scanned(
            _ number: Int, strays: [Stray], isInhabited: Bool, _ events: inout [ProcessEvent])
    }

    private unowned let host: ProcessHost
    private let tree: String
    private let ownGroup: String
    private var clients: [ObjectIdentifier: any Client] = [:]
    /// The strays of the last scan by process number, and the task that each was given to.
    private var seen: [Int32: Seen] = [:]

    /// The number of the newest scan that has begun.
    private(set) var number = 0
    private var isScanning = false
    /// Another scan is to begin when the one under way is over.
    private var scansAgain = false
    /// Groups to be frozen before the next scan, by name, with the sessions whose processes are killed in them.
    private var freezes: [String: Set<AuditSession>] = [:]
    private let record: FreezeRecord
    private let board: Board
    private let timer: OwnedDescriptor
    private var isTimed = false
    private var pause = StrayTracker.pauseMin

    private struct Seen {
        let startTime: UInt64
        weak var client: (any Client)?
    }

    /// Where the thread of a scan leaves what it found. The thread may outlive the tracker.
    private final class Board: Sendable {
        let found = LockedState<Outcome?>(nil)
        /// Readable when a scan is over.
        let completion: OwnedDescriptor

        init() throws(SystemError) {
            completion = try .event()
        }

        enum Outcome {
            case scan(StrayScan)
            /// There was not enough memory, or no descriptor, for it.
            case none
        }

        func put(_ outcome: Outcome) {
            found.withLock { $0 = outcome }
            completion.countEvent()
        }
    }

    private enum Role {
        static let completion = 0
        static let timer = 1
    }

    private static let pauseMin = 5_000_000
    /// The longest pause, for a process that cannot die.
    private static let pauseMax = 640_000_000

    /// - Parameter record: freezes the groups that are to stand still.
    init(host: ProcessHost, tree: String, record: FreezeRecord) throws(SystemError) {
        self.host = host
        self.record = record
        self.tree = tree
        ownGroup = try groupName(of: getpid()) ?? ""
        board = try Board()
        timer = OwnedDescriptor(
            try systemCall("timerfd_create") {
                timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
            })
    }

    /// Begins to watch for the results of scans; once, before the first scan.
    func begin() throws(SystemError) {
        _ = try host.watches.add(
            board.completion.rawValue, .input, owner: self, role: Role.completion)
        _ = try host.watches.add(timer.rawValue, .input, owner: self, role: Role.timer)
    }

    func enter(_ client: any Client) { clients[ObjectIdentifier(client)] = client }

    func leave(_ client: any Client) { clients[ObjectIdentifier(client)] = nil }

    /// The audit sessions of all tasks.
    var sessions: Set<AuditSession> {
        clients.values.reduce(into: []) { $0.formUnion($1.claimant.sessions) }
    }

    /// Asks for a scan.
    ///
    /// - Returns: the number of the first scan that sees everything that is there now.
    @discardableResult
    func scan() -> Int {
        pause = Self.pauseMin
        return startOrGoOn()
    }

    /// Before the next scan begins, freezes a group for a moment and kills the processes of some sessions in it.
    func freeze(_ group: String, killing sessions: Set<AuditSession>) {
        freezes[group, default: []].formUnion(sessions)
    }

    /// Asks for a scan after a pause. The pause doubles each time, until `scan` is called.
    ///
    /// - Returns: the number of the first scan that begins after now.
    func scanLater() -> Int {
        let next = number + 1
        if isTimed || scansAgain { return next }
        var times = itimerspec()
        times.it_value.tv_nsec = pause
        pause = min(pause * 2, Self.pauseMax)
        isTimed = timerfd_settime(timer.rawValue, 0, &times, nil) == 0
        if !isTimed { scansAgain = true }
        return next
    }

    /// A child that this process had adopted is gone; a task may be waiting for that.
    func childEnded() {
        if isTimed { scan() }
    }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        if role == Role.timer {
            var expirations: UInt64 = 0
            _ = read(timer.rawValue, &expirations, MemoryLayout<UInt64>.size)
            if isTimed { _ = startOrGoOn() }
            return
        }
        board.completion.takeEvents()
        guard let found = board.found.withLock({ $0.take() }) else { return }
        isScanning = false
        let finished = number
        if scansAgain { start() }
        switch found {
        case .scan(let scan): emit(scan, finished, &events)
        // Those who wait for this scan get a later one.
        case .none: _ = scanLater()
        }
    }

    /// Starts a scan, or has another follow the one under way.
    ///
    /// - Returns: its number.
    private func startOrGoOn() -> Int {
        if isScanning {
            scansAgain = true
            return number + 1
        }
        start()
        return number
    }

    private func start() {
        number += 1
        isScanning = true
        scansAgain = false
        isTimed = false
        let (tree, ownGroup, board, record) = (tree, ownGroup, board, record)
        let executor = host.executor?.childID
        let freezes = freezes.sorted { $0.key < $1.key }
        self.freezes = [:]
        let take: @Sendable () -> Void = {
            for (group, sessions) in freezes { GroupFreeze(group)?.kill(sessions, record) }
            do throws(SystemError) {
                board.put(.scan(try StrayScan(tree: tree, ownGroup: ownGroup, sparing: executor)))
            } catch {
                // Without /proc no stray can be found, so nobody may wait for one.
                board.put(error.isShortage ? .none : .scan(StrayScan()))
            }
        }
        do {
            try startThread(take)
        } catch {
            // No thread can be had, because there are too many: this thread takes the scan itself.
            take()
        }
    }

    private func emit(_ scan: StrayScan, _ number: Int, _ events: inout [ProcessEvent]) {
        // In the order of the groups, so that the same scan gives the same events.
        let all = clients.values.map { (client: $0, claimant: $0.claimant) }
            .sorted { $0.claimant.groupName < $1.claimant.groupName }
        let claims = StrayClaims(all.map(\.claimant), tree: tree)
        let places = Dictionary(
            uniqueKeysWithValues: all.indices.map { (ObjectIdentifier(all[$0].client), $0) })
        var found: [[Stray]] = Array(repeating: [], count: all.count)
        var seenNow: [Int32: Seen] = [:]
        for stray in scan.strays {
            let before = seen[stray.processID].flatMap {
                $0.startTime == stray.startTime ? $0 : nil
            }
            let known =
                claims.known(stray)
                ?? before?.client.flatMap { places[ObjectIdentifier($0)] }
            seenNow[stray.processID] = Seen(
                startTime: stray.startTime, client: known.map { all[$0].client })
            let user = known == nil ? stray.user : nil
            if let index = known ?? user.flatMap({ claims.likely(stray, of: $0) }) {
                found[index].append(stray)
            } else {
                stray.signal(SIGKILL)
                if before == nil { events.append(.ofNobody(stray, user: user)) }
            }
        }
        seen = seenNow
        for (index, (client, claimant)) in all.enumerated() {
            client.scanned(
                number, strays: found[index],
                isInhabited: scan.inhabited.contains(claimant.groupName), &events)
        }
    }
}

extension ProcessEvent {
    /// A process outside of its group that belongs to no known task.
    fileprivate static func ofNobody(_ stray: Stray, user: UInt32?) -> ProcessEvent {
        ProcessEvent(
            task: nobody,
            what: .left(processID: stray.processID, group: stray.group, user: user))
    }
}
