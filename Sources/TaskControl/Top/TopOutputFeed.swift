internal import TaskAPI

/// What one task prints, as it comes. Of a task that prints more than anybody can see the newest is read, a second at a
/// time: who follows it holds it up otherwise (it waits until all of it has been read), and is kept busy.
final class TopOutputFeed {
    let id: Int
    private let session: Session
    private let all: Bool?
    private var state = State.due(0)
    private var isFirst = true
    private var window = (beginning: 0, bytes: 0)

    private enum State {
        /// It is to be connected at this time.
        case due(Int)
        case open(DaemonConnection)
        case done
    }

    /// How long a choice has to last before anything is asked: who goes through the lines passes by many.
    private static let settleTime = 150
    private static let floodTime = 1000
    private static let floodBytes = 512 * 1024
    private static let repliesMax = 200

    init(_ session: Session, _ id: Int, all: Bool?, at now: Int) {
        self.session = session
        self.id = id
        self.all = all
        state = .due(now + TopOutputFeed.settleTime)
    }

    /// What is to be waited for.
    var descriptor: Int32? {
        if case .open(let connection) = state { connection.descriptor } else { nil }
    }

    var nextTime: Int? {
        if case .due(let time) = state { time } else { nil }
    }

    /// Takes what has come; what is refused is not there.
    func receive(at now: Int) -> [TopModel.Event] {
        do throws(Failure) {
            if case .due(let time) = state, now >= time { try open(at: now) }
            guard case .open(let connection) = state else { return [] }
            return try read(connection, at: now)
        } catch {
            state = .done
            return []
        }
    }

    private func open(at now: Int) throws(Failure) {
        let connection = try session.connect()
        var input = Tasks.Output.Input()
        (input.id, input.follow, input.all) = (id, true, all)
        if !isFirst { input.sinceMs = TopOutputFeed.floodTime }
        try connection.send(Tasks.Output.self, input, more: true)
        window = (now, 0)
        isFirst = true
        state = .open(connection)
    }

    private func read(
        _ connection: DaemonConnection, at now: Int
    ) throws(Failure) -> [TopModel.Event] {
        var events: [TopModel.Event] = []
        while events.count < TopOutputFeed.repliesMax,
            let (reply, continues) = try connection.replyIfReady(Tasks.Output.self)
        {
            if !reply.text.isEmpty {
                events.append(.printed(id, reply.text, isFirst: isFirst))
                isFirst = false
            }
            window.bytes += reply.text.utf8.count
            if !continues { state = .done }
            guard continues else { break }
        }
        if now - window.beginning > TopOutputFeed.floodTime { window = (now, 0) }
        // The first is what was kept, which may be as much.
        if window.bytes > 4 * TopOutputFeed.floodBytes, case .open = state {
            state = .due(now + TopOutputFeed.floodTime)
        }
        return events
    }
}
