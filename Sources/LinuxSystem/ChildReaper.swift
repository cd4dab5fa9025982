internal import CLinux
internal import Glibc

/// Reaps the children that this process did not start: what the tasks have started and left to it, as their
/// subreaper.
final class ChildReaper: WatchOwner {
    private unowned let host: ProcessHost
    private let signals: OwnedDescriptor
    private let ownGroup: String

    /// Within one turn of the loop.
    private static let batchMax = 1024

    init(host: ProcessHost) throws(SystemError) {
        self.host = host
        signals = OwnedDescriptor(try systemCall("signalfd") { clx_watch_children() })
        ownGroup = groupName(of: getpid()) ?? ""
    }

    /// Begins to watch for ended children.
    func begin() throws(SystemError) {
        _ = try host.watches.add(signals.rawValue, .input, owner: self, role: 0)
    }

    func ready(role: Int, _ events: inout [TaskEvent]) {
        clx_children_watched(signals.rawValue)
        reap(&events)
    }

    /// Reaps what has ended, and tells the tasks of their commands that have.
    func reap(_ events: inout [TaskEvent]) {
        for _ in 0..<Self.batchMax {
            let processID = clx_ended_child()
            guard processID > 0 else { return }
            // The kernel shows one at a time: a command is reaped here, so that others are seen.
            if let child = host.children[processID] {
                child.tellOwner(&events)
                if host.children[processID] != nil { return }
            } else {
                // What is being started is reaped by the thread that starts it. What is in our own group is
                // of no task: a library has started it, and reaps it.
                if host.launches.processIDs.contains(processID) || isOurs(processID) { break }
                var end = clx_exit()
                clx_reap(processID, &end)
                host.strays?.childEnded()
            }
        }
        // There may be more.
        _ = host.strays?.lookLater()
    }

    private func isOurs(_ processID: Int32) -> Bool {
        getpid() != 1 && groupName(of: processID) == ownGroup
    }
}
