internal import CLinux
internal import Glibc

/// Finds the processes that left the group of their task, gives each to its task, and ends those that nobody
/// has a claim to.
///
/// As a child subreaper this process is the parent of whatever outlives its own parents, so that each of
/// them descends from it. Whose one is:
///
/// 1. That of the command that it descends from, or in whose group the oldest of its parents lives.
/// 2. Once its parents are gone, that which it was seen to belong to before.
/// 3. Otherwise that of a task of the same user that ran when it started, for as long as there is one.
///
/// What a process says of itself is no evidence. One of whom nothing of this is so is killed when it is seen.
///
/// Looks are taken on a thread, one at a time; whoever asks meanwhile gets the next one.
final class StrayHunt: WatchOwner {
    /// A task whose processes may have left its group.
    protocol Client: AnyObject {
        /// The name of its group.
        var groupName: String { get }
        /// Whose commands it runs.
        var user: UInt32 { get }
        /// When it began, in clock ticks since boot.
        var beganAt: UInt64 { get }
        /// The commands that run.
        var commandIDs: [Int32] { get }
        /// Nothing of it is to go on.
        var isEnding: Bool { get }

        /// Tells what a look has found of it.
        ///
        /// - Parameter number: that of the look, as `look` has promised it.
        func looked(
            _ number: Int, strays: [Stray], isInhabited: Bool, _ events: inout [TaskEvent])
    }

    private unowned let host: ProcessHost
    private let tree: String
    private let ownGroup: String
    private var clients: [ObjectIdentifier: any Client] = [:]
    /// Those that were seen, by number: whose they are, and whether that is told.
    private var seen: [Int32: Seen] = [:]

    /// Of the newest look that was begun.
    private var number = 0
    private var isLooking = false
    /// Another look is due when this one is over.
    private var looksAgain = false
    private let board: Board
    private let timer: OwnedDescriptor
    private var isTimed = false
    private var pause = StrayHunt.pauseMin

    private struct Seen {
        let startTime: UInt64
        weak var client: (any Client)?
    }

    /// Where the thread of a look leaves what it found; it may outlive the hunt.
    private final class Board: Sendable {
        let found = LockedState<StrayLook?>(nil)
        /// Readable when a look is over.
        let completion: OwnedDescriptor

        init() throws(SystemError) {
            completion = try .event()
        }

        func put(_ look: StrayLook) {
            found.withLock { $0 = look }
            completion.countEvent()
        }
    }

    private enum Role {
        static let completion = 0
        static let timer = 1
    }

    private static let pauseMin = 5_000_000
    /// For one that cannot die.
    private static let pauseMax = 640_000_000

    init(host: ProcessHost, tree: String) throws(SystemError) {
        self.host = host
        self.tree = tree
        ownGroup = LinuxSystem.groupName(of: getpid()) ?? ""
        board = try Board()
        timer = OwnedDescriptor(
            try systemCall("timerfd_create") {
                timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
            })
    }

    /// Begins to watch for what looks find; once, before the first of them.
    func begin() throws(SystemError) {
        _ = try host.watches.add(
            board.completion.rawValue, .input, owner: self, role: Role.completion)
        _ = try host.watches.add(timer.rawValue, .input, owner: self, role: Role.timer)
    }

    func enter(_ client: any Client) { clients[ObjectIdentifier(client)] = client }

    func leave(_ client: any Client) { clients[ObjectIdentifier(client)] = nil }

    /// Asks for a look.
    ///
    /// - Returns: the number of the first look that sees all that is there now.
    @discardableResult
    func look() -> Int {
        pause = Self.pauseMin
        return startOrGoOn()
    }

    /// Asks for a look after a pause, which grows for as long as no other is asked for.
    ///
    /// - Returns: the number of the first look that begins after now.
    func lookLater() -> Int {
        let next = number + 1
        if isTimed || looksAgain { return next }
        var times = itimerspec()
        times.it_value.tv_nsec = pause
        pause = min(pause * 2, Self.pauseMax)
        isTimed = timerfd_settime(timer.rawValue, 0, &times, nil) == 0
        if !isTimed { looksAgain = true }
        return next
    }

