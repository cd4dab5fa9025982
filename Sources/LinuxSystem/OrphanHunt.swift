internal import CLinux
internal import Glibc

/// Ends what a killed supervisor left behind: its processes have become children of this one.
///
/// Sweeps every few milliseconds until none is left, so that a process that cannot die at once
/// does not hold up the loop.
final class OrphanHunt: WatchOwner {
    /// Told once no orphan is left.
    protocol Client: AnyObject {
        /// An orphan that ended, and how; it may be the client's command.
        func orphanEnded(_ processID: Int32, _ exit: Exit, _ events: inout [TaskEvent])
        func orphansAreGone(_ events: inout [TaskEvent])
    }

    private static let intervalNanoseconds = 5_000_000
    /// Of /proc, within one turn of the loop.
    private static let sweepsMax: Int32 = 4

    private unowned let host: ProcessHost
    private var clients: [any Client] = []
    private var timer: OwnedDescriptor?
    private var token: WatchList.Token?

    init(host: ProcessHost) {
        self.host = host
    }

    /// Begins to look for orphans, or goes on; tells the client when there are no more.
    func begin(for client: any Client, _ events: inout [TaskEvent]) {
        clients.append(client)
        do {
            if timer == nil { try startTimer() }
        } catch {
            // No timer can be had: what can be done at once is done, and later ends sweep again.
            sweep(&events)
        }
    }

    func ready(role: Int, _ events: inout [TaskEvent]) {
        if let timer = timer?.rawValue {
            var expirations: UInt64 = 0
            _ = read(timer, &expirations, MemoryLayout<UInt64>.size)
        }
        sweep(&events)
    }

    private func sweep(_ events: inout [TaskEvent]) {
        let known = Array(host.children.keys)
        _ = clx_descendants_kill(known, known.count, Self.sweepsMax)
        guard let orphans = try? adoptedOrphans(known: Set(host.children.keys)) else { return }
        var isDone = true
        for orphan in orphans {
            var end = clx_exit()
            guard clx_reap(orphan, &end) == 1 else {
                isDone = false
                continue
            }
            for client in clients { client.orphanEnded(orphan, Exit(end), &events) }
        }
        // What was reaped may have left children of its own to us.
        guard isDone, orphans.isEmpty else { return }
        stopTimer()
        let finished = clients
        clients = []
        for client in finished { client.orphansAreGone(&events) }
    }

    private func startTimer() throws(SystemError) {
        let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
        let timer = OwnedDescriptor(
            try systemCall("timerfd_create") { timerfd_create(CLOCK_MONOTONIC, flags) }
        )
        let interval = timespec(tv_sec: 0, tv_nsec: Self.intervalNanoseconds)
        var times = itimerspec(
            it_interval: interval,
            it_value: timespec(tv_sec: 0, tv_nsec: 1)
        )
        let descriptor = timer.rawValue
        try systemCall("timerfd_settime") { timerfd_settime(descriptor, 0, &times, nil) }
        token = try host.watches.add(descriptor, .input, owner: self, role: 0)
        self.timer = consume timer
    }

    private func stopTimer() {
        if let timer = timer.take(), let token {
            host.watches.remove(token, timer.rawValue)
        }
        token = nil
    }
}
