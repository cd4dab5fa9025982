import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("Memory pressure (rule 20)")
struct PressureTests {
    /// A daemon without the machine's own pressure, which other tests may make.
    private struct Stage {
        let folder: TemporaryFolder
        let daemon: DaemonProcess
        let client: VarlinkClient

        /// - Parameter watch: $MEMORY_PRESSURE_WATCH, by the folder.
        init(available: Int = 1000, watch: (String) -> String?) throws {
            folder = try TemporaryFolder()
            for name in ["/root", "/root/proc"] { mkdir(folder.path + name, 0o700) }
            try Self.setAvailable(available, in: folder)
            var environment = ["BGTASKD_SENSOR_ROOT=\(folder.path)/root"]
            if let path = watch(folder.path) { environment.append("MEMORY_PRESSURE_WATCH=\(path)") }
            daemon = try DaemonProcess(
                .supervisor, settings: "applications.suspendAfter = \"0s\"", in: folder,
                environment: environment)
            client = try daemon.connect()
        }

        /// In MB, of 1000.
        static func setAvailable(_ megabytes: Int, in folder: TemporaryFolder) throws {
            let text = "MemTotal: 1024000 kB\nMemAvailable: \(megabytes * 1024) kB\n"
            try Files.write(text, to: folder.path + "/new")
            rename(folder.path + "/new", folder.path + "/root/proc/meminfo")
        }

        /// Launches an application, which sends the one before it to the background.
        func launch(_ id: String) throws {
            var registration = Applications.Registration()
            registration.id = id
            registration.command = ["sleep", "1000"]
            try client.ask(Applications.Register.self) { $0.registration = registration }
            try client.ask(Applications.Launch.self) { $0.id = id }
        }

        func show(_ id: String) throws -> Applications.Application {
            try client.ask(Applications.Show.self) { $0.id = id }.application
        }

        func states(_ ids: [String]) throws -> [Applications.State] {
            try ids.map { try show($0).state }
        }

        func waitForState(_ state: Applications.State, of id: String) throws {
            try eventually("\(id) is \(state)") { try show(id).state == state }
        }

        /// One is in front, and three are suspended: of these `b` was used first, `a` last.
        func fill() throws {
            for id in ["a", "b", "c"] { try launch(id) }
            try client.ask(Applications.Activate.self) { $0.id = "a" }
            try launch("front")
            for id in ["a", "b", "c"] { try waitForState(.suspended, of: id) }
        }
    }

    @Test("how high it is is told in the metrics, where the kernel tells it")
    func level() throws {
        func told(_ stage: Stage) throws -> [String: Double] {
            let gauges = try stage.client.ask(Manager.Statistics.self).gauges ?? []
            return Dictionary(
                uniqueKeysWithValues: gauges.map { gauge in
                    let labels = ["place", "stalled"].map { gauge.labels[$0] ?? "" }
                    return (([gauge.name] + labels).joined(separator: " "), gauge.value)
                })
        }
        let name = "bgtaskd_memory_pressure_ratio"
        let stage = try Stage { $0 + "/group" }
        #expect(try told(stage) == [:])
        let root = stage.folder.path + "/root/proc/pressure"
        mkdir(root, 0o700)
        try Files.write("some avg10=0.01\nfull avg10=0.00\n", to: root + "/memory")
        #expect(
            try told(stage) == ["\(name) machine some": 0.0001, "\(name) machine full": 0])
        try Files.write(
            "some avg10=100.00\nfull avg10=33.30\n", to: stage.folder.path + "/group")
        #expect(
            try told(stage) == [
                "\(name) group some": 1, "\(name) group full": 0.333,
                "\(name) machine some": 0.0001, "\(name) machine full": 0,
            ])
        #expect(try told(Stage { _ in "/dev/null" }) == [:])
    }

    @Test("each sign of pressure ends the suspended application that was used least recently")
    func order() throws {
        var pipe = ""
        let stage = try Stage { folder in
            pipe = folder + "/pressure"
            mkfifo(pipe, 0o600)
            return pipe
        }
        try stage.fill()
        try stage.daemon.waitForLog("memory pressure is watched")
        let writer = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(writer >= 0, "nobody reads \(pipe)")
        defer { close(writer) }
        let ids = ["a", "b", "c", "front"]
        let steps: [(String, [Applications.State])] = [
            ("b", [.suspended, .notRunning, .suspended, .active]),
            ("c", [.suspended, .notRunning, .notRunning, .active]),
            ("a", [.notRunning, .notRunning, .notRunning, .active]),
        ]
        for (ended, states) in steps {
            let observer = try Observer(ended, stage.daemon)
            try #require(write(writer, "x", 1) == 1)
            // It is not told: the only event is the change of its state.
            let event = try observer.next()
            #expect(event.callback == nil)
            #expect(event.state == .notRunning)
            #expect(try stage.states(ids) == states)
            #expect(try stage.show(ended).lastTermination?.reason == .memoryPressure)
        }

        // Who is awake is told at each sign.
        let front = try Observer("front", stage.daemon)
        try #require(write(writer, "x", 1) == 1)
        #expect(try front.next().callback == .didReceiveMemoryWarning)
        #expect(try stage.show("front").state == .active)

        let observer = try Observer("b", stage.daemon)
        try stage.client.ask(Applications.Launch.self) { $0.id = "b" }
        var callbacks: [Applications.Callback?] = []
        repeat {
            callbacks.append(try observer.next().callback)
        } while callbacks.last
            != .didBecomeActive
        #expect(callbacks.contains(.didFinishLaunching), "the launch is cold: \(callbacks)")
        #expect(try stage.show("b").lastTermination?.reason == .memoryPressure)
    }

    @Test("where the kernel tells no pressure, those go until enough memory is available")
    func available() throws {
        let stage = try Stage { _ in nil }
        try stage.fill()
        try stage.daemon.waitForLog("memory pressure is watched")
        #expect(try stage.states(["a", "b", "c", "front"]).filter { $0 == .suspended }.count == 3)
        try Stage.setAvailable(49, in: stage.folder)
        try stage.waitForState(.notRunning, of: "a")
        #expect(try stage.states(["b", "c", "front"]) == [.notRunning, .notRunning, .active])

        try Stage.setAvailable(51, in: stage.folder)
        try stage.launch("next")
        try stage.waitForState(.suspended, of: "front")
        // The memory is looked at every two seconds, in which this would be ended as well.
        let id = try stage.client.submit(["sleep", "5"])
        #expect(try stage.client.ended(id).outcome == .completed)
        #expect(try stage.states(["front", "next"]) == [.suspended, .active])
    }

    @Test("a service manager that wants nobody to watch is obeyed")
    func off() throws {
        let stage = try Stage(available: 1) { _ in "/dev/null" }
        try stage.fill()
        try stage.daemon.waitForLog("switched off by MEMORY_PRESSURE_WATCH")
        #expect(try stage.states(["a", "b", "c", "front"]).filter { $0 == .suspended }.count == 3)
    }

    /// What is told of one application, from here on.
    private final class Observer {
        private let client: VarlinkClient

        init(_ id: String, _ daemon: DaemonProcess) throws {
            client = try daemon.connect()
            var input = Applications.Watch.Input()
            input.id = id
            try client.send(Applications.Watch.self, input, more: true)
            // The first tells how it is now.
            _ = try next()
        }

        func next() throws -> Applications.Event {
            try client.receive(Applications.Watch.self).output.event
        }
    }
}
