internal import Glibc

/// The one group that a daemon has frozen for a moment (cgroup.freeze), written down in its state folder. If the daemon
/// is killed meanwhile, the next one thaws the group.
///
/// The file need not survive a power cut, which no group does either.
package final class FreezeRecord: Sendable {
    /// `nil`: nothing is written down.
    private let path: String?
    private let state = LockedState(State.free)

    private enum State {
        case free
        /// Until it is known to be thawed.
        case frozen(FreezeFile)
        /// Nothing will be frozen any more.
        case closed
    }

    /// The open cgroup.freeze of a group, so that thawing needs no descriptor or memory that might be missing.
    private final class FreezeFile: Sendable {
        private let file: OwnedDescriptor

        /// - Throws: EBUSY where somebody else has frozen it, and has to thaw it.
        init(folder: String) throws(SystemError) {
            let path = folder + "/cgroup.freeze"
            file = try .open(path, flags: O_RDWR)
            if try readText(of: file.rawValue, path) != "0\n" {
                throw SystemError(operation: "freeze", errno: EBUSY, subject: folder)
            }
        }

        func freeze() throws(SystemError) { try writeText("1", of: file.rawValue, "cgroup.freeze") }

        /// - Returns: whether it is thawed, or gone.
        func thaw() -> Bool {
            do {
                try writeText("0", of: file.rawValue, "cgroup.freeze")
                return true
            } catch {
                return error.errno == ENODEV || error.errno == ENOENT
            }
        }
    }

    /// - Parameter stateFolder: it is there, and locked by the caller; `nil` where nothing is to be written down.
    package init(stateFolder: String?) {
        path = stateFolder.map { $0 + "/held" }
    }

    /// Thaws the group that an earlier daemon had frozen when it was killed; to be called at the start.
    package func thawLeftover() throws(SystemError) {
        guard let path else { return }
        let text: String
        do {
            text = try readText(path)
        } catch {
            if error.errno == ENOENT { return }
            throw error
        }
        let folder = String(text.lines.first ?? "")
        do {
            try writeText("0", to: folder + "/cgroup.freeze")
        } catch {
            // The group is gone, or was never named.
            guard error.errno == ENOENT || error.errno == ENODEV else { throw error }
        }
        try systemCall("unlink", path) { unlink(path) }
    }

    /// Thaws what is frozen, and refuses to freeze any more; for the end of the process.
    package func close() {
        state.withLock { state in
            end(&state)
            state = .closed
        }
    }

    /// Freezes a group.
    ///
    /// - Returns: `false` where somebody else has frozen it, or another group is frozen here.
    func freeze(_ folder: String) -> Bool {
        state.withLock { state in
            end(&state)
            guard case .free = state else { return false }
            do throws(SystemError) {
                let file = try FreezeFile(folder: folder)
                try note(folder)
                state = .frozen(file)
                try file.freeze()
                return true
            } catch {
                end(&state)
                return false
            }
        }
    }

    /// Thaws the group that is frozen.
    func thaw() {
        state.withLock { end(&$0) }
    }

    private func end(_ state: inout State) {
        // Where it cannot be thawed now, the next call tries again.
        guard case .frozen(let file) = state, file.thaw() else { return }
        if let path { unlink(path) }
        state = .free
    }

    private func note(_ folder: String) throws(SystemError) {
        guard let path else { return }
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
        let file = try OwnedDescriptor.open(path, flags: flags, mode: 0o600)
        try writeText(folder + "\n", of: file.rawValue, path)
    }
}
