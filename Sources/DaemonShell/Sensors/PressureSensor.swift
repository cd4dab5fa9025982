internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd

/// Tells when memory is short, for as long as there is somebody to be ended for it.
///
/// Watched are what the service manager has named, or the daemon's own group, and the groups of commands and the whole
/// machine besides: who is frozen waits for no memory, so that a shortage shows with others.
final class PressureSensor {
    private let loop: EventLoop
    private let log: Logger
    private let root: String
    private let environment: [String: String]
    /// Where the groups are of commands that bgtask-executor runs; `nil` where there are none.
    private let commandsFolder: () -> String?
    private let happened: () -> Void
    private var watches: [(watch: PressureWatch, source: DescriptorSource)] = []
    private var timer: TimerSource?
    private(set) var isWanted = false
    /// Where the kernel tells how high the pressure is.
    private lazy var files = PressureWatch.files(
        watch: environment["MEMORY_PRESSURE_WATCH"], root: root)
    /// What the log was told of the sources.
    private var named: String?

    /// Where the kernel tells nothing, the machine's memory is looked at this often.
    private static let interval = Duration.seconds(2)
    /// Memory is short where less than one part in so many of it is available.
    private static let shortParts: UInt64 = 20
    /// `some 200000 2000000` with its zero byte, in base64 as in $MEMORY_PRESSURE_WRITE: 200 ms of waiting in 2 s.
    private static let trigger = "c29tZSAyMDAwMDAgMjAwMDAwMAA="

    /// - Parameters:
    ///   - root: a folder that stands for / in a test.
    ///   - commandsFolder: where the groups are of commands that bgtask-executor runs; `nil` where there are none.
    ///   - happened: called at each sign of pressure, every 2 s at most for each source.
    init(
        _ loop: EventLoop, _ log: Logger, _ configuration: Configuration,
        commandsFolder: @escaping () -> String?, happened: @escaping () -> Void
    ) {
        self.loop = loop
        self.log = log
        root = configuration.sensorRoot ?? ""
        environment = configuration.environment
        self.commandsFolder = commandsFolder
        self.happened = happened
    }

    deinit { stop() }

    /// Looks at memory from now on, or no longer.
    func want(_ isWanted: Bool) {
        guard isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        if isWanted { start() } else { stop() }
    }

    /// How high the pressure of the daemon's group and of the machine is now, as far as the kernel tells. It is read
    /// whether it is watched or not, and waits for nothing.
    var readings: [(place: String, pressure: MemoryPressure)] {
        [("group", files?.group), ("machine", files?.machine)].compactMap { place, path in
            path.flatMap(MemoryPressure.init(path:)).map { (place, $0) }
        }
    }

    private func start() {
        let first = PressureWatch(
            watch: environment["MEMORY_PRESSURE_WATCH"],
            write: environment["MEMORY_PRESSURE_WRITE"], root: root)
        var sources = ["\(first.source)"]
        follow(first)
        switch first.source {
        case .environment, .cgroup:
            let commands = commandsFolder().map { $0 + "/memory.pressure" }
            if let commands, follow(commands) {
                sources.append("the pressure of the commands, \(commands)")
            }
            if follow(root + "/proc/pressure/memory") {
                sources.append("the pressure of the machine")
            }
        case .memAvailable: look()
        case .system, .off: break
        }
        let text = sources.joined(separator: "; ")
        if named != text { log.say(.pressureSource, [.reason: text]) }
        named = text
    }

    private func stop() {
        for (_, source) in watches { source.remove() }
        watches = []
        timer?.remove()
        timer = nil
    }

    /// - Returns: whether the kernel tells in this file.
    private func follow(_ path: String) -> Bool {
        let watch = PressureWatch(watch: path, write: PressureSensor.trigger, root: root)
        follow(watch)
        return watch.descriptor != nil
    }

    private func follow(_ watch: PressureWatch) {
        guard let descriptor = watch.descriptor else { return }
        let events: DescriptorEvents = watch.readiness == .priority ? .urgent : .readable
        do {
            let source = try loop.addDescriptor(
                descriptor, events: events, priority: .processes
            ) { [unowned self, unowned watch] _ in took(watch) }
            watches.append((watch, source))
        } catch {
            log.say(.pressureNotWatched, [.reason: "\(error)"])
        }
    }

    private func took(_ watch: PressureWatch) {
        guard watch.acknowledge() else {
            log.say(.pressureNotWatched, [.reason: "\(watch.source) is gone"])
            watches.first { $0.watch === watch }?.source.remove()
            watches.removeAll { $0.watch === watch }
            return watches.isEmpty ? look() : ()
        }
        happened()
    }

    /// Looks at the memory that is available, and again later.
    private func look() {
        do {
            let timer =
                try timer
                ?? loop.addTimer(priority: .processes) { [unowned self] in
                    if isShort() { happened() }
                    if isWanted { look() }
                }
            self.timer = timer
            try timer.arm(after: PressureSensor.interval)
        } catch {
            log.say(.pressureNotWatched, [.reason: "\(error)"])
        }
    }

    private func isShort() -> Bool {
        do throws(SystemError) {
            let memory = try PressureWatch(watch: "/dev/null", write: nil, root: root)
                .availableShare()
            return memory.available < memory.total / PressureSensor.shortParts
        } catch {
            log.say(.pressureNotWatched, [.reason: "\(error)"])
            return false
        }
    }
}
