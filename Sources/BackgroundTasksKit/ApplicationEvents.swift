internal import BackgroundTime
internal import Foundation
internal import TaskAPI

/// What the daemon tells of an application that it runs, and the daemons after it: where a connection ends, the next one
/// is tried, ever more seldom.
@MainActor final class ApplicationEvents {
    private static let firstPause = 0.2
    private static let pauseMax = 3.0

    private let id: String
    /// `nil` while there is no daemon.
    private var reader: ReplyReader<Applications.Watch>?
    private var pause = ApplicationEvents.firstPause
    private var take: (Applications.Event) -> Void = { _ in }

    /// Connects; what is told waits until the start.
    ///
    /// - Returns: `nil` where no daemon is there.
    init?(of id: String) {
        guard let reader = Self.reader(of: id) else { return nil }
        self.id = id
        self.reader = reader
    }

    private nonisolated static func reader(of id: String) -> ReplyReader<Applications.Watch>? {
        var input = Applications.Watch.Input()
        input.id = id
        return try? Daemon.endpoint.reader(of: Applications.Watch.self, input)
    }

    /// Whether there is no daemon that tells anything.
    var isOver: Bool { reader?.isOver ?? true }

    /// Has each event taken, in their order; the first of each connection is the present state.
    ///
    /// - Returns: whether there was room for a thread.
    func start(_ take: @escaping (Applications.Event) -> Void) -> Bool {
        self.take = take
        return reader?.start(tell) ?? false
    }

    private nonisolated func tell(_ reply: Applications.Watch.Output?) {
        DispatchQueue.main.async { MainActor.assumeIsolated { self.take(reply) } }
    }

    private func take(_ reply: Applications.Watch.Output?) {
        guard let reply else { return connectAgain() }
        pause = Self.firstPause
        take(reply.event)
    }

    private func connectAgain() {
        reader = nil
        let (id, pause) = (id, pause)
        self.pause = min(2 * pause, Self.pauseMax)
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) {
            let reader = Self.reader(of: id)
            DispatchQueue.main.async { MainActor.assumeIsolated { self.goOn(with: reader) } }
        }
    }

    private func goOn(with reader: ReplyReader<Applications.Watch>?) {
        guard let reader, reader.start(tell) else { return connectAgain() }
        self.reader = reader
    }
}
