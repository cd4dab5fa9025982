internal import CLinux
internal import Glibc

/// The programs that the kernel asks about what the processes of a control group do, those of the groups above it
/// included (bpf(2)): what systemd makes of `IPAddressDeny=`, `SocketBindDeny=`, `DeviceAllow=` and their like.
package struct GroupPrograms: Equatable, Sendable {
    /// What a program stands in the way of.
    package enum Kind: Int, Comparable, Sendable {
        case network, socket, device, other

        init(_ kind: clx_group_program_kind) {
            self =
                switch kind {
                case clx_group_program_network: .network
                case clx_group_program_socket: .socket
                case clx_group_program_device: .device
                default: .other
                }
        }

        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }

        var word: String {
            switch self {
            case .network: "packets"
            case .socket: "sockets"
            case .device: "devices"
            case .other: "other calls"
            }
        }
    }

    /// By the kernel's numbers of the programs.
    private let kinds: [UInt32: Kind]

    /// More than this are an error: who may load that many into one group is root.
    private static let countMax = 1024

    /// None.
    init() { kinds = [:] }

    /// Asks the kernel.
    ///
    /// - Throws: EPERM where this process may not ask: it takes CAP_NET_ADMIN.
    package init(inForceIn folder: String) throws(SystemError) {
        let group = try OwnedDescriptor.open(folder, flags: O_RDONLY | O_DIRECTORY)
        var programs = [clx_group_program](repeating: clx_group_program(), count: Self.countMax)
        let count = try systemCall("bpf", folder) {
            clx_group_programs(group.rawValue, &programs, programs.count)
        }
        var kinds: [UInt32: Kind] = [:]
        for program in programs.prefix(Int(count)) { kinds[program.id] = Kind(program.kind) }
        self.kinds = kinds
    }

    package var isEmpty: Bool { kinds.isEmpty }

    /// What these stand in the way of and others do not.
    ///
    /// What only counts packets stands in nobody's way: with systemd's `DefaultIPAccounting=yes` each unit has such
    /// programs of its own, and so it is told by those of the other group.
    package func kinds(beyond other: GroupPrograms) -> [Kind] {
        let foreign = kinds.filter { other.kinds[$0.key] == nil }
        guard !foreign.isEmpty else { return [] }
        let counting = Set(other.kinds.keys.map { clx_counting_program($0) }).subtracting([0])
        let confining = foreign.filter { !counting.contains(clx_counting_program($0.key)) }
        return Set(confining.values).sorted()
    }
}

/// The control group of what starts commands, which those of others are measured against.
package struct CommandGroup: Equatable, Sendable {
    /// What comes before the name of any group, as /proc/PID/cgroup has that.
    private let hierarchy: String
    private var name: String

    /// This process's own.
    ///
    /// - Returns: `nil` where no groups are seen, or the kernel does not tell this process of their programs.
    init?() {
        guard let own = try? CgroupHierarchy(),
            let hierarchy = own.ownName.isEmpty
                ? own.ownFolder[...] : own.ownFolder.rest(before: own.ownName),
            (try? GroupPrograms(inForceIn: own.ownFolder)) != nil
        else { return nil }
        self.hierarchy = String(hierarchy)
        name = own.ownName
    }

    /// Another process starts the commands, in this unit.
    mutating func isOf(unit: String) { name = "/" + unit }

    /// What the programs of another group stand in the way of and those of this one do not, in words; `nil` where there
    /// is nothing.
    ///
    /// Both are asked each time: programs come and go, also while a process runs.
    func limit(ofGroup other: String?) -> String? {
        guard let other, let theirs = try? GroupPrograms(inForceIn: hierarchy + other) else {
            return "a control group that is not seen from here"
        }
        guard !theirs.isEmpty else { return nil }
        let own = (try? GroupPrograms(inForceIn: hierarchy + name)) ?? GroupPrograms()
        let kinds = theirs.kinds(beyond: own)
        guard !kinds.isEmpty else { return nil }
        return "a filter of its control group (\(kinds.map(\.word).joined(separator: ", ")))"
    }
}
