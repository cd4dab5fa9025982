internal import CLinux
internal import Glibc

/// Reaps the children that this process did not start: processes of tasks whose own parents have ended, and which came
/// to this process because it is a subreaper. It knows the audit sessions of those that live, and so whose they are.
///
/// It passes through all of them whenever one has ended, or somebody asks. One user may leave thousands: so that the
/// others need not wait, a pass is cut into slices, and each slice is a turn of the loop.
final class ChildReaper: WatchOwner {
    /// A task that wants to know which of its processes are children here.
    protocol Client: AnyObject {
        /// Those of its commands.
        var sessions: Set<AuditSession> { get }

        func counted(_ count: OrphanCount, _ events: inout [ProcessEvent])
    }

    private unowned let host: ProcessHost
    private let watches: WatchList
    private let signals: OwnedDescriptor
    /// Readable while there is a slice to be made.
    private let continuation: OwnedDescriptor
    private let ownGroup: String
    /// Those that were seen alive in the last pass. A child has its number until it is reaped here.
    private var known: [Int32: AuditSession?] = [:]
    private var pass: Pass?
    /// A child has ended since the last pass began.
    private var isWanted = true
    /// Those that asked, and wait for the next pass to begin.
    private var clients: [any Client] = []

    /// A walk through the children that were there when it began.
    ///
    /// Nothing is reaped while the kernel lists them, so that the list has whoever was there when it began.
    private struct Pass {
        let childIDs: [Int32]
        let clients: [any Client]
        /// The sessions that they ask about.
        let asked: Set<AuditSession>
        /// Not all of them could be read, for want of memory or descriptors.
        var isUncertain: Bool
        var next = 0
        var living: [Int32: AuditSession?] = [:]
        var hasReaped = false
        /// A child has come that is in no task's session.
        var hasStranger = false
        /// Those of all tasks, from the first newcomer on.
        var taskSessions: Set<AuditSession>?
        var counts: [AuditSession: OrphanCount] = [:]
    }

    private enum Role {
        static let signals = 0
        static let continuation = 1
    }

    /// A slice ends after so many nanoseconds, or children.
    private static let sliceNanoseconds: Int64 = 1_000_000
    static let sliceMax = 1024
    /// How much a look outside of a pass reads of a thread's list of children, at six bytes a child.
    private static let lookBytesMax = 8192
    /// Children between two looks at the clock.
    private static let step = 64

    init(host: ProcessHost) throws(SystemError) {
        self.host = host
        watches = try WatchList()
        signals = OwnedDescriptor(try systemCall("signalfd") { clx_watch_children() })
        continuation = try .event()
        ownGroup = try groupName(of: getpid()) ?? ""
    }

    /// Readable while there is something for `poll` to do.
    var descriptor: Int32 { watches.descriptor }

    /// Begins to watch for ended children.
    func begin() throws(SystemError) {
        _ = try watches.add(signals.rawValue, .input, owner: self, role: Role.signals)
        _ = try watches.add(continuation.rawValue, .input, owner: self, role: Role.continuation)
        // No signal will come for children that have ended already.
        continuation.countEvent()
    }

    func poll(_ events: inout [ProcessEvent]) throws(SystemError) { try watches.poll(&events) }

    /// Answers a client once: how many of its sessions' processes are children now, or have been since this call.
    func count(for client: any Client) {
        clients.append(client)
        continuation.countEvent()
    }

