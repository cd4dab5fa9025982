import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("Conditions of queued tasks (rule 24)")
struct ConditionTests {
    /// A folder that stands for / where a daemon reads the power supplies and the load.
    private struct SensorRoot {
        let folder: TemporaryFolder
        let path: String

        init() throws {
            folder = try TemporaryFolder()
            path = folder.path + "/root"
            let folders = [
                "", "/sys", "/sys/class", "/sys/class/power_supply",
                "/sys/class/power_supply/BAT0", "/sys/class/power_supply/AC", "/proc",
                "/proc/pressure",
            ]
            for name in folders { mkdir(path + name, 0o700) }
            try write("Battery", "sys/class/power_supply/BAT0/type")
            try write("Discharging", "sys/class/power_supply/BAT0/status")
            try write("Mains", "sys/class/power_supply/AC/type")
            try setOnline(false)
            try setLoad("0.00")
            try setPressure("34.00")
        }

        func setOnline(_ isOnline: Bool) throws {
            try write(isOnline ? "1" : "0", "sys/class/power_supply/AC/online")
        }

        private var gate: String { folder.path + "/gate" }

        /// Has whoever reads whether a supply is online wait in open(2) until ``letGo()``.
        func hold() throws {
            #expect(mkfifo(gate, 0o600) == 0)
            link(gate, folder.path + "/new")
            rename(folder.path + "/new", path + "/sys/class/power_supply/AC/online")
        }

        /// Lets go who waits there, with nothing to read.
        ///
        /// - Returns: whether somebody did.
        func letGo() -> Bool {
            let writer = open(gate, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if writer >= 0 { close(writer) }
            return writer >= 0
        }

        func setLoad(_ average: String) throws {
            try write("\(average) 0.00 0.00 1/1 1", "proc/loadavg")
        }

        func setPressure(_ percent: String) throws {
            try write("some avg10=\(percent) avg60=0.00 avg300=0.00 total=0", "proc/pressure/cpu")
        }

        /// In one step, so that no half of it is read.
        private func write(_ text: String, _ file: String) throws {
            try Files.write(text + "\n", to: folder.path + "/new")
            rename(folder.path + "/new", path + "/" + file)
        }

        func daemon() throws -> DaemonProcess {
            try DaemonProcess(
                .supervisor, settings: "daemon.logLevel = \"debug\"", in: folder,
                environment: ["BGTASKD_SENSOR_ROOT=\(path)"])
        }
    }

    private func explanation(
        _ rule: String, of id: Int, on client: VarlinkClient
    ) throws -> String? {
        let explanations = try client.ask(Tasks.Explain.self) { $0.id = id }.explanations
        return explanations.first { $0.rule == rule }?.text
    }

    @Test("a task that wants external power waits while the machine is on battery")
    func externalPower() throws {
        let root = try SensorRoot()
        let daemon = try root.daemon()
        let client = try daemon.connect()
        let id = try client.submit(["true"]) { $0.conditions = [.externalPower] }
        #expect(try client.show(id).waiting == "externalPower")
        try eventually("the supplies have been read") {
            try explanation("externalPower", of: id, on: client)
                == "running on battery (BAT0 discharging)"
        }
        // Others go on.
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
        #expect(try client.show(id).state == .queued)
        try root.setOnline(true)
        #expect(try client.ended(id).outcome == .completed)
        try daemon.waitForLog("externalPower: on external power (AC online)")
    }

    @Test("a task that wants an idle machine waits while somebody waits for a processor")
    func idle() throws {
        let root = try SensorRoot()
        let daemon = try root.daemon()
        let client = try daemon.connect()
        let both = try client.submit(["true"]) { $0.conditions = [.externalPower, .idle] }
        let one = try client.submit(["true"]) { $0.conditions = [.idle] }
        #expect(
            try explanation("idle", of: one, on: client) == "CPU pressure 34 % is above 25 %")
        try root.setPressure("20.00")
        try eventually("the explanation says that it is not low yet") {
            try explanation("idle", of: one, on: client) == "CPU pressure 20 % is not below 10 %"
        }
        try root.setPressure("9.00")
        #expect(try client.ended(one).outcome == .completed)
        #expect(try client.show(both).waiting == "externalPower")
        try root.setOnline(true)
        #expect(try client.ended(both).outcome == .completed)
    }

    @Test("a condition that cannot be read does not hold until it can, and it is said once why")
    func unreadable() throws {
        let root = try SensorRoot()
        unlink(root.path + "/proc/loadavg")
        let daemon = try root.daemon()
        let client = try daemon.connect()
        for _ in 0..<3 {
            let id = try client.submit(["true"]) { $0.conditions = [.idle] }
            let text = try #require(try explanation("idle", of: id, on: client))
            #expect(text.hasPrefix("idle cannot be read: "))
            _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        }
        let id = try client.submit(["true"]) { $0.conditions = [.idle] }
        try root.setPressure("0.00")
        try root.setLoad("0.00")
        #expect(try client.ended(id).outcome == .completed)
        try daemon.expectSaidOnce("a condition of queued tasks cannot be read")
    }

