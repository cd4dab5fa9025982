import Testing

/// A daemon and what runs its commands, which outlives it.
struct OutlivingPair {
    /// How a daemon ends.
    enum Ending: CaseIterable {
        case killed, handedOver
    }

    let executor: ExecutorProcess
    private(set) var daemon: DaemonProcess
    private let settings: String

    /// - Parameter absenceMax: how long commands go on without a daemon.
    init(settings: String = "", absenceMax: String = "10min", usesGroups: Bool = true) throws {
        self.settings = "daemon.absenceMax = \"\(absenceMax)\"\n" + settings
        executor = try ExecutorProcess(usesGroups: usesGroups)
        daemon = try DaemonProcess(
            .cgroup, settings: self.settings, arguments: executor.arguments)
    }

    func end(_ ending: Ending) throws {
        switch ending {
        case .killed: try daemon.kill()
        case .handedOver: #expect(try daemon.stop() == .status(0))
        }
    }

    mutating func follow() throws {
        daemon = try DaemonProcess(
            .cgroup, settings: settings, in: daemon.folder, arguments: executor.arguments)
    }
}
