internal import BackgroundTime

/// The daemon that this process calls.
enum Daemon {
    static let endpoint = DaemonEndpoint(path: DaemonSocket.path(nil), timeout: .seconds(2))
}

/// What this process runs as, by the variables that it was started with.
enum ProcessRole: Sendable {
    /// A program that only its user starts and ends: it is always in front.
    case program
    /// A registered application, which the daemon launches, sends to the background and ends.
    case application(String)
    /// A process of its own for one scheduled task.
    case scheduledTask(String, BGTaskKind)

    static let current: ProcessRole = {
        if let identifier = Environment.value(TaskLaunch.identifierVariable) {
            let kind = Environment.value(TaskLaunch.kindVariable).flatMap(BGTaskKind.init)
            return .scheduledTask(identifier, kind ?? .processing)
        }
        return Environment.value("BGTASK_APPLICATION").map { .application($0) } ?? .program
    }()

    /// What its held tasks share their time with.
    var application: String? {
        if case .application(let id) = self { id } else { nil }
    }
}
