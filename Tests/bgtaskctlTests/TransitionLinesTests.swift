import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite("The live view of transitions")
struct TransitionLinesTests {
    private let terminal = Style.terminal(width: 100, colour: false)
    private let events = [
        Sample.transition(1, .active, .active),
        Sample.transition(2, .active, .inactive, .willResignActive),
        Sample.transition(3, .inactive, .background, .didEnterBackground) {
            $0.remainingMs = 175_000
        },
        Sample.transition(4, .background, .background, .badgeChanged) { $0.badge = 3 },
        Sample.transition(5, .background, .background, .backgroundTimeExpiring) {
            $0.remainingMs = 5000
        },
        Sample.transition(6, .background, .suspended),
        Sample.transition(7, .suspended, .inactive, .willEnterForeground) {
            $0.backgroundMs = 3_900_000
        },
        Sample.transition(8, .inactive, .inactive, .didReceiveRemoteNotificationFetch) {
            $0.deliveryId = 12
            $0.payload = .object([("song", .integer(7))])
        },
        Sample.transition(9, .background, .notRunning, .willTerminate) {
            $0.reason = "backgroundTimeOverrun"
        },
    ]

    private func text(_ events: [Applications.Event], _ style: Style) -> [String] {
        var lines = TransitionLines()
        return events.map { event in
            let missed = lines.missed(before: event).map { "(\($0))\n" } ?? ""
            return missed + lines.line(event, at: "14:03:07", style)
        }.joined().split(separator: "\n").map(String.init)
    }

    @Test("each transition is a line, in columns")
    func golden() {
        let time = "14:03:07  player    "
        #expect(
            text(events, terminal) == [
                time + "active",
                time + "active → inactive        willResignActive",
                time + "inactive → background    didEnterBackground      2min 55s left",
                time + "background               badgeChanged            badge 3",
                time + "background               backgroundTimeExpiring  5s left",
                time + "background → suspended",
                time + "suspended → inactive     willEnterForeground     away 1h 5min",
                time + "inactive                 didReceiveRemoteNotificationFetch  "
                    + #"delivery 12, {"song":7}"#,
                time + "background → notRunning  willTerminate           backgroundTimeOverrun",
            ])
    }

    @Test("a script gets tabs, and both states on every line")
    func plain() {
        #expect(
            text(Array(events[..<3]), .plain) == [
                "14:03:07\tplayer\tactive\tactive\t-\t",
                "14:03:07\tplayer\tactive\tinactive\twillResignActive\t",
                "14:03:07\tplayer\tinactive\tbackground\tdidEnterBackground\t2min 55s left",
            ])
    }

    @Test("states and what is about to end are coloured, and the columns stay where they are")
    func colours() {
        let coloured = text(events, .terminal(width: 100, colour: true))
        #expect(
            coloured[0]
                == "\u{1B}[90m14:03:07\u{1B}[0m  player    \u{1B}[32mactive\u{1B}[0m")
        #expect(coloured[2].contains("inactive → \u{1B}[33mbackground\u{1B}[0m    didEnter"))
        #expect(coloured[4].contains("\u{1B}[33mbackgroundTimeExpiring\u{1B}[0m  5s left"))
        #expect(coloured[8].contains("\u{1B}[31mwillTerminate\u{1B}[0m           background"))
        for code in [31, 32, 33, 90] {
            #expect(coloured.joined().contains("\u{1B}[\(code)m"))
        }
    }

    @Test("a gap in the numbers is counted, also before the first event")
    func gaps() {
        let events = [
            Sample.transition(3, .active, .active),
            Sample.transition(4, .active, .inactive),
            Sample.transition(6, .inactive, .active),
            Sample.transition(107, .active, .inactive),
        ]
        #expect(
            text(events, .plain).filter { $0.hasPrefix("(") } == [
                "(2 events missed)", "(1 event missed)", "(100 events missed)",
            ])
    }

    @Test("a longer id widens the column for what follows")
    func widths() {
        var long = events[1]
        long.application = "weather-clock"
        #expect(
            text([events[0], events[1], long, events[1]], terminal).dropFirst() == [
                "14:03:07  player    active → inactive        willResignActive",
                "14:03:07  weather-clock  active → inactive        willResignActive",
                "14:03:07  player         active → inactive        willResignActive",
            ])
    }

    @Test("what an application or a message says cannot steer the terminal, and is cut there alone")
    func wild() {
        let event = Sample.transition(1, .active, .active, .didReceiveRemoteNotification) {
            $0.application = "a\u{1B}b"
            $0.payload = .object([("text", .string("\u{202E}" + String(repeating: "x", count: 99)))]
            )
            $0.reason = "one\ntwo"
        }
        for style in [terminal, .plain] {
            let lines = text([event], style)
            #expect(lines.count == 1)
            #expect(lines[0].contains("a\\x1bb"))
            #expect(lines[0].contains(#"{"text":"\u202e"#))
            #expect(lines[0].contains("one\\x0atwo"))
            #expect(lines[0].contains("…") == style.isTerminal)
        }
    }
}
