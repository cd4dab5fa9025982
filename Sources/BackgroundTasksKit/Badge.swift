internal import BackgroundTime
internal import Synchronization
internal import TaskAPI

/// The number that the user sees on the application.
enum Badge {
    /// Where no daemon keeps it.
    private static let own = Mutex(0)

    /// What it is now, whoever has set it.
    static var number: Int {
        guard let id = ProcessRole.current.application else { return own.withLock { $0 } }
        var input = Applications.Reference()
        input.id = id
        let shown = try? Daemon.endpoint.call(Applications.Show.self, input)
        return shown?.application.badge ?? own.withLock { $0 }
    }

    static func set(_ number: Int) throws(BackgroundTimeError) {
        let number = max(number, 0)
        own.withLock { $0 = number }
        guard let id = ProcessRole.current.application else { return }
        var input = Applications.SetBadge.Input()
        (input.id, input.badge) = (id, number)
        _ = try Daemon.endpoint.call(Applications.SetBadge.self, input)
    }
}
