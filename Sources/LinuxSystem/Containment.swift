/// What holds the processes of a command together.
package enum Containment: String, Sendable, CustomStringConvertible {
    /// A cgroup for each command: one write kills it whole. Nothing leaves it but by root's leave, as by the service
    /// manager's, and what does is found by its parents.
    case cgroup
    /// A supervisor process for each command, from which all of it descends.
    case supervisor

    package var description: String { rawValue }
}
