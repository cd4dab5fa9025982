internal import CLinux
internal import Glibc

/// The group that holds all commands of one state folder, each in a group of its own below it, which bgtask-executor makes.
///
/// It is named by the state folder, so that a daemon finds what a crashed one left. A `StateLock`
/// on that folder makes sure that there is one daemon to a tree.
package final class CgroupTree {
    /// The folder of the tree, such as `/sys/fs/cgroup/bgtaskd-0f3c…`.
    package let folder: String
    private let root: Cgroup

    /// As /proc/PID/cgroup shows it.
    var name: String { root.name }

    /// Makes the tree, and proves that groups can be made, frozen and killed in it.
    ///
    /// - Parameter stateFolder: an absolute path; names the tree.
    /// - Throws: a refusal that says in words why no cgroup can be had here.
    package init(stateFolder: String) throws(ContainmentRefusal) {
        let hierarchy = try CgroupHierarchy().delegated
        try hierarchy.checkDelegated()
        let name = Self.name(stateFolder: stateFolder)
        folder = hierarchy.ownFolder + name
        do {
            try hierarchy.enterLeaf()
            root = try Cgroup(folder: folder, name: hierarchy.ownName + name, makes: true)
            hierarchy.count(below: folder)
            try Self.verifyDelegation(root)
        } catch {
            rmdir(folder)
            throw ContainmentRefusal(reason: "no cgroup can be used: \(error)")
        }
    }

    /// Kills what an earlier daemon left in the tree. Its groups are removed by bgtask-executor.
    ///
    /// Waits until the processes are gone; to be called at the start, before the loop and the first command.
    ///
    /// - Parameter millisecondsMax: how long to wait for them.
    package func killLeftovers(millisecondsMax: Int64 = 2000) throws(SystemError) -> Leftovers {
        try root.killAndWait(millisecondsMax: millisecondsMax)
    }

    /// Has the tree removed at an orderly end.
    ///
    /// - Throws: EBUSY where it is there still: a process is in it, or its removal is held up.
    package func remove(by maker: CloserProcess.Maker) throws(SystemError) {
        try maker.removeNow(folder)
    }

    /// Removes the tree, for a process that serves nobody.
    package func remove() throws(SystemError) {
        try root.removeSubgroups()
        try root.remove()
    }

    /// What it tries that in stays where it works, for who removes what is left in a tree: others may have mounted something there.
    private static func verifyDelegation(_ root: Cgroup) throws(SystemError) {
        // No name comes again: an earlier one may be removed at any time.
        let name = "/trial-\(MonotonicClock.now())"
        let probe = try Cgroup(folder: root.folder + name, name: root.name + name, makes: true)
        do throws(SystemError) {
            try verifyStart(in: probe)
            for frozen in [true, false] {
                try probe.setFrozen(frozen)
                guard try probe.state().isFrozen == frozen else {
                    throw SystemError(
                        operation: "freeze",
                        errno: EIO,
                        subject: probe.folder,
                        detail: "an empty group does not freeze and thaw"
                    )
                }
            }
            try probe.kill()
        } catch {
            try? probe.remove()
            guard error.errno == ENOENT else { throw error }
            throw SystemError(
                operation: error.operation,
                errno: ENOENT,
                subject: error.subject,
                detail: "missing; cgroup.kill and cgroup.freeze need Linux 5.14"
            )
        }
    }

    /// Starts a process that finds nothing to execute. Its report of that proves that it lived.
    ///
    /// From Linux 6.13 on a new process is killed at once where the group that we are in was ever killed: the kill
    /// sequence of its own group is compared with that of the group that the caller of clone3 is in (seen on 6.18).
    private static func verifyStart(in group: Cgroup) throws(SystemError) {
        let nothing = LaunchRequest(arguments: [""], searchPath: "")
        let failure: LaunchError
        do throws(LaunchError) {
            let process = try spawn(nothing, descriptors: [], cgroup: group.descriptor)
            killAndReap(process.descriptor.rawValue)
            throw LaunchError(stage: .clone, errno: EIO, subject: group.folder)
        } catch {
            failure = error
        }
        if failure.stage == .exec { return }
        throw SystemError(
            operation: "clone",
            errno: failure.errno,
            subject: group.folder,
            detail: failure.errno == EIO ? "what starts in a new group is killed" : nil
        )
    }

    /// Why no cgroup can be had for commands, as far as can be seen without making one.
    package static func refusal() -> ContainmentRefusal? {
        do throws(ContainmentRefusal) {
            try CgroupHierarchy().delegated.checkDelegated()
            return nil
        } catch {
            return error
        }
    }

    /// Whether a group from the service manager would be better than what we are in: there is a cgroup
    /// v2 hierarchy, and our group of it was not delegated to us.
    package static func isLackedHere() -> Bool {
        guard let hierarchy = try? CgroupHierarchy() else { return false }
        return !hierarchy.delegated.isOurs
    }

    /// The tree's place in the group that it is in: `/bgtaskd-0f3c…`.
    package static func name(stateFolder: String) -> String {
        "/" + unitName(stateFolder: stateFolder)
    }

    /// The tree's own name, good for a unit too: `bgtaskd-0f3c…`.
    package static func unitName(stateFolder: String) -> String {
        "bgtaskd-" + hexadecimal(stableHash(stateFolder))
    }

    /// FNV-1a, 64 bits: the same in every run, unlike Swift's own hashes.
    package static func stableHash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }

    package static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
