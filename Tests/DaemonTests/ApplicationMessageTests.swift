import JSON
import TaskAPI
import Testing
import Varlink

@Suite("Messages to applications (rule 22)")
struct ApplicationMessageTests {
    /// A row of the table: what an application is told of an alert, by its state and what the user did.
    struct Row: CustomTestStringConvertible, Sendable {
        let state: Applications.State
        let action: Applications.UserAction
        let older: [String]
        let newer: [String]

        var testDescription: String { "\(state), \(action)" }
    }

    private static let received = "didReceiveRemoteNotification"
    private static let response = "didReceiveNotificationResponse"
    private static let launched = ["didFinishLaunching inactive", "didBecomeActive active"]
    private static let lifecycle: [Applications.Callback] = [
        .didFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground,
        .willEnterForeground, .willTerminate,
    ]

    static let table: [Row] = [
        Row(
            state: .notRunning, action: .tapped, older: launched + ["\(received) active"],
            newer: launched + ["\(response) active"]),
        Row(state: .notRunning, action: .opened, older: [], newer: []),
        Row(state: .notRunning, action: .none, older: [], newer: []),
        Row(
            state: .background, action: .tapped, older: ["\(received) background"],
            newer: ["\(response) background"]),
        Row(state: .background, action: .opened, older: [], newer: []),
        Row(state: .background, action: .none, older: [], newer: []),
        Row(
            state: .suspended, action: .tapped,
            older: ["background", "\(received) background", "suspended"],
            newer: ["background", "\(response) background", "suspended"]),
        Row(state: .suspended, action: .opened, older: [], newer: []),
        Row(state: .suspended, action: .none, older: [], newer: []),
        Row(
            state: .active, action: .none, older: ["\(received) active"],
            newer: ["willPresentNotification active"]),
    ]

    @Test(
        "every row of the table, for older and for newer handlers", arguments: table, [false, true])
    func rows(row: Row, isNewer: Bool) throws {
        let daemon = try DaemonProcess(
            ContainmentMode.available[0], settings: "applications.suspendAfter = \"50ms\"\n")
        let client = try daemon.connect()
        try client.register("app") {
            $0.handles =
                Self.lifecycle + [.didReceiveRemoteNotification]
                + (isNewer ? [.willPresentNotification, .didReceiveNotificationResponse] : [])
        }
        if row.state != .notRunning { try client.order(Applications.Launch.self, "app") }
        if row.state == .background {
            // Who holds a task is not suspended.
            _ = try client.begin { $0.application = "app" }
            try client.order(Applications.EnterBackground.self, "app")
        }
        if row.state == .suspended { try client.suspend("app") }
        let watch = try ApplicationWatch("app", daemon)
        #expect(watch.present.state == row.state)
        let payload = JSONValue.object([("text", .string("hello"))])
        let answer = try client.push(.alert, row.action, to: "app") { $0.payload = payload }
        let expected = isNewer ? row.newer : row.older
        var told: [Applications.Event] = []
        if let last = expected.last {
            told = try watch.events { $0.step == last }
        }
        #expect(told.map(\.step) == expected)
        #expect(try watch.stepsUntilNow() == [])
        let messages = told.filter { $0.payload != nil }
        #expect(messages.count == (expected.isEmpty ? 0 : 1))
        #expect(messages.allSatisfy { $0.payload?.text == payload.text })
        #expect(answer.receipt == (expected.isEmpty ? .dropped : .delivered))
        #expect(answer.callback == messages.first?.callback)
        #expect(answer.notBeforeMs == nil)
    }

