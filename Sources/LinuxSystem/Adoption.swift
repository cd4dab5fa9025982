internal import Glibc

/// Why running processes cannot be adopted, in words.
package struct AdoptionRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The process that it is about, given or found in a unit; `nil` where it is about none.
    package let processID: Int32?
    package let reason: String

    package var description: String {
        processID.map { "process \($0): \(reason)" } ?? reason
    }
}

/// A running process that cannot become another one.
final class OpenedProcess: Sendable {
    let processID: Int32
    /// Its group, as /proc/PID/cgroup shows it.
    let group: String
    private let process: OwnedDescriptor

    var descriptor: Int32 { process.rawValue }

    /// Opens a process of that user. What is read about it by its number belongs to it, since it is there
    /// still after the reading.
    init(_ processID: Int32, user: UInt32, _ readers: WaitingReaders) throws(AdoptionRefusal) {
        func refusal(_ reason: String) -> AdoptionRefusal {
            AdoptionRefusal(processID: processID, reason: reason)
        }
        // The same answer for another user's process as for none, so that nobody learns which numbers are in use.
        let look = processID > 0 ? try? readers.look(at: [processID]).first : nil
        guard look?.user == user else { throw refusal("user \(user) has no such process") }
        do throws(SystemError) {
            process = try .process(processID)
            // Again: another may have had the number before.
            guard try readers.look(at: [processID]).first?.user == user else {
                throw SystemError(operation: "open", errno: ESRCH)
            }
            group = try cgroupName(of: processID)
        } catch {
            throw refusal(Self.reason(error, user))
        }
        guard !process.waitReadable(milliseconds: 0) else { throw refusal("it has ended") }
        self.processID = processID
    }

    private static func reason(_ error: SystemError, _ user: UInt32) -> String {
        switch (error.operation, error.errno) {
        case (_, ESRCH), ("open", ENOENT): "user \(user) has no such process"
        case ("pidfd_open", EINVAL), ("pidfd_open", ENOENT): "it is a thread, no process"
        default: error.description
        }
    }
}

/// Processes that may be adopted, and the units that they live in: what one look at /proc shows.
package struct Adoption: Sendable {
    let processes: [OpenedProcess]
    package let units: [AdoptedUnit]

    /// So many can be given at once; each keeps a descriptor open.
    static let processesMax = 256
    /// An application lives in one unit or in a few: each is watched, and frozen by itself.
    static let unitsMax = 16

    /// Looks at processes, at their units and at all who live there: once at each, however many units there are.
    /// That takes as long as there are many processes, and so a thread of its own.
    package init(
        processIDs: [Int32], user: UInt32, by readers: WaitingReaders
    ) throws(AdoptionRefusal) {
        let given = Set(processIDs)
        guard !given.isEmpty, given.count <= Self.processesMax else {
            throw AdoptionRefusal(
                processID: nil,
                reason: "1 to \(Self.processesMax) processes can be adopted, not \(given.count)")
        }
        var processes: [OpenedProcess] = []
        var found = UnitsOfUser(user)
        for processID in given.sorted() {
            let process = try OpenedProcess(processID, user: user, readers)
            try found.add(unitOf: process)
            processes.append(process)
        }
        self.processes = processes
        units = found.units
        try checkMembers(user: user, readers)
    }

    /// Checks who else would be frozen: only what the given processes have started, and only processes of that user.
    private func checkMembers(
        user: UInt32, _ readers: WaitingReaders
    ) throws(AdoptionRefusal) {
        let given = Set(processes.map(\.processID))
        let members: [[Int32]]
        let table: ProcessTable
        let owners: [Int32: ProcessLook]
        do throws(SystemError) {
            var lists: [[Int32]] = []
            for unit in units {
                let group = try Cgroup(
                    folder: unit.cgroupFolder,
                    name: CgroupHierarchy.name(ofFolder: unit.cgroupFolder), makes: false)
                lists.append(try group.processIDs())
            }
            members = lists
            // Read after the lists, so that a process that is in a list and not here has ended.
            table = ProcessTable(try readers.all())
            let looks = try readers.look(at: lists.flatMap { $0 })
            owners = Dictionary(looks.map { ($0.processID, $0) }) { first, _ in first }
        } catch {
            throw AdoptionRefusal(processID: nil, reason: "\(error)")
        }
        let family = given.union(table.descendants(of: given))
        for (unit, members) in zip(units, members) {
            for member in members where member == 0 || table.contains(member) {
                guard family.contains(member) else {
                    throw AdoptionRefusal(
                        processID: member, reason: Self.foreign(member, in: unit.name))
                }
                guard let look = owners[member] else { continue }
                try Self.checkOwner(of: look, user: user, unit: unit.name)
            }
        }
    }

    private static func foreign(_ member: Int32, in unit: String) -> String {
        member == 0
            ? "a process of another PID namespace lives in \(unit) too and would be frozen"
            : "it lives in \(unit) too and would be frozen, and none of the given started it"
    }

    private static func checkOwner(
        of member: ProcessLook, user: UInt32, unit: String
    ) throws(AdoptionRefusal) {
        guard member.user != user else { return }
        let owner = member.user.map { "user \($0)" } ?? "somebody unknown"
        throw AdoptionRefusal(
            processID: member.processID,
            reason: "it lives in \(unit) too and belongs to \(owner), not to \(user)")
    }
}

/// The units that processes of a user live in, each once.
private struct UnitsOfUser {
    let user: UInt32
    private(set) var units: [AdoptedUnit] = []
    /// Where this daemon is, once that has been looked for.
    private var own: CgroupHierarchy?

    init(_ user: UInt32) {
        self.user = user
    }

    mutating func add(unitOf process: OpenedProcess) throws(AdoptionRefusal) {
        func refusal(_ reason: String) -> AdoptionRefusal {
            AdoptionRefusal(processID: process.processID, reason: reason)
        }
        guard let path = UnitPath(group: process.group) else {
            throw refusal("it lives in no service or scope that could be frozen (\(process.group))")
        }
        if units.contains(where: { $0.cgroupName == path.group }) { return }
        guard units.count < Adoption.unitsMax else {
            throw refusal(
                "an application lives in \(Adoption.unitsMax) units at most, and \(path.name) is one"
                    + " more")
        }
        if let protection = path.protection { throw refusal(protection) }
        if case .user(let owner) = path.manager, owner != user {
            throw refusal("\(path.name) is a unit of user \(owner), not of \(user)")
        }
        let folder: String
        do throws(ContainmentRefusal) {
            if own == nil { own = try CgroupHierarchy() }
            guard UnitPath(group: own?.ownName ?? "") != path else {
                throw ContainmentRefusal(reason: "\(path.name) is the unit of this daemon")
            }
            folder = try CgroupHierarchy.folder(ofGroup: path.group)
        } catch {
            throw refusal(error.reason)
        }
        units.append(
            AdoptedUnit(
                name: path.name, manager: path.manager, cgroupFolder: folder,
                cgroupName: path.group))
    }
}