    @Test(
        "a reading that takes its time holds nobody up, and one of which nobody wants to know is not used"
    )
    func slowReading() throws {
        let root = try SensorRoot()
        try root.hold()
        let daemon = try root.daemon()
        let client = try daemon.connect()
        let threads = Processes.status("Threads", of: daemon.processID)
        let id = try client.submit(["true"]) { $0.conditions = [.externalPower] }
        #expect(try explanation("externalPower", of: id, on: client) == "it is being read")
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
        #expect(try client.show(id).state == .queued)
        // Given up and wanted again while it goes on.
        _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        let next = try client.submit(["true"]) { $0.conditions = [.externalPower] }
        #expect(try explanation("externalPower", of: next, on: client) == "it is being read")
        try eventually("somebody reads") { root.letGo() }
        try root.setOnline(true)
        try eventually("the condition has been read") {
            _ = root.letGo()
            return try client.show(next).state != .queued
        }
        #expect(try client.ended(next).outcome == .completed)
        try eventually("the thread has ended") {
            Processes.status("Threads", of: daemon.processID) <= threads
        }
    }

    @Test("a daemon that is stopped waits for no reading")
    func stopWhileReading() throws {
        let root = try SensorRoot()
        try root.hold()
        let daemon = try root.daemon()
        let client = try daemon.connect()
        let id = try client.submit(["true"]) { $0.conditions = [.externalPower] }
        #expect(try explanation("externalPower", of: id, on: client) == "it is being read")
        #expect(try daemon.stop() == .status(0))
    }

    @Test("conditions that are wanted 50 times leave no descriptor and no thread")
    func leaks() throws {
        let root = try SensorRoot()
        let daemon = try root.daemon()
        let client = try daemon.connect()
        let threads = Processes.status("Threads", of: daemon.processID)
        func want(waits: Bool) throws {
            let id = try client.submit(["true"]) {
                $0.conditions = [.network, .externalPower, .idle]
            }
            try eventually("all has been read") {
                try !waits
                    || explanation("externalPower", of: id, on: client) != "it is being read"
                        && explanation("network", of: id, on: client) != "it is being read"
            }
            _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        }
        func waitForThreads() throws {
            try eventually("the threads have ended") {
                Processes.status("Threads", of: daemon.processID) <= threads
            }
        }
        try want(waits: true)
        try waitForThreads()
        let before = DaemonUse(daemon)
        for number in 0..<50 { try want(waits: number % 2 == 0) }
        try waitForThreads()
        try eventually("all is closed: \(before), \(DaemonUse(daemon))") {
            DaemonUse(daemon).isAtMost(before, idleMax: 16)
        }
    }

    @Test(
        "a task that wants a network waits for a default route, and nobody listens for one before or after",
        .enabled(if: geteuid() == 0, "a network namespace needs root"))
    func network() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: "access.confinedUsers = [\"root\"]",
            within: ["/usr/bin/unshare", "--net"])
        let client = try daemon.connect()
        func isListening() -> Bool {
            // The protocol is the second field, and 0 for routes; the third is the process (netlink(7)).
            Files.text("/proc/\(daemon.processID)/net/netlink").split(separator: "\n").contains {
                $0.split(separator: " ").dropFirst().prefix(2) == ["0", "\(daemon.processID)"]
            }
        }
        func run(_ script: String) throws {
            let child = try Child(
                "/usr/bin/nsenter",
                [
                    "--target", "\(daemon.processID)", "--net", "/bin/sh", "-ec", script,
                ],
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"])
            #expect(try child.waitForEnd() == .status(0), "\(script)")
        }
        #expect(!isListening())
        let id = try client.submit(["true"]) { $0.conditions = [.network] }
        try eventually("the routes have been read") {
            try explanation("network", of: id, on: client) == "there is no default route"
        }
        #expect(isListening())
        try run(
            """
            ip link add out type veth peer name far; ip link set far up; ip link set out up
            ip address add 192.0.2.2/24 dev out; ip route add default via 192.0.2.1
            """)
        #expect(try client.ended(id).outcome == .completed)
        try eventually("nobody listens") { !isListening() }
        // With the route there it starts at once.
        let next = try client.submit(["true"]) { $0.conditions = [.network] }
        #expect(try client.ended(next).outcome == .completed)
        try eventually("nobody listens") { !isListening() }
    }
}