    @Test("an alert that was allowed in front is told again when it is tapped, by its response")
    func presented() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        try client.launch("app")
        let watch = try ApplicationWatch("app", daemon)
        _ = try client.push(.alert, to: "app") { $0.payload = .object([("n", .integer(1))]) }
        let tapped = try client.push(.alert, .tapped, to: "app") {
            $0.payload = .object([("n", .integer(1))])
        }
        #expect(tapped.callback == .didReceiveNotificationResponse)
        #expect(
            try watch.stepsUntilNow() == [
                "willPresentNotification active", "didReceiveNotificationResponse active",
            ])
    }

    @Test("of both forms of didReceiveRemoteNotification, the one that owes an answer is called")
    func fetch() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        try client.launch("app") {
            $0.handles = [.didReceiveRemoteNotification, .didReceiveRemoteNotificationFetch]
        }
        let watch = try ApplicationWatch("app", daemon)
        _ = try client.push(.alert, to: "app")
        #expect(try watch.stepsUntilNow() == ["didReceiveRemoteNotificationFetch active"])
    }

    @Test(
        "a silent message wakes a suspended application until it is done with it",
        arguments: ContainmentMode.available)
    func silent(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.often)
        let client = try daemon.connect()
        try client.launch("app")
        try client.suspend("app")
        let watch = try ApplicationWatch("app", daemon)
        let answer = try client.push(.silent, to: "app")
        #expect(answer.receipt == .delivered)
        #expect(answer.callback == .didReceiveRemoteNotificationFetch)
        let told = try watch.events { $0.callback != nil }
        #expect(
            told.map(\.step) == ["background", "didReceiveRemoteNotificationFetch background"])
        let id = try #require(told.last?.deliveryId)
        #expect(try client.applicationRules("app").contains("message"))
        #expect(try !client.application("app").frozen)
        try delivered(id, client)
        #expect(try watch.next().step == "suspended")
        // A second time changes nothing, and a number that was never given out is refused.
        try delivered(id, client)
        for wrong in [0, -1, 1_000_000, .max] {
            let refusal = try client.refusal(of: Applications.Delivered.self) {
                $0.id = "app"
                $0.deliveryId = wrong
            }
            #expect(refusal.refuses("deliveryId"), "\(wrong)")
        }
        #expect(try watch.stepsUntilNow() == [])
        #expect(try client.application("app").frozen)
    }

    @Test(
        "who is done with messages at once is suspended again each time",
        arguments: ContainmentMode.available)
    func doneAtOnce(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.often)
        let client = try daemon.connect()
        try client.launch("app")
        try client.suspend("app")
        let watch = try ApplicationWatch("app", daemon)
        for _ in 0..<100 {
            _ = try client.push(.silent, to: "app")
            let told = try watch.events { $0.callback != nil }
            try delivered(try #require(told.last?.deliveryId), client)
            #expect(try watch.next().step == "suspended")
        }
        #expect(!daemon.log.contains("could not be frozen"), "\(daemon.log)")
    }

    @Test("who does not say that it is done with a silent message is terminated")
    func overrun() throws {
        let daemon = try DaemonProcess(
            .supervisor, settings: Self.often + "applications.messageTime = \"1s\"\n")
        let client = try daemon.connect()
        try client.launch("app")
        try client.suspend("app")
        let watch = try ApplicationWatch("app", daemon)
        _ = try client.push(.silent, to: "app")
        #expect(
            try watch.steps(until: "notRunning") == [
                "background", "didReceiveRemoteNotificationFetch background",
                "willTerminate background", "notRunning",
            ])
        #expect(try client.application("app").lastTermination?.reason == .messageOverrun)
    }

    @Test("silent messages over the rate wait, with a receipt, and come when it is in front")
    func rate() throws {
        let daemon = try DaemonProcess(
            .supervisor,
            settings: """
                applications.suspendAfter = "50ms"
                applications.messagesPerHourMax = 1
                """)
        let client = try daemon.connect()
        try client.launch("app")
        try client.suspend("app")
        let watch = try ApplicationWatch("app", daemon)
        _ = try client.push(.silent, to: "app")
        let told = try watch.events { $0.callback != nil }
        try delivered(try #require(told.last?.deliveryId), client)
        #expect(try watch.next().step == "suspended")
        let second = try client.push(.silent, to: "app") {
            $0.payload = .object([("second", .bool(true))])
        }
        #expect(second.receipt == .deferred)
        let wait = try #require(second.notBeforeMs)
        #expect(wait > 0 && wait <= 3_600_000)
        #expect(try client.applicationRules("app").contains("messagesPerHourMax"))
        #expect(try watch.stepsUntilNow() == [])
        try client.order(Applications.Activate.self, "app")
        let returned = try watch.events { $0.payload != nil }
        #expect(
            returned.map(\.step) == [
                "willEnterForeground inactive", "didBecomeActive active",
                "didReceiveRemoteNotificationFetch active",
            ])
        #expect(try watch.stepsUntilNow() == [])
    }

    @Test("a badge is the application's own, whatever way it came, and each change is told once")
    func badge() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        try client.register("app")
        let watch = try ApplicationWatch("app", daemon)
        try client.setBadge(3, of: "app")
        try client.setBadge(3, of: "app")
        let dropped = try client.push(.silent, to: "app") { $0.badge = 4 }
        #expect(dropped.receipt == .dropped)
        #expect(try client.application("app").badge == 4)
        try client.setBadge(0, of: "app")
        #expect(
            try watch.steps(until: "badgeChanged notRunning 0") == [
                "badgeChanged notRunning 3", "badgeChanged notRunning 4",
                "badgeChanged notRunning 0",
            ])
        for refusal in [
            try client.refusal(of: Applications.SetBadge.self) {
                $0.id = "app"
                $0.badge = -1
            },
            try client.refusal(of: Applications.Push.self) {
                $0.id = "app"
                $0.badge = -1
            },
        ] {
            #expect(refusal.refuses("badge"))
        }
        #expect(try client.application("app").badge == 0)
    }

    private static let often = """
        applications.suspendAfter = "20ms"
        applications.messagesPerHourMax = 3600

        """

    private func delivered(_ id: Int, _ client: VarlinkClient) throws {
        try client.ask(Applications.Delivered.self) {
            $0.id = "app"
            $0.deliveryId = id
        }
    }
}
