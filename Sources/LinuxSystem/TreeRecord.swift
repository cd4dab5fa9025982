internal import Glibc

/// Where the tree of a daemon is, written down in its state folder.
///
/// A daemon in a scope or started in another unit than the one before it has its tree elsewhere, and
/// could not find by the name alone what that one left. The file need not survive a power cut, which
/// no group does either.
package struct TreeRecord {
    private let path: String
    /// What the folder of every tree of this state folder ends with.
    private let treeName: String

    /// - Parameter stateFolder: as the tree is named by; it is there, and locked by the caller.
    package init(stateFolder: String) {
        path = stateFolder + "/group"
        treeName = CgroupTree.name(stateFolder: stateFolder)
    }

    /// Writes down where the tree is now; `nil` where there is none.
    package func write(_ tree: CgroupTree?) throws(SystemError) {
        guard let tree else {
            if unlink(path) == 0 || errno == ENOENT { return }
            throw SystemError(operation: "unlink", errno: errno, subject: path)
        }
        let new = path + ".new"
        do {
            let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
            let file = try OwnedDescriptor.open(new, flags: flags, mode: 0o600)
            try writeText(tree.folder + "\n", of: file.rawValue, new)
        }
        try systemCall("rename", path) { rename(new, path) }
    }

    /// Kills what is left in the tree that was written down last.
    ///
    /// Waits until the processes are gone; to be called at the start, before the loop.
    package func killLeftovers(millisecondsMax: Int64 = 10_000) throws(SystemError) -> Leftovers {
        guard let folder = try folder() else { return Leftovers() }
        let root: Cgroup
        do {
            root = try Cgroup(folder: folder, name: "", makes: false)
        } catch {
            // Gone with the unit that it was in.
            if error.errno == ENOENT || error.errno == ENODEV { return Leftovers() }
            throw error
        }
        var leftovers = try root.killAndWait(millisecondsMax: millisecondsMax)
        leftovers.group = folder
        return leftovers
    }

    /// The folder of the tree, if one is written down and its name is ours.
    private func folder() throws(SystemError) -> String? {
        let text: String
        do {
            text = try readText(path)
        } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
        let folder = String(text.prefix { $0 != "\n" })
        return folder.hasSuffix(treeName) ? folder : nil
    }
}
