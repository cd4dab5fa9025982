internal import Glibc

/// What keeps a process from doing what its user may, as far as the kernel tells others of it.
///
/// Landlock is not told; but who restricts themselves by it without a privilege has NoNewPrivileges. Nor is what a
/// security module makes of a control group, as systemd's `RestrictFileSystems=` does, or what bounds resources.
package struct ProcessConfinement: Equatable, Sendable {
    /// The namespaces that decide what a process reaches (namespaces(7)), by their names in /proc/PID/ns.
    package enum Namespace: String, CaseIterable, Sendable {
        case user
        case mount = "mnt"
        case network = "net"
        case process = "pid"
    }

    /// PR_SET_NO_NEW_PRIVS: no program gives it rights that it has not.
    package var hasNoNewPrivileges: Bool
    /// How many seccomp(2) filters its system calls go through; strict mode counts as one.
    package var filterCount: Int
    /// Those of them that everybody around has; fewer for a service that has some of its own.
    package var commonFilterCount: Int
    /// The control group of the service or scope that it is in; `nil` where it is in none.
    package var unit: String?
    /// The service in which another process starts commands for this one, and how many filters those have; `nil` where
    /// this one starts them, or nothing filters them.
    package var commandUnit: String?
    package var commandFilterCount = 0
    /// The capabilities that a program could give it, by their numbers' bits (capabilities(7), the bounding set).
    package var capabilityBounds: UInt64
    /// The namespaces it is in, each by an identity of the kernel's; one that the kernel has not is missing.
    package var namespaces: [Namespace: String]
    /// What `/` is for it (chroot(2)), by an identity of the kernel's too.
    package var rootFolder: String?
    /// What its control group keeps it from that commands may do, in words; `nil` where that is nothing, or was not
    /// asked.
    package var groupLimit: String?
    /// Where commands are started; `nil` where the kernel tells nothing of the programs of groups.
    private var commandGroup: CommandGroup?

    package init(
        hasNoNewPrivileges: Bool = false, filterCount: Int = 0, unit: String? = nil,
        capabilityBounds: UInt64 = .max, namespaces: [Namespace: String] = [:],
        rootFolder: String? = nil
    ) {
        self.hasNoNewPrivileges = hasNoNewPrivileges
        self.filterCount = filterCount
        commonFilterCount = filterCount
        self.unit = unit
        self.capabilityBounds = capabilityBounds
        self.namespaces = namespaces
        self.rootFolder = rootFolder
    }

    /// What this confines more than another does, in words; none where that is all there is.
    ///
    /// - Parameter other: what holds for the daemon itself, and thus for all that it starts.
    package func limits(beyond other: ProcessConfinement) -> [String] {
        var limits: [String] = []
        if hasNoNewPrivileges, !other.hasNoNewPrivileges { limits.append("NoNewPrivileges") }
        // Filters only ever come on top: what runs in the other's own unit and has as many has the same.
        if filterCount > other.filterCount(ofUnit: unit) { limits.append("a seccomp filter") }
        if other.capabilityBounds & ~capabilityBounds != 0 {
            limits.append("a smaller capability bounding set")
        }
        if rootFolder != other.rootFolder { limits.append("another root folder") }
        if let groupLimit { limits.append(groupLimit) }
        let foreign = Namespace.allCases.filter { namespaces[$0] != other.namespaces[$0] }
        guard !foreign.isEmpty else { return limits }
        let names = foreign.map { "\($0)" }.joined(separator: ", ")
        limits.append("another \(names) namespace")
        return limits
    }
}

extension ProcessConfinement {
    /// How many filters say nothing of a process in a unit, since this one and what it has started have them too.
    private func filterCount(ofUnit other: String?) -> Int {
        switch other {
        case nil: commonFilterCount
        case unit: filterCount
        case commandUnit: commandFilterCount
        default: commonFilterCount
        }
    }

    /// Commands are started by another process: what runs in its service, with as many filters, is one of them.
    package mutating func commandsAreStarted(by process: Int32) throws(SystemError) {
        let starter = try Self(ProcessView(ofOurs: process))
        (commandUnit, commandFilterCount) = (starter.unit, starter.filterCount)
        if let unit = starter.unit { commandGroup?.isOf(unit: unit) }
    }

    /// What holds for this process, as for the programs that it starts.
    ///
    /// Filters of its own are common where its parent has them too, as in a container whose every process is
    /// filtered. Those that its service alone has say nothing of what others may do: a peer with as many, but
    /// with stricter ones, would pass for one without.
    package static func own() throws(SystemError) -> ProcessConfinement {
        var own = try Self(ProcessView(ofOurs: getpid()))
        own.commandGroup = CommandGroup()
        // Another process may be in its place by now; at worst that counts too many or too few.
        if own.filterCount > 0, getppid() > 0,
            let parent = try? Self(ProcessView(ofOurs: getppid()))
        {
            own.commonFilterCount = min(own.filterCount, parent.filterCount)
        }
        return own
    }

    /// - Parameters:
    ///   - view: what was seen of a process; what is not in there is read here, and holds nothing of it.
    ///   - own: what the process is measured against, where that alone is asked; what its control group keeps it from is
    ///     asked only then. Of one in another user
    ///     namespace only that is said then: it may be in as many groups as it likes, and the kernel takes
    ///     milliseconds to write 65,536 of them into /proc/PID/status.
    /// - Throws: where it is gone, or the kernel does not tell.
    package init(
        _ view: ProcessView, beyond own: ProcessConfinement? = nil
    ) throws(SystemError) {
        self.init()
        for namespace in Namespace.allCases {
            namespaces[namespace] = try view.identity(of: namespace)
            guard namespace == .user, let own, own.namespaces[.user] != namespaces[.user]
            else { continue }
            let user = namespaces[.user]
            self = own
            namespaces[.user] = user
            return
        }
        rootFolder = try view.identityOfRoot()
        let status = try view.status()
        guard let noNewPrivileges = status.noNewPrivileges, let bounds = status.capabilityBounds
        else {
            throw SystemError(
                operation: "read", errno: EINVAL, subject: "/proc/\(view.processID)/status",
                detail: "it says nothing of NoNewPrivs or CapBnd")
        }
        hasNoNewPrivileges = noNewPrivileges != 0
        capabilityBounds = bounds
        let isFiltered = status.filterMode ?? 0 != 0
        let commandGroup = own?.commandGroup
        let path = "/proc/\(view.processID)/cgroup"
        // A kernel without control groups has no such file.
        let groups =
            isFiltered || commandGroup != nil
            ? try readText(path) : (try? readText(path)) ?? ""
        unit = Self.unit(in: groups)
        if isFiltered {
            filterCount = max(status.filterCount ?? 1, 1)
            commonFilterCount = filterCount
        }
        let group = unifiedGroup(in: groups).map { $0 == "/" ? "" : String($0) }
        groupLimit = commandGroup?.limit(ofGroup: group)
    }

    /// The group of the innermost service or scope that /proc/PID/cgroup names; nobody but root, or whoever the
    /// unit belongs to, can enter it.
    private static func unit(in text: String) -> String? {
        var parts = unifiedGroup(in: text)?.parts(between: "/") ?? []
        while let last = parts.last, last.rest(before: ".service") == nil,
            last.rest(before: ".scope") == nil
        {
            parts.removeLast()
        }
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }
}
