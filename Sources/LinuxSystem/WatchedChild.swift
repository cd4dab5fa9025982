internal import CLinux
internal import Glibc

/// A child of ours that is watched until it is reaped.
final class WatchedChild {
    let processID: Int32
    private let process: OwnedDescriptor
    private let token: WatchList.Token
    private unowned let host: ProcessHost
    private weak var owner: (any WatchOwner)?
    private let role: Int

    /// The owner is told, with this role, when the child has ended.
    ///
    /// - Throws: where it cannot be watched; it is ended and reaped then.
    init(
        _ spawned: consuming SpawnedProcess,
        host: ProcessHost,
        owner: any WatchOwner,
        role: Int
    ) throws(SystemError) {
        let descriptor = spawned.descriptor.rawValue
        do {
            // Once each: a tracer, which its user may be, keeps us from reaping it (ptrace(2)) while the descriptor
            // stays readable. When the tracer lets go, the descriptor becomes ready once more.
            token = try host.watches.add(
                descriptor, [.input, .onceEach], owner: owner, role: role)
        } catch {
            killAndReap(descriptor)
            throw error
        }
        self.host = host
        self.owner = owner
        self.role = role
        processID = spawned.processID
        process = spawned.descriptor
        host.enter(self)
    }

    /// - Returns: `nil` while it runs.
    func reap() -> Exit? {
        let exit: Exit
        do {
            guard let end = try Exit.reap(process) else { return nil }
            exit = end
        } catch {
            // Somebody else has reaped it: all that is known is that it ended.
            exit = .signal(SIGKILL)
        }
        host.watches.remove(token, process.rawValue)
        host.leave(self)
        return exit
    }

    /// Waits until it can be reaped, so long at most.
    ///
    /// - Returns: whether it can.
    func wait(milliseconds: Int32) -> Bool { process.waitReadable(milliseconds: milliseconds) }

    /// Signals the child alone, if it has not ended.
    ///
    /// - Returns: whether it got the signal.
    @discardableResult
    func signal(_ number: Int32) -> Bool {
        clx_pidfd_send_signal(process.rawValue, number) == 0
    }
}

/// Kills a child that has no owner yet and reaps it, within a second.
func killAndReap(_ process: Int32) {
    clx_pidfd_send_signal(process, SIGKILL)
    var ending = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
    poll(&ending, 1, 1000)
    var end = clx_exit()
    clx_reap_pidfd(process, &end)
}
