/// What holds the processes of a task together.
package enum Containment {
    /// A cgroup for each task: one write kills it whole. Nothing leaves it but by root's leave, as by the
    /// service manager's, and what does is found by its parents (`StrayTracker`).
    case cgroup(CgroupTree)
    /// A supervisor process for each command, found at this path.
    case supervisor(path: String)

    /// Whether a task is what descends from its supervisors.
    package var hasSupervisors: Bool { if case .supervisor = self { true } else { false } }

    /// A cgroup tree for this state folder; where none can be had, the supervisor.
    ///
    /// - Returns: the containment and, where it is the supervisor, why no cgroup can be had.
    /// - Throws: ENOENT where the supervisor is not installed either.
    package static func choose(
        stateFolder: String
    ) throws(SystemError) -> (Containment, refusal: ContainmentRefusal?) {
        do {
            return (.cgroup(try CgroupTree(stateFolder: stateFolder)), nil)
        } catch {
            return (.supervisor(path: try supervisorPath()), error)
        }
    }

    /// Why no cgroup can be had for tasks, as far as can be seen without making one.
    package static func cgroupRefusal() -> ContainmentRefusal? {
        do throws(ContainmentRefusal) {
            try CgroupHierarchy().delegated.checkDelegated()
            return nil
        } catch {
            return error
        }
    }

    /// Whether a group from the service manager would be better than what we are in: there is a cgroup
    /// v2 hierarchy, and our group of it was not delegated to us.
    package static func lacksGroup() -> Bool {
        guard let hierarchy = try? CgroupHierarchy() else { return false }
        return !hierarchy.delegated.isOurs
    }

    /// Where `bgtask-supervisor` is.
    ///
    /// - Throws: as `installedProgram`.
    package static func supervisorPath() throws(SystemError) -> String {
        try installedProgram("bgtask-supervisor")
    }
}

extension Containment {
    /// The tree of groups, where there is one.
    package var tree: CgroupTree? {
        if case .cgroup(let tree) = self { tree } else { nil }
    }
}

extension Containment: CustomStringConvertible {
    /// `cgroup` or `supervisor`.
    package var description: String {
        switch self {
        case .cgroup: "cgroup"
        case .supervisor: "supervisor"
        }
    }
}