    func forget(_ client: any Client) {
        clients.removeAll { $0 === client }
    }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        if role == Role.signals {
            clx_children_watched(signals.rawValue)
            isWanted = true
            // A pass under way continues in its own turn.
            if pass == nil { goOn(&events) }
        } else {
            continuation.takeEvents()
            if pass != nil || isWanted || !clients.isEmpty { goOn(&events) }
        }
    }

    /// Makes one slice of a pass.
    private func goOn(_ events: inout [ProcessEvent]) {
        var pass = self.pass.take() ?? newPass()
        let starting = Set(host.launches.processIDs)
        let end = MonotonicClock.now() + Self.sliceNanoseconds
        let stop = min(pass.next + Self.sliceMax, pass.childIDs.count)
        while pass.next < stop {
            let step = pass.childIDs[pass.next..<stop].prefix(Self.step)
            for child in step { look(at: child, starting, &pass) }
            pass.next += step.count
            if MonotonicClock.now() >= end { break }
        }
        if pass.next < pass.childIDs.count {
            self.pass = pass
            continuation.countEvent()
        } else {
            // Children that came meanwhile are in the next pass.
            if !pass.isUncertain { known = pass.living }
            if isWanted || !clients.isEmpty { continuation.countEvent() }
            tell(pass, &events)
        }
    }

    private func newPass() -> Pass {
        isWanted = false
        defer { clients = [] }
        let childIDs = try? orphans()
        return Pass(
            childIDs: childIDs ?? [], clients: clients,
            asked: clients.reduce(into: []) { $0.formUnion($1.sessions) },
            isUncertain: childIDs == nil)
    }

    private func look(at child: Int32, _ starting: Set<Int32>, _ pass: inout Pass) {
        guard !host.hasChild(child), !starting.contains(child) else { return }
        let hasEnded = clx_has_ended(child)
        // What is in our own group is of no task: a library has started it, and reaps it.
        if hasEnded, isOurs(child) { return }
        let session: AuditSession?
        do throws(SystemError) {
            session = try self.session(of: child)
        } catch {
            return pass.isUncertain = true
        }
        if !hasEnded {
            pass.living.updateValue(session, forKey: child)
            guard let session else { return }
            // Dead, but its tracer has not let go of it. It runs no more code.
            if pass.asked.contains(session), clx_is_dead(child) { return }
            pass.counts[session, default: OrphanCount()].noteLiving(child)
            if known[child] == nil {
                let ofTasks = pass.taskSessions ?? host.strays?.sessions ?? []
                pass.taskSessions = ofTasks
                if !ofTasks.contains(session) { pass.hasStranger = true }
            }
            return
        }
        if let session { pass.counts[session, default: OrphanCount()].noteReaped() }
        var end = clx_exit()
        clx_reap(child, &end)
        // Another process may have the number from now on.
        known[child] = nil
        pass.hasReaped = true
    }

    private func tell(_ pass: Pass, _ events: inout [ProcessEvent]) {
        if pass.hasReaped { host.strays?.childEnded() }
        if pass.hasStranger { _ = host.strays?.scanLater() }
        for client in pass.clients {
            let counts = client.sessions.compactMap { pass.counts[$0] }
            let none = OrphanCount(isUncertain: pass.isUncertain)
            client.counted(counts.reduce(none) { $0.adding($1) }, &events)
        }
    }

    private func isOurs(_ processID: Int32) -> Bool {
        getpid() != 1 && (try? groupName(of: processID)) == ownGroup
    }

    /// Whether there may be children of these sessions (`nil`: of any) that this process did not start. Reaps none.
    ///
    /// The look is bounded, however many children there are: where not all were looked at, the answer is yes.
    func mayHaveOrphans(of sessions: Set<AuditSession>?) -> Bool {
        guard clx_has_children() else { return false }
        // They cannot be seen, so there may be some.
        guard let children = try? orphans(bytesMax: Self.lookBytesMax) else { return true }
        let starting = Set(host.launches.processIDs)
        // Unknown ones: a pass is asked for, which learns their sessions.
        guard children.count(where: { known[$0] == nil }) <= Self.step + starting.count else {
            isWanted = true
            continuation.countEvent()
            return true
        }
        return children.contains { !starting.contains($0) && mayBe($0, in: sessions) }
    }

    private func mayBe(_ child: Int32, in sessions: Set<AuditSession>?) -> Bool {
        guard let sessions else { return true }
        do throws(SystemError) {
            guard let session = try session(of: child) else { return false }
            return sessions.contains(session)
        } catch {
            return true
        }
    }

    private func session(of child: Int32) throws(SystemError) -> AuditSession? {
        if let seen = known[child] { seen } else { try .of(child) }
    }

    /// All children but the commands that this process started; zombies included.
    ///
    /// Orphans go to the first thread (the kernel's find_new_reaper). A command is the child of the thread that
    /// started it, and whoever a command makes its sibling (CLONE_PARENT of clone(2)) is that thread's too. When a
    /// thread ends, its children go to the first one, which is therefore read last.
    ///
    /// - Parameter bytesMax: of one thread's list, as the kernel writes it.
    /// - Throws: E2BIG where one is longer.
    private func orphans(bytesMax: Int = 1 << 26) throws(SystemError) -> [Int32] {
        guard clx_has_children() else { return [] }
        let first = "\(getpid())"
        var all: [Int32] = []
        do {
            for thread in try names(inFolder: "/proc/self/task") where thread != first {
                all += try children(ofThread: thread, bytesMax)
            }
            all += try children(ofThread: first, bytesMax)
        } catch {
            if error.isShortage || error.errno == E2BIG { throw error }
            // A kernel without CONFIG_PROC_CHILDREN. Without /proc at all nobody can be found.
            all = (try? ProcessTable().children(of: getpid())) ?? []
        }
        return all.filter { !host.hasChild($0) }
    }

    /// None where the thread is gone.
    private func children(ofThread thread: String, _ bytesMax: Int) throws(SystemError) -> [Int32] {
        let path = "/proc/self/task/\(thread)/children"
        let text: String
        do {
            text = try readText(path, countMax: bytesMax)
        } catch {
            let isGone = error.errno == ESRCH || access("/proc/self/task/\(thread)", F_OK) != 0
            if isGone { return [] }
            throw error
        }
        guard text.utf8.count < bytesMax else {
            throw SystemError(operation: "read", errno: E2BIG, subject: path)
        }
        return text.utf8.split(separator: UInt8(ascii: " ")).compactMap { Int32(Substring($0)) }
    }
}

/// How many processes of some audit sessions have become children of this one.
struct OrphanCount: Equatable, Sendable {
    /// How many had ended. They may have left children of their own meanwhile.
    private(set) var reaped = 0
    private(set) var living = 0
    /// A few of those that live.
    private(set) var examples: [Int32] = []

    private static let examplesMax = 4

    /// Not all of them could be read, for want of memory or descriptors.
    let isUncertain: Bool

    init(isUncertain: Bool = false) { self.isUncertain = isUncertain }

    /// None is there, and none ended during the count.
    var isNone: Bool { living == 0 && reaped == 0 && !isUncertain }

    mutating func noteReaped() { reaped += 1 }

    mutating func noteLiving(_ processID: Int32) {
        living += 1
        if examples.count < Self.examplesMax { examples.append(processID) }
    }

    func adding(_ other: OrphanCount) -> OrphanCount {
        var sum = self
        sum.reaped += other.reaped
        sum.living += other.living
        sum.examples = Array((examples + other.examples).prefix(Self.examplesMax))
        return sum
    }
}
