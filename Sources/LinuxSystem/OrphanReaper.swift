internal import CLinux
internal import Glibc

/// Kills and reaps what a killed supervisor left behind: its processes have become children of this one.
///
/// It sweeps every few milliseconds until none is left, so that a process that does not die at once does not hold up
/// the loop. The pause doubles, for a process that cannot die at all. A client waits only for orphans that have come
/// since it asked.
final class OrphanReaper: WatchOwner {
    /// A command whose supervisor was killed.
    protocol Client: AnyObject {
        /// An orphan has ended; it may be the client's command.
        func orphanEnded(_ processID: Int32, _ exit: Exit, _ events: inout [ProcessEvent])
        func orphansAreGone(_ events: inout [ProcessEvent])
    }

    private static let pauseMin = 5_000_000
    private static let pauseMax = 640_000_000
    /// How often one turn of the loop goes through /proc.
    private static let sweepsMax: Int32 = 4

    private unowned let host: ProcessHost
    private var clients: [(client: any Client, before: Set<Int32>)] = []
    /// The orphans that were still there after the last sweep.
    private var left: Set<Int32> = []
    private var pause = OrphanReaper.pauseMin
    private var timer: OwnedDescriptor?
    private var token: WatchList.Token?

    init(host: ProcessHost) {
        self.host = host
    }

    /// Begins to look for orphans, or goes on; tells the client, if there is one, when there are no more.
    func begin(for client: (any Client)?, _ events: inout [ProcessEvent]) {
        if let client { clients.append((client, left)) }
        pause = Self.pauseMin
        do {
            try startTimer()
        } catch {
            // Without a timer one sweep is made now, and the end of the next supervisor brings another.
            sweep(&events)
        }
    }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        if let timer = timer?.rawValue {
            var expirations: UInt64 = 0
            _ = read(timer, &expirations, MemoryLayout<UInt64>.size)
        }
        sweep(&events)
    }

    private func sweep(_ events: inout [ProcessEvent]) {
        let known = Array(host.childIDs)
        _ = clx_descendants_kill(known, known.count, Self.sweepsMax)
        guard let orphans = try? adoptedOrphans(known: host.childIDs) else { return }
        var hasReaped = false
        left = []
        for orphan in orphans {
            var end = clx_exit()
            guard clx_reap(orphan, &end) == 1 else {
                left.insert(orphan)
                continue
            }
            hasReaped = true
            for (client, _) in clients { client.orphanEnded(orphan, Exit(end), &events) }
        }
        // Reaped orphans may have left children of their own to this process.
        if hasReaped {
            pause = Self.pauseMin
        } else {
            let finished = clients.filter { left.isSubset(of: $0.before) }
            clients.removeAll { left.isSubset(of: $0.before) }
            for (client, _) in finished { client.orphansAreGone(&events) }
        }
        if left.isEmpty, clients.isEmpty {
            stopTimer()
        } else {
            // Without a timer the end of the next supervisor brings another sweep.
            try? startTimer()
        }
    }

    /// Arms the next sweep after the pause, and doubles the pause.
    private func startTimer() throws(SystemError) {
        if timer == nil {
            let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
            let timer = OwnedDescriptor(
                try systemCall("timerfd_create") { timerfd_create(CLOCK_MONOTONIC, flags) }
            )
            token = try host.watches.add(timer.rawValue, .input, owner: self, role: 0)
            self.timer = consume timer
        }
        guard let descriptor = timer?.rawValue else { return }
        var times = itimerspec()
        times.it_value.tv_nsec = pause
        pause = min(pause * 2, Self.pauseMax)
        try systemCall("timerfd_settime") { timerfd_settime(descriptor, 0, &times, nil) }
    }

    private func stopTimer() {
        if let timer = timer.take(), let token {
            host.watches.remove(token, timer.rawValue)
        }
        token = nil
    }
}
