import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

@Suite("What a daemon tells the service manager")
struct NotifyTests {
    /// A daemon with a service manager, which a test plays.
    private struct Service {
        let folder: TemporaryFolder
        let manager: NotifySocket
        let daemon: DaemonProcess

        init(_ settings: String = "", watchdogMicroseconds: Int? = nil) throws {
            folder = try TemporaryFolder()
            manager = try NotifySocket(in: folder)
            daemon = try DaemonProcess(
                .supervisor, settings: settings, in: folder,
                environment: ["NOTIFY_SOCKET=\(manager.path)"]
                    + (watchdogMicroseconds.map { ["WATCHDOG_USEC=\($0)"] } ?? []))
        }
    }

    /// The ways to order a reload.
    enum Way: String, CaseIterable {
        case signal, manager, service

        func reload(_ daemon: DaemonProcess) throws {
            switch self {
            case .signal: daemon.child.signal(SIGHUP)
            case .manager: try send(Manager.Reload.self, to: daemon)
            case .service: try send(SystemdService.Reload.self, to: daemon)
            }
        }

        /// A refusal is the answer that is wanted where the settings are bad.
        private func send<M: Method>(_ method: M.Type, to daemon: DaemonProcess) throws {
            do {
                _ = try daemon.connect().ask(method)
            } catch ClientError.remote {}
        }
    }

    @Test("READY comes with a status, and not before the socket takes calls")
    func ready() throws {
        let service = try Service()
        #expect(try service.manager.next(with: "READY", "1")["STATUS"] == "0 running, 0 queued")
        #expect(service.daemon.canConnect())
    }

    @Test("the watchdog is fed again and again while there is nothing to do")
    func watchdog() throws {
        let service = try Service(watchdogMicroseconds: 100_000)
        for _ in 0..<3 { _ = try service.manager.next(with: "WATCHDOG", "1") }
    }

    @Test("RELOADING and READY stand around every reload, good and bad", arguments: Way.allCases)
    func reloading(way: Way) throws {
        let service = try Service("queue.slots = 3")
        _ = try service.manager.next(with: "READY", "1")
        let client = try service.daemon.connect()
        let held = try client.begin()
        try service.manager.status { $0.hasPrefix("1 running") }

        for settings in ["queue.slots = 4", "queue.slots = 5\nqueue.slot = 1", "queue.slots = 6"] {
            try service.daemon.rewrite(settings: settings)
            let before = monotonicMicroseconds()
            try way.reload(service.daemon)
            let reloading = try service.manager.next(with: "RELOADING", "1")
            let told = try #require(UInt64(reloading["MONOTONIC_USEC"] ?? ""))
            #expect((before...monotonicMicroseconds()).contains(told))
            let ready = try service.manager.next(with: "READY", "1")
            let refusal = "; the settings of \(service.daemon.settingsPath) were refused: line 3: "
            // The status says nothing new where it is as before.
            if settings.contains("queue.slot =") {
                #expect(ready["STATUS"]?.contains(refusal) == true, "\(ready)")
            } else {
                #expect(ready["STATUS"]?.contains("refused") != true, "\(ready)")
            }
            let slots = try client.ask(Manager.Describe.self).settings
                .first { $0.key == "queue.slots" }?.value
            #expect(slots == (settings.contains("queue.slot =") ? "4" : String(settings.suffix(1))))
        }
        // Nothing was lost.
        #expect(try client.ask(Tasks.End.self) { $0.id = held }.outcome == .completed)
    }

    @Test("the refused settings stay in the status while it changes, until they are good")
    func refusalStays() throws {
        let service = try Service()
        try service.daemon.rewrite(settings: "nonsense")
        service.daemon.child.signal(SIGHUP)
        try service.manager.status { $0.hasPrefix("0 running") && $0.contains("refused") }
        let held = try service.daemon.connect()
        _ = try held.begin()
        try service.manager.status { $0.hasPrefix("1 running") && $0.contains("refused") }
        try service.daemon.rewrite(settings: "")
        service.daemon.child.signal(SIGHUP)
        try service.manager.status { $0.hasPrefix("1 running") && !$0.contains("refused") }
    }

    @Test("the status is told though a flood of calls comes")
    func statusUnderLoad() throws {
        let service = try Service()
        _ = try service.manager.next(with: "READY", "1")
        let flood = try RawConnection(service.daemon)
        let call = callText(
            Tasks.Show.name, .object([("id", .integer(1))]), flags: ",\"oneway\":true")
        let calls = Array(String(repeating: call + "\0", count: 2000).utf8)
        try flood.send(calls)
        let holder = try service.daemon.connect()
        let held = try holder.begin()
        try eventually("the status is told") {
            try flood.send(calls)
            return service.manager.hasStatus { $0.hasPrefix("1 running") }
        }
        #expect(try holder.ask(Tasks.End.self) { $0.id = held }.outcome == .completed)
    }

    @Test("a stop asks for 15 s again and again, not beyond the grace, and ends with the outcomes")
    func stopping() throws {
        let service = try Service()
        let client = try service.daemon.connect()
        let id = try client.submit(
            script: "trap '' TERM; echo ready; while :; do sleep 0.05; done"
        ) { $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000) }
        try service.daemon.waitForOutput("ready", of: id)
        service.daemon.child.signal(SIGTERM)
        let stopping = try service.manager.next(with: "STOPPING", "1")
        #expect(stopping["STATUS"]?.hasPrefix("stopping: 1 running, 0 queued") == true)
        for _ in 0..<2 {
            #expect(
                try service.manager.next(with: "EXTEND_TIMEOUT_USEC")["EXTEND_TIMEOUT_USEC"]
                    == "15000000")
        }
        // A reload does not make it ready again.
        service.daemon.child.signal(SIGHUP)
        try service.daemon.waitForLog("settings read again: nothing changed")
        service.daemon.child.signal(SIGTERM)
        try service.manager.status { $0 == "stopped: 1 interrupted" }
        #expect(try service.daemon.child.waitForEnd() == .status(0))
        #expect(!service.manager.hasHad("READY", after: "STOPPING"))
    }

    @Test("a short grace asks for no more than it and what the end takes")
    func shortStop() throws {
        let service = try Service()
        let client = try service.daemon.connect()
        let id = try client.submit(
            script: "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
        ) { $0.budget = Tasks.Budget(ms: 500_000, grace: 4000) }
        try service.daemon.waitForOutput("ready", of: id)
        service.daemon.child.signal(SIGTERM)
        let asked = try service.manager.next(with: "EXTEND_TIMEOUT_USEC")["EXTEND_TIMEOUT_USEC"]
        #expect(asked == "14000000")
        try service.manager.status { $0 == "stopped: 1 interrupted" }
    }

    private func monotonicMicroseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
