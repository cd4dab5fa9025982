import BudgetCore
import Testing

@Suite(
    "docs/architecture.md, rules 14 to 21: each sequence, with what is ordered and told in its order"
)
struct TransitionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let cues: [Cue]
        let transcript: [String]
        /// Where it is afterwards, and why its last run ended.
        let state: ApplicationState
        let reason: TerminationReason?

        init(
            _ name: String, _ cues: [Cue], _ transcript: [String], _ state: ApplicationState,
            _ reason: TerminationReason? = nil
        ) {
            testDescription = name
            self.cues = [.register] + cues
            self.transcript = transcript
            self.state = state
            self.reason = reason
        }
    }

    static let launched = ["start", "didFinishLaunching", "didBecomeActive"]
    static let home = ["willResignActive", "didEnterBackground"]
    static let suspended = ["freeze", "(suspended)"]
    static let endedAwake = ["willTerminate", "SIGTERM", "kill", "(notRunning)"]
    static let killed = ["kill", "(notRunning)"]

    static func back(_ seconds: Int) -> [String] {
        ["willEnterForeground \(seconds) s", "didBecomeActive"]
    }

    static let visits: [Row] = [
        Row("launch", [.launch], launched, .active),
        Row("launch by activate", [.activate], launched, .active),
        Row("a start that fails", [.hold(.start), .launch, .notStarted], ["start"], .notRunning),
        Row(
            "home, and suspended after the buffer",
            [.launch, .cut, .home, .pass(4), .pass(1)], home + suspended, .suspended),
        Row(
            "home, and not suspended within the buffer",
            [.launch, .cut, .home, .pass(4)], home, .background),
        Row(
            "back within the buffer",
            [.launch, .home, .pass(3), .cut, .activate, .pass(60)], back(3), .active),
        Row(
            "back from the suspended state, with the time away",
            [.launch, .home, .pass(60), .cut, .activate], ["thaw"] + back(60), .active),
        Row(
            "the time away includes the machine's own sleep",
            [.launch, .home, .pass(60), .away(3600), .cut, .activate],
            ["thaw"] + back(3660), .active),
        Row(
            "the time away begins anew at each visit",
            [.launch, .home, .pass(60), .activate, .pass(9), .home, .pass(2), .cut, .activate],
            back(2), .active),
        Row(
            "the time away goes on over a message",
            [
                .launch, .home, .pass(60), .push(.silent, .none), .delivered, .pass(40), .cut,
                .activate,
            ], ["thaw"] + back(100), .active),
        Row(
            "interruption: no budget runs, and nothing is suspended",
            [.launch, .cut, .resign, .pass(1000), .activate],
            ["willResignActive", "didBecomeActive"], .active),
        Row(
            "a second interruption changes nothing",
            [.launch, .resign, .cut, .resign], [], .inactive),
        Row(
            "home out of an interruption",
            [.launch, .resign, .cut, .home, .pass(5)], ["didEnterBackground"] + suspended,
            .suspended),
        Row(
            "home in the background changes nothing",
            [.launch, .home, .pass(1), .cut, .home, .pass(4)], suspended, .suspended),
        Row("activate in front changes nothing", [.launch, .cut, .activate], [], .active),
        Row("adopted: in front at once, without a launch", [.adopt], ["didBecomeActive"], .active),
        Row(
            "single: the other leaves before it comes",
            [.launch, .cut, .other, .pass(5)],
            home + [
                "freeze", "(suspended)",
            ], .suspended),
    ]

    static let ends: [Row] = [
        Row(
            "terminated in front",
            [.launch, .cut, .terminate, .pass(5)], endedAwake, .notRunning, .terminated),
        Row(
            "terminated in front, and gone within the grace",
            [.launch, .cut, .terminate, .pass(1), .gone],
            ["willTerminate", "SIGTERM", "(notRunning)"], .notRunning, .terminated),
        Row(
            "terminated in an interruption",
            [.launch, .resign, .cut, .terminate, .pass(5)], endedAwake, .notRunning, .terminated),
        Row(
            "terminated in the background",
            [.launch, .home, .pass(1), .cut, .terminate, .pass(5)], endedAwake, .notRunning,
            .terminated),
        Row(
            "terminated in the suspended state: no callback",
            [.launch, .home, .pass(9), .cut, .terminate], killed, .notRunning, .terminated),
        Row(
            "terminated while it is started",
            [.hold(.start), .launch, .cut, .terminate], ["kill"], .notRunning, .terminated),
        Row(
            "terminated while it is being frozen: it runs, and is told",
            [.hold(.freeze), .launch, .home, .pass(9), .cut, .terminate, .frozen, .pass(5)],
            endedAwake, .notRunning, .terminated),
        Row(
            "terminated while it is being thawed: it is frozen, and is not told",
            [.launch, .home, .pass(9), .hold(.thaw), .cut, .activate, .terminate, .thawed],
            ["thaw"] + killed, .notRunning, .terminated),
        Row(
            "a second order to end changes nothing",
            [.launch, .hold(.kill), .cut, .terminate, .terminate, .pressure, .gone],
            ["willTerminate", "SIGTERM", "(notRunning)"], .notRunning, .terminated),
        Row(
            "a kill is repeated until nothing is left",
            [.launch, .hold(.kill), .cut, .terminate, .pass(7), .gone],
            ["willTerminate", "SIGTERM", "kill", "kill", "kill", "(notRunning)"], .notRunning,
            .terminated),
        Row(
            "exits by itself: what is left is killed",
            [.launch, .cut, .exit], killed, .notRunning, .exited),
        Row("crashes", [.launch, .cut, .crash], killed, .notRunning, .crashed),
        Row(
            "crashes in the background",
            [.launch, .home, .cut, .crash], killed, .notRunning, .crashed),
        Row(
            "is gone while it is suspended",
            [.launch, .home, .pass(9), .cut, .gone], ["(notRunning)"], .notRunning, .exited),
        Row(
            "an adopted one is gone", [.adopt, .cut, .gone], ["(notRunning)"], .notRunning, .exited),
        Row(
            "memory is short: the suspended one is killed without a word",
            [.launch, .home, .pass(9), .cut, .pressure], killed, .notRunning, .memoryPressure),
        Row(
            "memory is short: one in the background is told, and goes on",
            [.launch, .home, .pass(1), .cut, .pressure, .pass(1)], ["didReceiveMemoryWarning"],
            .background),
        Row(
            "memory is short: one that is being frozen or thawed is left alone",
            [
                .hold(.freeze), .launch, .home, .pass(9), .cut, .pressure, .frozen, .hold(.thaw),
                .activate, .pressure,
            ], ["(suspended)", "thaw"], .suspended),
        Row(
            "the next launch after a kill is cold",
            [.launch, .home, .pass(9), .pressure, .cut, .launch], launched, .active,
            .memoryPressure),
    ]

    static let crossings: [Row] = [
        Row(
            "activate while it is being frozen: the freeze is called off",
            [.hold(.freeze), .launch, .home, .pass(9), .cut, .activate, .frozen, .pass(60)],
            ["thaw"] + back(9), .active),
        Row(
            "activate while it is being thawed for a message",
            [
                .launch, .home, .pass(9), .hold(.thaw), .push(.silent, .none), .cut, .activate,
                .thawed,
            ], back(9) + ["didReceiveRemoteNotificationFetch"], .active),
        Row(
            "home while it is being thawed for the front: it stays in the background",
            [
                .launch, .home, .pass(9), .hold(.thaw), .activate, .cut, .home, .thawed, .pass(4),
                .pass(1),
            ], ["(background)"] + suspended, .suspended),
        Row(
            "activate while it is being started changes nothing",
            [.hold(.start), .launch, .activate, .activate, .started], launched, .active),
        Row(
            "a freeze that fails is tried again after 10 s",
            [
                .hold(.freeze), .launch, .home, .pass(5), .cut, .notFrozen, .pass(9), .release,
                .pass(1),
            ], suspended, .suspended),
        Row(
            "a freeze that fails is given up when it comes to the front",
            [.hold(.freeze), .launch, .home, .pass(5), .cut, .notFrozen, .activate, .pass(60)],
            back(5), .active),
        Row(
            "a freeze that is not confirmed in 5 s is undone, and tried again after 10 s",
            [
                .hold(.freeze), .launch, .home, .pass(5), .cut, .pass(5), .release, .pass(9),
                .pass(1),
            ],
            ["thaw"] + suspended, .suspended),
        Row(
            "a thaw that fails leaves it suspended",
            [.launch, .home, .pass(9), .hold(.thaw), .cut, .activate, .notThawed, .pass(60)],
            ["thaw"], .suspended),
        Row(
            "a thaw after a freeze that was called off is tried again until it works",
            [
                .hold(.freeze), .hold(.thaw), .launch, .home, .pass(5), .cut, .begin("a"),
                .notThawed, .pass(10), .release, .thawed, .pass(1),
            ], ["thaw", "thaw"], .background),
        Row(
            "late answers to orders of long ago change nothing",
            [
                .hold(.freeze), .launch, .home, .pass(5), .activate, .pass(1), .cut, .frozen,
                .notFrozen, .thawed, .notThawed, .started, .notStarted, .pass(60),
            ], [], .active),
    ]

    @Test("rules 14, 15 and 18: coming, leaving and coming back", arguments: Self.visits)
    func goes(row: Row) throws { try check(row) }

    @Test("rules 19 to 21: every way to end", arguments: Self.ends)
    func finishes(row: Row) throws { try check(row) }

    @Test("rule 19: orders that cross what the shell is doing", arguments: Self.crossings)
    func crosses(row: Row) throws { try check(row) }

    private func check(_ row: Row) throws {
        var stage = Stage()
        try stage.play(row.cues)
        #expect(stage.take().filter { !$0.hasPrefix("other: ") } == row.transcript)
        #expect(stage.state() == row.state)
        #expect(stage.last()?.reason == row.reason)
    }
}