    /// An adopted child is gone, which somebody may wait for.
    func childEnded() {
        if isTimed { look() }
    }

    func ready(role: Int, _ events: inout [TaskEvent]) {
        if role == Role.timer {
            var expirations: UInt64 = 0
            _ = read(timer.rawValue, &expirations, MemoryLayout<UInt64>.size)
            host.reaper?.reap(&events)
            if isTimed { _ = startOrGoOn() }
            return
        }
        board.completion.takeEvents()
        guard let found = board.found.withLock({ $0.take() }) else { return }
        isLooking = false
        let finished = number
        if looksAgain { start() }
        tell(found, finished, &events)
    }

    /// Starts a look, or has another follow the one under way.
    ///
    /// - Returns: its number.
    private func startOrGoOn() -> Int {
        if isLooking {
            looksAgain = true
            return number + 1
        }
        start()
        return number
    }

    private func start() {
        number += 1
        isLooking = true
        looksAgain = false
        isTimed = false
        let (tree, ownGroup, board) = (tree, ownGroup, board)
        let take: @Sendable () -> Void = {
            // Without /proc nobody can be found, and nobody is waited for.
            board.put((try? StrayLook(tree: tree, ownGroup: ownGroup)) ?? StrayLook())
        }
        do {
            try startThread(take)
        } catch {
            // Where no thread can be had, for too many processes, this one has to wait for the look.
            take()
        }
    }

    private func tell(_ look: StrayLook, _ number: Int, _ events: inout [TaskEvent]) {
        var found: [ObjectIdentifier: [Stray]] = [:]
        var seenNow: [Int32: Seen] = [:]
        let byCommand = Dictionary(
            clients.values.flatMap { client in client.commandIDs.map { ($0, client) } }
        ) { first, _ in first }
        let byGroup = Dictionary(clients.values.map { ($0.groupName, $0) }) { first, _ in first }
        for stray in look.strays {
            let before = seen[stray.processID].flatMap {
                $0.startTime == stray.startTime ? $0 : nil
            }
            let known =
                byCommand[stray.top]
                ?? StrayLook.taskGroup(of: stray.topGroup, in: tree).flatMap { byGroup[$0] }
                ?? before?.client
            seenNow[stray.processID] = Seen(startTime: stray.startTime, client: known)
            if let client = known ?? likelyClient(of: stray) {
                found[ObjectIdentifier(client), default: []].append(stray)
            } else {
                stray.signal(SIGKILL)
                if before == nil { events.append(.ofNobody(stray)) }
            }
        }
        seen = seenNow
        // In the order of their numbers, so that the same look tells the same.
        for client in clients.values.sorted(by: { $0.groupName < $1.groupName }) {
            client.looked(
                number, strays: found[ObjectIdentifier(client)] ?? [],
                isInhabited: look.inhabited.contains(client.groupName), &events)
        }
    }

    /// A task that may have started a process whose parents are gone: the user's oldest that goes on, or
    /// else one that ends.
    private func likelyClient(of stray: Stray) -> (any Client)? {
        guard let user = stray.user else { return nil }
        let candidates = clients.values.filter {
            $0.user == user && $0.beganAt <= stray.startTime
        }
        let lasting = candidates.filter { !$0.isEnding }
        return (lasting.isEmpty ? candidates : lasting).min {
            ($0.beganAt, $0.groupName) < ($1.beganAt, $1.groupName)
        }
    }
}

extension TaskEvent {
    /// One that has left its group, of no task that is known.
    fileprivate static func ofNobody(_ stray: Stray) -> TaskEvent {
        TaskEvent(task: nobody, what: .left(processID: stray.processID, group: stray.group))
    }
}
