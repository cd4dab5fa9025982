import BudgetCore
import Testing

@Suite(
    "docs/architecture.md, rule 22: where a message goes, by state, by what the user did and by the handlers"
)
struct MessageTableTests {
    /// What an application implements of the message callbacks.
    enum Handlers: Sendable, CaseIterable {
        case none, older, fetch, bothForms, newer, all

        var callbacks: Callbacks {
            let lifecycle: [Callback] = [
                .didFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground,
                .willEnterForeground, .willTerminate,
            ]
            let newer: [Callback] = [.willPresentNotification, .didReceiveNotificationResponse]
            let messages: [Callback] =
                switch self {
                case .none: []
                case .older: [.didReceiveRemoteNotification]
                case .fetch: [.didReceiveRemoteNotificationFetch]
                case .bothForms:
                    [.didReceiveRemoteNotification, .didReceiveRemoteNotificationFetch]
                case .newer: newer
                case .all:
                    newer + [.didReceiveRemoteNotification, .didReceiveRemoteNotificationFetch]
                }
            return Callbacks(lifecycle + messages)
        }

        /// The one that an alert calls for, when it is opened.
        var response: String? {
            switch self {
            case .none: nil
            case .older: "didReceiveRemoteNotification"
            case .fetch, .bothForms: "didReceiveRemoteNotificationFetch"
            case .newer, .all: "didReceiveNotificationResponse"
            }
        }

        /// The one that an alert calls for which comes while the application is in front.
        var presentation: String? {
            switch self {
            case .newer, .all: "willPresentNotification"
            default: response
            }
        }

        /// The one that a silent message calls for.
        var silent: String? {
            switch self {
            case .none, .newer: nil
            case .older: "didReceiveRemoteNotification"
            default: "didReceiveRemoteNotificationFetch"
            }
        }
    }

    static func stage(_ state: ApplicationState, _ handlers: Handlers) throws -> Stage {
        var stage = Stage()
        try stage.register { $0.handles = handlers.callbacks }
        let cues: [Cue] =
            switch state {
            case .notRunning: []
            case .inactive: [.launch, .resign]
            case .active: [.launch]
            case .background: [.launch, .home, .pass(1)]
            case .suspended: [.launch, .home, .pass(60)]
            }
        try stage.play(cues + [.cut])
        #expect(stage.state() == state)
        return stage
    }

    /// What rule 22 has an application see of one message.
    static func expected(
        _ state: ApplicationState, _ message: PushMessage, _ handlers: Handlers
    ) -> [String] {
        if message.action == .opened { return [] }
        if message.kind == .silent {
            guard let silent = handlers.silent, state != .notRunning else { return [] }
            return state == .suspended ? ["thaw", "(background)", silent] : [silent]
        }
        let response = [handlers.response].compactMap { $0 }
        switch (state, message.action) {
        case (.notRunning, .tapped):
            return ["start", "didFinishLaunching", "didBecomeActive"] + response
        case (.background, .tapped): return response
        case (.suspended, .tapped): return ["thaw", "(background)"] + response
        case (.inactive, .none), (.active, .none):
            return [handlers.presentation].compactMap { $0 }
        case (.inactive, .tapped), (.active, .tapped):
            guard handlers == .newer || handlers == .all else { return response }
            return ["willPresentNotification", "didReceiveNotificationResponse"]
        default: return []
        }
    }

    @Test("rule 22: every row, driven through the registry", arguments: ApplicationState.allCases)
    func table(state: ApplicationState) throws {
        for handlers in Handlers.allCases {
            for kind in MessageKind.allCases {
                for action in UserAction.allCases {
                    var stage = try Self.stage(state, handlers)
                    let message = PushMessage(kind: kind, action: action)
                    let receipt = try stage.push(message)
                    let transcript = stage.take()
                    let row = "\(state), \(kind), \(action), \(handlers)"
                    #expect(transcript == Self.expected(state, message, handlers), "\(row)")
                    let callbacks = transcript.filter { $0.contains("Notification") }
                    #expect(receipt.callback.map { "\($0)" } == callbacks.last, "\(row)")
                    let isDropped = receipt.receipt == Receipt.dropped
                    #expect(isDropped == callbacks.isEmpty, "\(row)")
                    let waits = transcript.contains("start") || transcript.contains("thaw")
                    #expect(receipt.waits == waits, "\(row)")
                    if waits { #expect(stage.replies[stage.callLast] == [nil], "\(row)") }
                }
            }
        }
    }

    @Test("rule 22: a launch by message delivers it once, with its payload, and never again")
    func launchDeliversOnce() throws {
        var stage = try Self.stage(.notRunning, .older)
        try stage.push(PushMessage(kind: .alert, action: .tapped, payload: "{}"))
        let cues: [Cue] = [
            .home, .activate, .home, .pass(60), .activate, .terminate, .pass(5), .launch,
        ]
        try stage.play(cues)
        #expect(stage.take().filter { $0.contains("Notification") }.count == 1)
        #expect(
            stage.events[Stage.maps]?.first { $0.callback == .didReceiveRemoteNotification }?
                .payload == "{}")
    }

