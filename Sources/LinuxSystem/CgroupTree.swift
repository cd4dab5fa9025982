internal import CLinux
internal import Glibc

/// The group that holds all tasks of one state folder, and the groups of the tasks below it.
///
/// It is named by the state folder, so that a daemon finds what a crashed one left. A `StateLock`
/// on that folder makes sure that there is one daemon to a tree.
package final class CgroupTree {
    /// The folder of the tree, such as `/sys/fs/cgroup/bgtaskd-0f3c…`.
    package let folder: String
    private let root: Cgroup
    private let idleMax: Int
    /// Empty groups to be used again.
    private var idle: [Cgroup] = []
    /// Groups that were given back before all their processes were gone.
    private var occupied: [Cgroup] = []
    private var numberMax = 0

    /// How many processes and threads a task may have, where the kernel counts them (pids.max); `nil`: as
    /// many as the user and the machine may. For tasks that begin from now on.
    package var processesPerTaskMax: Int?

    /// As /proc/PID/cgroup shows it.
    var name: String { root.name }

    /// Makes the tree, and proves that groups can be made, frozen and killed in it.
    ///
    /// - Parameters:
    ///   - stateFolder: an absolute path; names the tree.
    ///   - idleMax: how many empty groups are kept for the next tasks.
    /// - Throws: a refusal that says in words why no cgroup can be had here.
    package init(stateFolder: String, idleMax: Int = 16) throws(ContainmentRefusal) {
        let hierarchy = try CgroupHierarchy().delegated
        try hierarchy.checkDelegated()
        let name = Self.name(stateFolder: stateFolder)
        folder = hierarchy.ownFolder + name
        self.idleMax = idleMax
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

    /// Kills what an earlier daemon left in the tree, and removes its groups.
    ///
    /// Waits until the processes are gone; to be called at the start, before the loop and the first task.
    /// A group with a process that cannot end is kept aside, and removed once it is empty.
    ///
    /// - Parameter millisecondsMax: how long to wait for them.
    package func killLeftovers(millisecondsMax: Int64 = 10_000) throws(SystemError) -> Leftovers {
        let leftovers = try root.killAndWait(millisecondsMax: millisecondsMax)
        idle = []
        occupied = []
        if leftovers.unkillable.isEmpty {
            try root.removeSubgroups()
        } else {
            try retainOccupied()
        }
        return leftovers
    }

    /// Removes the groups that can be removed. The others keep their numbers for as long as they are there.
    private func retainOccupied() throws(SystemError) {
        for task in try names(inFolder: folder, foldersOnly: true) {
            let group = try Cgroup(
                folder: "\(folder)/\(task)", name: "\(name)/\(task)", makes: false)
            do throws(SystemError) {
                try group.removeSubgroups()
                try group.remove()
            } catch {
                // Killed, so that it is never used again (see `Cgroup.wasKilled`).
                try group.kill()
                occupied.append(group)
                if let number = Int(task.drop { !$0.isNumber }) {
                    numberMax = max(numberMax, number)
                }
            }
        }
    }

    /// Removes the tree at an orderly end.
    ///
    /// - Throws: EBUSY where a process is still in it.
    package func remove() throws(SystemError) {
        idle = []
        occupied = []
        try root.removeSubgroups()
        try root.remove()
    }

    /// An empty group, from the pool where it has one.
    func take() throws(SystemError) -> Cgroup {
        collectOccupied()
        while let group = idle.popLast() {
            if let state = try? group.state(), state == Cgroup.State() { return bounded(group) }
            occupied.append(group)
        }
        numberMax += 1
        let name = "/task-\(numberMax)"
        return bounded(try Cgroup(folder: folder + name, name: root.name + name, makes: true))
    }

    private func bounded(_ group: Cgroup) -> Cgroup {
        group.processesMax = processesPerTaskMax
        return group
    }

    /// Takes a group back. One that is not empty is killed, and used again or removed later.
    func giveBack(_ group: Cgroup) {
        if !recycle(group) {
            try? group.kill()
            occupied.append(group)
        }
    }

    private func collectOccupied() {
        occupied.removeAll(where: recycle)
    }

    /// - Returns: whether the group was empty, and is in the pool or removed now.
    private func recycle(_ group: Cgroup) -> Bool {
        do {
            var state = try group.state()
            if state.isPopulated { return false }
            if state.isFrozen {
                try group.setFrozen(false)
                state = try group.state()
            }
            try group.removeSubgroups()
            if idle.count < idleMax, !state.isFrozen, !group.wasKilled, group.prepareForNext() {
                idle.append(group)
            } else {
                try group.remove()
            }
            return true
        } catch {
            return false
        }
    }

    private static func verifyDelegation(_ root: Cgroup) throws(SystemError) {
        let probe = try Cgroup(
            folder: root.folder + "/probe",
            name: root.name + "/probe",
            makes: true
        )
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
        try probe.remove()
    }

    /// Starts a process that finds nothing to execute. Its report of that proves that it lived.
    ///
    /// From Linux 6.13 on a new process is killed at once where the group that we are in was ever killed (see
    /// `Cgroup.wasKilled`).
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

    /// The tree's place in the group that it is in: `/bgtaskd-0f3c…`.
    static func name(stateFolder: String) -> String { "/" + unitName(stateFolder: stateFolder) }

    /// The tree's own name, good for a unit too: `bgtaskd-0f3c…`.
    package static func unitName(stateFolder: String) -> String {
        "bgtaskd-" + hexadecimal(stableHash(stateFolder))
    }

    /// FNV-1a, 64 bits: the same in every run, unlike Swift's own hashes.
    static func stableHash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }

    static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
