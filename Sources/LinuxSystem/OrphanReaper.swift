internal import CLinux
internal import Glibc

/// Kills and reaps what an executor has left that was a child of this process and was killed: its processes have become
/// children of this one.
///
/// It sweeps every few milliseconds until none is left, so that a process that does not die at once does not hold up
/// the loop. The pause doubles, for a process that cannot die at all.
final class OrphanReaper: WatchOwner {
    private static let pauseMin = 5_000_000
    private static let pauseMax = 640_000_000
    /// How often one turn of the loop goes through /proc.
    private static let sweepsMax: Int32 = 4

    private unowned let host: ProcessHost
    private var pause = OrphanReaper.pauseMin
    private var timer: OwnedDescriptor?
    private var token: WatchList.Token?

    init(host: ProcessHost) {
        self.host = host
    }

    /// Begins to look for orphans, or goes on.
    func begin() {
        pause = Self.pauseMin
        sweep()
    }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        timer?.takeEvents()
        sweep()
    }

    private func sweep() {
        var isLeft = true
        if let children = try? ProcessTable().children(of: getpid()) {
            let own = children.filter(isOwn)
            _ = clx_descendants_kill(own, own.count, Self.sweepsMax)
            let orphans = Set(children).subtracting(own)
            let reaped = orphans.filter { orphan in
                var end = clx_exit()
                return clx_reap(orphan, &end) == 1
            }
            // Those that were reaped may have left children of their own to this process.
            if !reaped.isEmpty { pause = Self.pauseMin }
            isLeft = !orphans.isEmpty
        }
        if isLeft {
            // Without a timer the end of the next executor brings another sweep.
            try? startTimer()
        } else {
            stopTimer()
        }
    }

    /// Whether a child is this process's own. All that an executor has started is in other sessions, which is no way back.
    private func isOwn(_ child: Int32) -> Bool {
        host.hasChild(child) || getsid(child) == getsid(0)
    }

    /// Arms the next sweep after the pause, and doubles the pause.
    private func startTimer() throws(SystemError) {
        if timer == nil {
            let timer = try OwnedDescriptor.timer()
            token = try host.watches.add(timer.rawValue, .input, owner: self, role: 0)
            self.timer = consume timer
        }
        timer?.arm(nanoseconds: pause)
        pause = min(pause * 2, Self.pauseMax)
    }

    private func stopTimer() {
        if let timer = timer.take(), let token {
            host.watches.remove(token, timer.rawValue)
        }
        token = nil
    }
}
