internal import CLinux
internal import Glibc

/// Processes that run already, started by others, in units of a service manager.
///
/// Their manager freezes and thaws the units; what it has done is seen here and told as `frozen`. `gone`
/// comes when none of the given processes is left, or nobody is left in the units. How a process ended is
/// known to its parent alone, so that there is no `exited`.
package final class AdoptedProcesses: ProcessSet, WatchOwner {
    package let identifier: UInt64
    /// Where they live; each unit once.
    package let units: [AdoptedUnit]
    /// Whose they are: nobody else's process gets a signal, whoever is in the units later.
    private let user: UInt32
    private let host: ProcessHost
    /// Those that run still. The roles of their watches count from 0.
    private var processes: [Int: Watched<OpenedProcess>] = [:]
    /// Those that are there still. The roles of their watches count down from -1.
    private var groups: [Int: Watched<Cgroup>] = [:]
    private var isToldFrozen = false
    private var isOver = false
    /// Whether they have been told to end: then nobody in the units is left behind.
    private var isEnding = false
    /// Has the groups read again and again, while the last of them end.
    private var looks: Looks?

    private static let roleOfLooks = Int.max
    /// From one look to the next, at first; it doubles up to the other.
    private static let (lookNanoseconds, lookNanosecondsMax) = (100_000_000, 6_400_000_000)

    private final class Looks {
        let timer: OwnedDescriptor
        let token: WatchList.Token
        private(set) var nanoseconds = 0

        init(_ timer: consuming OwnedDescriptor, _ token: WatchList.Token) {
            self.timer = timer
            self.token = token
        }

        func arm(nanoseconds: Int) {
            self.nanoseconds = nanoseconds
            timer.arm(nanoseconds: nanoseconds)
        }
    }

    private struct Watched<Subject> {
        let subject: Subject
        let token: WatchList.Token
        var isFrozen = false
        var isPopulated = true
    }

    init(
        _ identifier: UInt64, _ adoption: Adoption, user: UInt32, host: ProcessHost
    ) throws(SystemError) {
        self.identifier = identifier
        units = adoption.units
        self.user = user
        self.host = host
        do throws(SystemError) {
            for (index, process) in adoption.processes.enumerated() {
                let token = try host.watches.add(
                    process.descriptor, .input, owner: self, role: index)
                processes[index] = Watched(subject: process, token: token)
            }
            for (index, unit) in adoption.units.enumerated() {
                let group = try Cgroup(
                    folder: unit.cgroupFolder,
                    name: CgroupHierarchy.name(ofFolder: unit.cgroupFolder), makes: false)
                let token = try host.watches.add(
                    group.eventsDescriptor, .priority, owner: self, role: -1 - index)
                groups[-1 - index] = Watched(subject: group, token: token)
            }
        } catch {
            end()
            throw error
        }
    }

    package var freezer: FreezeMethod { .unit }

    package var homes: [ProcessHome] { units.map { .group($0.cgroupName) } }

    /// Whether all units that are there still are frozen, read now.
    package var isFrozen: Bool {
        let states = groups.values.compactMap { try? $0.subject.stateNow() }
        return !states.isEmpty && states.allSatisfy(\.isFrozen)
    }

    /// All processes in the units, zombies left out.
    package func processIDs() throws(SystemError) -> [Int32] {
        var all: [Int32] = []
        for group in groups.values { all += try group.subject.processIDs() }
        return all.sorted()
    }

    /// Sends a signal to every process of the user in the units.
    package func signal(_ number: Int32) throws(SystemError) -> Int? {
        var count: Int? = 0
        isEnding = true
        for group in groups.values {
            let sweep = SignalSweep(number, to: group.subject, ofUser: user)
            let signalled = try host.sweeps.begin(sweep, of: group.subject)
            count = signalled.flatMap { one in count.map { $0 + one } }
        }
        return count
    }

    /// Sends SIGKILL to every process of the user in the units. A unit that starts others faster than they
    /// are found needs another call, or its manager.
    package func kill() throws(SystemError) {
        _ = try signal(SIGKILL)
    }

    package func close() {
        end()
    }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        if isOver { return }
        switch role {
        case Self.roleOfLooks: readGroups()
        case 0...: processEnded(role)
        default: readGroup(role)
        }
        if processes.isEmpty, isEnding { beginLooking() }
        let isFrozen = !groups.isEmpty && groups.values.allSatisfy(\.isFrozen)
        let isEmpty = !groups.values.contains { $0.isPopulated }
        let isGone = isEmpty || processes.isEmpty && !isEnding
        if isFrozen != isToldFrozen, !isGone {
            isToldFrozen = isFrozen
            events.append(ProcessEvent(task: identifier, what: .frozen(isFrozen)))
        }
        if isGone {
            end()
            events.append(ProcessEvent(task: identifier, what: .gone))
        }
    }

    /// Reads the groups now and, more and more seldom, again.
    ///
    /// The kernel holds back what it tells of a group for up to 10 ms (cgroup_file_notify), and nothing comes of it where
    /// the manager removes the group within them, as it does once its main process has ended.
    private func beginLooking() {
        guard looks == nil else { return }
        readGroups()
        do throws(SystemError) {
            let timer = try OwnedDescriptor.timer()
            let token = try host.watches.add(
                timer.rawValue, .input, owner: self, role: Self.roleOfLooks)
            let looks = Looks(timer, token)
            looks.arm(nanoseconds: Self.lookNanoseconds)
            self.looks = looks
        } catch {
            // Without a descriptor for it, what the kernel tells has to do.
        }
    }

    private func readGroups() {
        if let looks {
            looks.arm(nanoseconds: min(looks.nanoseconds * 2, Self.lookNanosecondsMax))
        }
        for role in groups.keys { readGroup(role) }
    }

    private func processEnded(_ role: Int) {
        guard let process = processes.removeValue(forKey: role) else { return }
        host.watches.remove(process.token, process.subject.descriptor)
    }

    private func readGroup(_ role: Int) {
        guard let group = groups[role] else { return }
        do {
            let state = try group.subject.state()
            groups[role]?.isFrozen = state.isFrozen
            groups[role]?.isPopulated = state.isPopulated
        } catch {
            // Nothing but a removed group cannot be read, and nobody is in that.
            host.watches.remove(group.token, group.subject.eventsDescriptor)
            groups[role] = nil
        }
    }

    private func end() {
        isOver = true
        for role in processes.keys { processEnded(role) }
        for group in groups.values {
            host.sweeps.end(of: group.subject)
            host.watches.remove(group.token, group.subject.eventsDescriptor)
        }
        groups = [:]
        if let looks { host.watches.remove(looks.token, looks.timer.rawValue) }
        looks = nil
    }
}
