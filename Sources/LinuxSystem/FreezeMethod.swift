/// What holds the processes of an application still.
package enum FreezeMethod: String, Sendable, CustomStringConvertible {
    /// Their cgroup is frozen (cgroups(7), cgroup.freeze): by us.
    case cgroup
    /// The cgroup of the unit that they live in is frozen: by its service manager.
    case unit
    /// Each of them is stopped (SIGSTOP), which their parents can see.
    case signals

    package var description: String { rawValue }
}
