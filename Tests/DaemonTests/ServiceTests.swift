import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("What a daemon answers about itself")
struct ServiceTests {
    @Test(
        "tests run with cgroups too, where all has to be complete",
        .enabled(if: getenv("CI").map { String(cString: $0) } == "true"))
    func cgroupsCanBeHad() {
        #expect(ContainmentMode.whyNoCgroup == nil)
    }

    @Test("org.varlink.service tells the product and the interfaces, byte for byte")
    func introspection() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let info = try client.ask(ServiceInterface.GetInfo.self)
        #expect(info.product == "bgtaskd")
        #expect(info.vendor == "bgtaskd")
        #expect(info.version == Version.current)
        #expect(
            info.interfaces == [
                "org.varlink.service", "io.systemd.service", "org.bgtaskd.Applications",
                "org.bgtaskd.Manager", "org.bgtaskd.Tasks",
            ])
        for name in info.interfaces {
            let text = try client.ask(ServiceInterface.GetInterfaceDescription.self) {
                $0.interface = name
            }.description
            #expect(try InterfaceDescription(parsing: text).name == name)
            guard name != ServiceInterface.name else { continue }
            let file = "\(Self.sources)/TaskAPI/interfaces/\(name).varlink"
            #expect(Array(text.utf8) == Files.bytes(file))
        }
    }

    @Test(
        "Describe tells version, scope, containment, profiles, limits and settings",
        arguments: ContainmentMode.available)
    func describe(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(
            mode, settings: "limits.clientsMax = 99\nprofiles.quick.duration = \"9s\"")
        let told = try daemon.connect().ask(Manager.Describe.self)
        #expect(told.version == Version.current)
        #expect(["system", "user"].contains(told.scope))
        #expect(told.containment == mode.rawValue)
        #expect(told.executor?.contains("ends with the daemon") == true)
        #expect(told.clockMs > 0)
        #expect(told.limits.first { $0.name == "clientsMax" }?.value == 99)
        let profiles = Dictionary(uniqueKeysWithValues: told.profiles.map { ($0.name, $0) })
        #expect(profiles["default"]?.durationMs == 180_000)
        #expect(profiles["default"]?.graceMs == 5000)
        #expect(profiles["default"]?.lifetimeMaxMs == 600_000)
        #expect(profiles["extended"]?.durationMs == 600_000)
        #expect(profiles["extended"]?.graceMs == 6000)
        #expect(profiles["short"]?.durationMs == 30_000)
        #expect(profiles["quick"]?.durationMs == 9000)
        let unlimited = try #require(profiles["unlimited"])
        #expect(unlimited.durationMs == nil)
        let setting = try #require(told.settings.first { $0.key == "limits.clientsMax" })
        #expect(setting.value == "99")
        #expect(setting.source.contains(daemon.settingsPath))
    }

    @Test("Statistics counts what began and how it ended")
    func statistics() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let held = try client.begin()
        _ = try client.ask(Tasks.End.self) { $0.id = held }
        _ = try client.ended(try client.submit(["false"]))
        let counters = try client.ask(Manager.Statistics.self).counters
        func value(_ name: String, _ labels: [String: String] = [:]) -> Int? {
            counters.first { $0.name == "bgtaskd_" + name && $0.labels == labels }?.value
        }
        #expect(value("begun_total", ["kind": "held"]) == 1)
        #expect(value("begun_total", ["kind": "run"]) == 1)
        #expect(value("ended_total", ["outcome": "completed"]) == 1)
        #expect(value("ended_total", ["outcome": "failed"]) == 1)
        #expect(value("ended_total", ["outcome": "expired"]) == 0)
        #expect(value("tasks_live") == 0)
        #expect(value("calls_total") == 5)
        #expect(counters.allSatisfy { !$0.help.isEmpty })
    }

    @Test("io.systemd.service answers a ping, tells the environment and sets the log level")
    func systemdService() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        try client.ask(SystemdService.Ping.self)
        let environment = try client.ask(SystemdService.GetEnvironment.self).environment
        #expect(environment == ["HOME=/", "LANG=C.UTF-8", "PATH=/usr/bin:/bin"])

        let quiet = try client.submit(["echo", "said quietly"])
        #expect(try client.ended(quiet).outcome == .completed)
        try daemon.waitForLog("said quietly")
        try client.ask(SystemdService.SetLogLevel.self) { $0.level = 3 }
        _ = try client.ended(try client.submit(["echo", "said in silence"]))
        try client.ask(SystemdService.SetLogLevel.self) { $0.level = 7 }
        let held = try client.begin("at debug level")
        _ = try client.ask(Tasks.End.self) { $0.id = held }
        try daemon.waitForLog("at debug level")
        #expect(!daemon.log.contains("said in silence"))
        for level in [-1, 8, 256] {
            let refusal = try client.refusal(of: SystemdService.SetLogLevel.self) {
                $0.level = level
            }
            #expect(ServiceError(refusal) == .invalidParameter(parameter: "level"))
        }
    }

    private static let sources: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(3).joined(separator: "/") + "/Sources"
    }()
}