    @Test("rule 22: messages that come while it is started or thawed are delivered in their order")
    func messagesMeetOnTheWay() throws {
        for (order, report) in [(Stage.Held.start, Cue.started), (.thaw, .thawed)] {
            var stage = try Self.stage(order == .start ? .notRunning : .suspended, .newer)
            stage.held = [order]
            try stage.push(PushMessage(kind: .alert, action: .tapped, payload: "1"))
            try stage.push(PushMessage(kind: .alert, action: .tapped, payload: "2"))
            let (first, second) = (stage.callLast - 1, stage.callLast)
            #expect(stage.take() == [order == .start ? "start" : "thaw"])
            #expect(stage.replies[first] == nil)
            try stage.play([report])
            #expect(
                stage.take().suffix(2) == [
                    "didReceiveNotificationResponse 1", "didReceiveNotificationResponse 2",
                ])
            #expect(stage.replies[first] == [nil] && stage.replies[second] == [nil])
        }
    }

    @Test("rule 22: an alert that was presented and is tapped then is told of once each time")
    func presentedThenTapped() throws {
        var stage = try Self.stage(.active, .newer)
        let alert = PushMessage(kind: .alert, payload: "7")
        let tap = PushMessage(kind: .alert, action: .tapped, payload: "7")
        try stage.push(alert)
        #expect(stage.take() == ["willPresentNotification 7"])
        try stage.push(tap)
        #expect(stage.take() == ["didReceiveNotificationResponse 7"])
        // Another of the same words was not presented.
        try stage.push(tap)
        #expect(stage.take() == ["willPresentNotification 7", "didReceiveNotificationResponse 7"])
    }

    @Test("rule 22: with the older handlers an alert seen in front and tapped is told of once")
    func olderPresentedThenTapped() throws {
        var stage = try Self.stage(.active, .older)
        try stage.push(PushMessage(kind: .alert, payload: "7"))
        let receipt = try stage.push(PushMessage(kind: .alert, action: .tapped, payload: "7"))
        #expect(stage.take() == ["didReceiveRemoteNotification 7"])
        #expect(receipt.receipt == .dropped)
    }

    @Test("what was presented in front is forgotten in the background")
    func presentedForgotten() throws {
        var stage = try Self.stage(.active, .newer)
        try stage.push(PushMessage(kind: .alert, payload: "7"))
        try stage.play([.home, .activate, .cut])
        try stage.push(PushMessage(kind: .alert, action: .tapped, payload: "7"))
        #expect(stage.take().count == 2)
    }

    @Test("rule 22: with a background mode it is never suspended, and gets messages as there")
    func backgroundMode() throws {
        var stage = Stage()
        try stage.register {
            $0.hasBackgroundMode = true
            $0.handles = Handlers.older.callbacks
        }
        try stage.play([.launch, .home, .pass(100_000), .cut])
        #expect(stage.state() == .background)
        try stage.push(PushMessage(kind: .alert))
        try stage.push(PushMessage(kind: .alert, action: .opened))
        #expect(stage.take() == [])
        try stage.push(PushMessage(kind: .alert, action: .tapped))
        try stage.push(PushMessage(kind: .silent))
        #expect(
            stage.take() == ["didReceiveRemoteNotification", "didReceiveRemoteNotification"])
    }

    @Test("a message to one that is being ended is dropped, and its badge is kept")
    func ending() throws {
        var stage = try Self.stage(.active, .all)
        stage.held = [.kill]
        try stage.terminate()
        let receipt = try stage.push(PushMessage(kind: .alert, action: .tapped), badge: 4)
        #expect(receipt == MessageReceipt(receipt: .dropped))
        #expect(stage.application()?.record.badge == 4)
    }

    @Test("a payload beyond the limit is refused, and one without a command cannot be launched")
    func refusals() throws {
        var stage = try Self.stage(.active, .all)
        let limit = Refusal.limitReached(limit: "payloadBytesMax", value: 4096)
        let long = PushMessage(kind: .alert, payload: String(repeating: "x", count: 4097))
        #expect(throws: limit) { try stage.push(long, badge: 1) }
        #expect(stage.application()?.record.badge == 0)
        #expect(throws: Refusal.invalidParameter("badge")) {
            try stage.push(PushMessage(kind: .alert), badge: -1)
        }
        try stage.register(Stage.key("adopted")) { $0.command = nil }
        #expect(throws: Refusal.notRegistered("adopted")) {
            try stage.push(PushMessage(kind: .alert, action: .tapped), to: Stage.key("adopted"))
        }
    }

    @Test("the badge of a message that is refused is kept, and its observers and the disk know it")
    func refusedWithBadge() throws {
        var stage = try Self.stage(.active, .all)
        let key = Stage.key("adopted")
        try stage.register(key) { $0.command = nil }
        #expect(throws: Refusal.notRegistered("adopted")) {
            try stage.push(PushMessage(kind: .alert, action: .tapped), to: key, badge: 4)
        }
        #expect(stage.application(key)?.record.badge == 4)
        #expect(stage.application(key)?.saved?.badge == 4)
        #expect(stage.events[key]?.last?.badge == 4)
    }
}
