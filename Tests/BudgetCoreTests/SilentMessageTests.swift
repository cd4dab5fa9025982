import BudgetCore
import Testing

@Suite("docs/architecture.md, rule 22: silent messages")
struct SilentMessageTests {
    static let silent = PushMessage(kind: .silent, payload: "news")
    static let callback = "didReceiveRemoteNotificationFetch news"

    static func stage(
        _ state: ApplicationState, _ configure: (inout ApplicationRules) -> Void = { _ in }
    ) throws -> Stage {
        var stage = Stage(configure)
        try stage.register()
        try stage.play([.launch, .home, .pass(state == .suspended ? 60 : 1), .cut])
        #expect(stage.state() == state)
        return stage
    }

    @Test("it thaws the suspended until it is done, and no buffer follows")
    func delivered() throws {
        var stage = try Self.stage(.suspended)
        try stage.push(Self.silent)
        #expect(stage.take() == ["thaw", "(background)", Self.callback])
        #expect(stage.application()?.remaining(at: stage.clerk.now) == .seconds(30))
        stage.pass(.seconds(29))
        #expect(stage.take() == [])
        try stage.delivered()
        stage.pass(.zero)
        #expect(stage.take() == ["freeze", "(suspended)"])
        #expect(stage.clerk.registry.nextDeadline == nil)
        // A second time it changes nothing.
        try stage.delivered()
        #expect(throws: Refusal.invalidParameter("deliveryId")) {
            try stage.call { try $0.delivered(Stage.maps, 999_999, at: $1, &$2) }
        }
    }

    @Test("who does not say so in 30 s is terminated, and the record says why")
    func unanswered() throws {
        for state in [ApplicationState.suspended, .background] {
            var stage = try Self.stage(state)
            try stage.push(Self.silent)
            _ = stage.take()
            stage.pass(.seconds(30) - .nanoseconds(1))
            #expect(stage.take() == [])
            stage.pass(.nanoseconds(1))
            #expect(stage.take() == ["willTerminate", "SIGTERM"])
            stage.pass(.seconds(5))
            #expect(stage.take() == ["kill", "(notRunning)"])
            #expect(stage.last()?.reason == .messageOverrun)
        }
    }

    @Test(
        "a task begun for a message has what is left of its 30 s, and is named when they are over")
    func taskInMessageTime() throws {
        var stage = try Self.stage(.suspended)
        try stage.push(Self.silent)
        stage.pass(.seconds(10))
        try stage.begin("fetch")
        try stage.delivered()
        stage.pass(.seconds(15))
        #expect(stage.take().last == "backgroundTimeExpiring 5 s")
        stage.pass(.seconds(10))
        #expect(stage.last()?.reason == .backgroundTimeOverrun)
        #expect(stage.last()?.held.map(\.name) == ["fetch"])
    }

    @Test("each time it is woken it is told anew that its time expires")
    func toldOfExpiryAgain() throws {
        var stage = try Self.stage(.suspended)
        for _ in 0..<2 {
            try stage.push(Self.silent)
            try stage.begin("fetch")
            _ = stage.take()
            stage.pass(.seconds(25))
            #expect(stage.take() == ["backgroundTimeExpiring 5 s"])
            try stage.delivered()
            try stage.end("fetch")
            stage.pass(.zero)
            #expect(stage.state() == .suspended)
        }
    }

    @Test("one that comes to the front owes no answer any more")
    func frontClearsDebt() throws {
        var stage = try Self.stage(.suspended)
        try stage.push(Self.silent)
        try stage.play([.activate, .pass(1000), .home, .pass(60)])
        #expect(stage.state() == .suspended)
    }

    @Test("an alert by the fetch form has an id, and nothing is owed for it")
    func fetchForm() throws {
        var stage = Stage()
        try stage.register { $0.handles = Callbacks([.didReceiveRemoteNotificationFetch]) }
        try stage.play([.launch, .home, .pass(60), .cut])
        try stage.push(PushMessage(kind: .alert, action: .tapped))
        #expect(stage.events[Stage.maps]?.last?.delivery != nil)
        stage.pass(.seconds(60))
        #expect(stage.state() == .suspended)
    }

    @Test("a fourth within an hour is deferred with a receipt, and delivered at its time")
    func deferred() throws {
        var stage = try Self.stage(.suspended)
        for second in 0..<3 {
            #expect(try stage.push(Self.silent).receipt == .delivered)
            try stage.delivered()
            stage.pass(.seconds(10))
            #expect(stage.state() == .suspended, "\(second)")
        }
        _ = stage.take()
        let first = try stage.push(Self.silent)
        #expect(first == MessageReceipt(receipt: .deferred, notBefore: .seconds(3570)))
        let second = try stage.push(Self.silent)
        #expect(second.notBefore == .seconds(3580))
        #expect(stage.take() == [])
        #expect(
            stage.notes.suffix(2) == [
                .messageDeferred(.seconds(3570)), .messageDeferred(.seconds(3580)),
            ])
        #expect(stage.clerk.registry.nextDeadline == nil)
        // The hour goes on while the machine is asleep.
        try stage.play([.away(3000), .pass(569)])
        #expect(stage.take() == [])
        stage.pass(.seconds(1))
        #expect(stage.take() == ["thaw", "(background)", Self.callback])
        try stage.delivered()
        stage.pass(.seconds(10))
        #expect(stage.take() == ["freeze", "(suspended)", "thaw", "(background)", Self.callback])
        #expect(stage.application()?.run?.phase == .running)
        #expect(stage.clerk.registry.nextQueueDeadline == nil)
    }

    @Test("what is deferred is delivered when it comes to the front, in its order")
    func deferredToFront() throws {
        var stage = try Self.stage(.suspended) { $0.messagesPerHourMax = 1 }
        try stage.push(Self.silent)
        try stage.delivered()
        for payload in ["1", "2"] { try stage.push(PushMessage(kind: .silent, payload: payload)) }
        stage.pass(.seconds(10))
        _ = stage.take()
        try stage.activate()
        #expect(
            stage.take() == [
                "thaw", "willEnterForeground 70 s", "didBecomeActive",
                "didReceiveRemoteNotificationFetch 1", "didReceiveRemoteNotificationFetch 2",
            ])
        #expect(stage.clerk.registry.nextQueueDeadline == nil)
        stage.pass(.seconds(10_000))
        #expect(stage.take() == [])
    }

    @Test("what is deferred ends with the run, and is counted")
    func deferredDropped() throws {
        var stage = try Self.stage(.suspended) { $0.messagesPerHourMax = 1 }
        try stage.push(Self.silent)
        try stage.push(Self.silent)
        try stage.push(Self.silent)
        try stage.terminate()
        stage.pass(.seconds(10))
        #expect(stage.notes.contains(.messagesDropped(2)))
        #expect(stage.clerk.registry.nextQueueDeadline == nil)
        try stage.play([.launch, .cut, .pass(10_000)])
        #expect(stage.take() == [])
    }

    @Test("no more than the limit wait; where none may wake it, all are dropped")
    func limits() throws {
        var stage = try Self.stage(.suspended) {
            $0.messagesPerHourMax = 1
            $0.messagesDeferredMax = 2
        }
        let receipts = try (0..<4).map { _ in try stage.push(Self.silent).receipt }
        #expect(receipts == [.delivered, .deferred, .deferred, .dropped])
        #expect(stage.notes.last == .messagesDropped(1))
        var none = try Self.stage(.suspended) { $0.messagesPerHourMax = 0 }
        #expect(try none.push(Self.silent).receipt == .dropped)
        #expect(none.take() == [])
        // In front none has to wake it.
        try none.play([.activate, .cut])
        #expect(try none.push(Self.silent).receipt == .delivered)
    }

    @Test("messages in front count for nothing")
    func frontIsFree() throws {
        var stage = Stage()
        try stage.register()
        try stage.play([.launch])
        for _ in 0..<10 { #expect(try stage.push(Self.silent).receipt == .delivered) }
        try stage.play([.home, .pass(60), .cut])
        #expect(try stage.push(Self.silent).receipt == .delivered)
        #expect(stage.take() == ["thaw", "(background)", Self.callback])
    }

    @Test("a message that calls a freeze off is delivered, and the buffer follows it")
    func freezeCalledOff() throws {
        var stage = try Self.stage(.background)
        stage.held = [.freeze]
        stage.pass(.seconds(4))
        #expect(stage.take() == ["freeze"])
        try stage.push(PushMessage(kind: .alert, action: .tapped))
        #expect(stage.take() == ["thaw", "didReceiveNotificationResponse"])
        try stage.play([.frozen, .pass(4)])
        #expect(stage.take() == [])
        stage.pass(.seconds(1))
        #expect(stage.take() == ["freeze"])
    }
}
