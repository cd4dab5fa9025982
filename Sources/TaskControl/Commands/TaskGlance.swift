internal import TaskAPI
internal import Varlink

/// Looks now and then how a task is that is being waited for, over a connection of its own.
///
/// Nobody waits for what it finds out: what goes wrong is told by the wait itself.
final class TaskGlance {
    private let id: Int
    private let all: Bool?
    private let connect: () throws(Failure) -> DaemonConnection
    private var connection: DaemonConnection?
    private var task: Tasks.Task?
    private var answeredAt = ContinuousClock.now
    private var askedAt: ContinuousClock.Instant?
    private var isAsked = false

    /// How often the daemon is asked; in between the time is counted down here.
    private static let interval = Duration.seconds(5)
    /// How long an answer is waited for that is mostly there at once.
    private static let patience = Duration.milliseconds(100)

    init(
        at id: Int, all: Bool?, _ connect: @escaping () throws(Failure) -> DaemonConnection
    ) {
        self.id = id
        self.all = all
        self.connect = connect
    }

    /// What is known of it.
    func text() -> String {
        do throws(Failure) {
            try look()
        } catch {
            (connection, isAsked) = (nil, false)
        }
        let ago = answeredAt.duration(to: ContinuousClock.now)
        return ActivityText.task(id, task, millisecondsAgo: Int(ago / .milliseconds(1)))
    }

    private func look() throws(Failure) {
        let now = ContinuousClock.now
        if !isAsked {
            if let askedAt, askedAt.duration(to: now) < Self.interval { return }
            askedAt = now
            if connection == nil { connection = try connect() }
            guard let connection else { return }
            var input = Tasks.Show.Input()
            input.id = id
            input.all = all
            try connection.send(Tasks.Show.self, input)
            isAsked = true
            _ = Waiting.wait(for: [connection.descriptor], until: now.advanced(by: Self.patience))
        }
        guard let reply = try connection?.replyIfReady(Tasks.Show.self) else { return }
        (task, answeredAt, isAsked) = (reply.output.task, ContinuousClock.now, false)
    }
}
