internal import BudgetCore
internal import Systemd

/// The id, the level and the words of what happened to an application; as ``JournalMessage`` for tasks.
struct ApplicationMessage {
    let id: JournalMessageID
    let level: JournalLevel
    /// What the application did, as it follows its name.
    let predicate: String
    var reason: String?

    private init(
        _ id: JournalMessageID, _ level: JournalLevel, _ predicate: String,
        _ reason: String? = nil
    ) {
        self.id = id
        self.level = level
        self.predicate = predicate
        self.reason = reason
    }

    /// `nil` for what a note says better, and for steps on the way to another state.
    init?(_ event: ApplicationEvent) {
        guard event.state != event.previous else {
            self.init(withinState: event)
            return
        }
        switch event.state {
        case .active:
            self.init("0c4e2a7d91b64f3c8e57d2a60b9f1c38", .info, "is in front")
        case .inactive where event.previous == .active:
            self.init("5b8d1f06c3e74a29947ea1d8f20c6b53", .debug, "is inactive")
        case .background:
            self.init("e27a90c45d1b4836b3f8c6072e9d5a14", .info, "is in the background")
        case .suspended:
            self.init("93d6b8e1f74c4205a1c90b3e5f8d2764", .info, "is suspended")
        case .inactive, .notRunning: return nil
        }
    }

    private init?(withinState event: ApplicationEvent) {
        switch event.callback {
        case .backgroundTimeExpiring:
            self.init(
                "7f1c35ab920e4d68b64d0e8a97c2f351", .notice,
                "was warned that its background time is nearly over")
        case .didReceiveRemoteNotification, .didReceiveRemoteNotificationFetch,
            .willPresentNotification, .didReceiveNotificationResponse:
            self.init("c6a84e0d73f2491fb5e2d71a3c9b0486", .info, "got a message")
        case .didFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground,
            .willEnterForeground, .willTerminate, .badgeChanged, .performTask, .taskExpiring,
            .didReceiveMemoryWarning, nil:
            return nil
        }
    }

    init(_ note: ApplicationNote, _ record: ApplicationRecord?) {
        switch note {
        case .registered:
            self.init("18e5f7c20b9d4a63a7d4c81f6e0b3952", .info, "is registered")
        case .unregistered:
            self.init("a94b3d60e8f74c15926ec0d5b71f8a27", .info, "is not registered any more")
        case .starting:
            self.init("d30c7b19a5e64f82b8f16ad24c9e7055", .info, "is started")
        case .ending(let reason):
            self.init("69f2a5d8301c4e7ba4b8d60f97e3c125", .notice, "is being ended", reason.text)
        case .ended(let reason):
            let isExpected = reason == .exited || reason == .terminated
            self.init(
                "0d97c4b2e81f4653a8c56e3d70fb9a18", isExpected ? .info : .notice, "has ended",
                ApplicationMessage.words(for: reason, record?.lastTermination))
        case .messageDeferred(let wait):
            self.init(
                "7ce05a13b8d94f62b60d2f98e4a1c753", .info, "gets a silent message later",
                "the messages of its hour are used up; in \(wait.components.seconds) s")
        case .messagesDropped(let count):
            self.init(
                "351fd9e8a70b4c26968e4cb7d02f5a61", .notice, "did not get messages",
                "\(count) messages")
        case .notFrozen(let text):
            self.init("f58d02b7c4e1496a8e3da917b06c4f12", .warning, "could not be frozen", text)
        case .notThawed(let text):
            self.init("2bc971e05fa84d36a0d7e48c13f96b5e", .error, "could not be thawed", text)
        case .wouldSuspend:
            self.init(
                "86e1d4f0a92b47c5b7c03e59d81a6f24", .notice,
                "would be suspended, but applications.enforce is false")
        case .wouldEnd(let reason):
            self.init(
                "b1703ca8d6e94f52893fe7d42b05c618", .notice,
                "would be ended, but applications.enforce is false", reason.text)
        case .stuck:
            self.init("ec3b780f6d214a95b2e90c74f1a85d36", .error, "was killed and is still there")
        case .notStarted(let text):
            self.init("4a6fe8d2517b4c0d93c7b20e81f5d6a9", .notice, "could not be started", text)
        }
    }

    /// The reason, and every task that it held.
    private static func words(for reason: TerminationReason, _ last: Termination?) -> String {
        guard let held = last?.held, !held.isEmpty else { return reason.text }
        let tasks = held.map { task in
            let budget = task.duration.map { " of \($0.wholeMilliseconds) ms" } ?? ""
            return "\(task.id) (\(task.name)), \(task.age.wholeMilliseconds) ms\(budget)"
        }
        return "\(reason.text); it held \(tasks.joined(separator: "; "))"
    }
}
