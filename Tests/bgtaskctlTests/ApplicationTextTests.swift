import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite("What a person reads of applications")
struct ApplicationTextTests {
    private let terminal = Style.terminal(width: 80, colour: false)

    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map(String.init)
    }

    private var applications: [Applications.Application] {
        [
            Sample.application(),
            Sample.application {
                $0.id = "weather-clock"
                $0.state = .notRunning
                $0.pids = []
                $0.remainingMs = nil
                $0.backgroundMs = nil
                $0.badge = 0
                $0.tasks = 0
                $0.freezer = nil
                $0.lastTermination = Sample.termination(.memoryPressure)
            },
        ]
    }

    @Test("a table has the state, tasks, times, badge and processes of each, and how it ended")
    func table() {
        let table = ApplicationText.table(applications, owners: false)
        #expect(
            lines(table.text(.terminal(width: 120, colour: false))) == [
                "ID             STATE       TASKS  REMAINING  AWAY  BADGE  PIDS       LAST RUN",
                "player         background      1   2min 55s    5s      2  4711,4712  -",
                "weather-clock  notRunning      0          -     -      0  -          "
                    + "memoryPressure, 3min ago",
            ])
        #expect(
            lines(table.text(.plain)) == [
                "player\tbackground\t1\t2min 55s\t5s\t2\t4711,4712\t-",
                "weather-clock\tnotRunning\t0\t-\t-\t0\t-\tmemoryPressure, 3min ago",
            ])
    }

    @Test(
        "a table fits 80 columns, with the owners and however long ids and lists of processes are")
    func fits() {
        let wide = Sample.application {
            $0.id = String(repeating: "player", count: 20)
            $0.pids = Array(100_000...100_040)
            $0.backgroundMs = 3_599_000
            $0.badge = 99_999
            $0.lastTermination = Sample.termination(.backgroundTimeOverrun)
        }
        let text = ApplicationText.table([wide], owners: true).text(terminal)
        for line in lines(text) { #expect(TextWidth.of(line) <= 80) }
    }

    @Test("states have their colours, and none on a terminal without")
    func colours() {
        let table = ApplicationText.table(applications, owners: false)
        let text = table.text(.terminal(width: 120, colour: true))
        #expect(text.contains("\u{1B}[33mbackground\u{1B}[0m"))
        #expect(text.contains("\u{1B}[90mnotRunning\u{1B}[0m"))
        #expect(!table.text(terminal).contains("\u{1B}"))
    }

    @Test(
        "an order's line says how the application is after it",
        arguments: [
            (.notRunning, "player is not running"), (.inactive, "player is inactive"),
            (.active, "player is active"),
            (.background, "player is in the background, with 2min 55s left"),
            (.suspended, "player is suspended, and not frozen"),
        ] as [(Applications.State, String)])
    func sentences(state: Applications.State, line: String) {
        let application = Sample.application { $0.state = state }
        #expect(ApplicationText.sentence(application) == line + "\n")
    }

    @Test("a frozen application, one without a limit and one with a wild id are said as such")
    func sentenceEdges() {
        let frozen = Sample.application {
            $0.state = .suspended
            $0.frozen = true
        }
        #expect(ApplicationText.sentence(frozen) == "player is suspended\n")
        let player = Sample.application { $0.remainingMs = nil }
        #expect(ApplicationText.sentence(player) == "player is in the background\n")
        let wild = Sample.application {
            $0.id = "a\u{1B}[2J\nb"
            $0.state = .active
        }
        #expect(ApplicationText.sentence(wild) == "a\\x1b[2J\\x0ab is active\n")
    }

    @Test("a registration says the state too where the application runs already")
    func registered() {
        let active = Sample.application { $0.state = .active }
        #expect(ApplicationText.registered(active) == "player is registered; it is active\n")
        #expect(ApplicationText.registered(applications[1]) == "weather-clock is registered\n")
    }

    @Test("show has every field of the interface, one a line")
    func fields() {
        let adopted = Sample.application {
            $0.frozen = true
            $0.state = .suspended
            $0.freezer = .unit
            $0.units = ["player.service", "app-player-1.scope"]
            $0.lastTermination = Sample.termination(.crashed, signal: "SIGSEGV")
            $0.command = ["./player", "--quiet"]
            $0.profile = "extended"
            $0.handles = [.didBecomeActive, .badgeChanged]
        }
        #expect(
            lines(ApplicationText.fields(adopted).text(terminal)) == [
                "       id  player",
                "    owner  1000",
                "    state  suspended",
                "     pids  4711,4712",
                "   frozen  yes",
                "remaining  2min 55s",
                "     away  5s",
                "    badge  2",
                "    tasks  1",
                "  freezer  the unit that it lives in",
                "    units  player.service app-player-1.scope",
                " last run  crashed 3min ago (signal SIGSEGV)",
                "  command  ./player --quiet",
                "  profile  extended",
                "  handles  didBecomeActive badgeChanged",
            ])
        let plain = lines(ApplicationText.fields(applications[1]).text(.plain))
        #expect(plain.contains("pids\t-"))
        #expect(plain.contains("units\t-"))
    }

    @Test(
        "a receipt is in words",
        arguments: [
            (
                .delivered, .didReceiveRemoteNotification, nil,
                "delivered: didReceiveRemoteNotification"
            ),
            (.delivered, nil, nil, "delivered"),
            (.deferred, nil, 720_000, "deferred: not before 12min"),
            (.deferred, nil, nil, "deferred"),
            (
                .dropped, nil, nil,
                "dropped: it has no callback for this message, or none is called in its state"
            ),
        ] as [(Applications.Receipt, Applications.Callback?, Int?, String)])
    func receipts(
        receipt: Applications.Receipt, callback: Applications.Callback?, notBeforeMs: Int?,
        line: String
    ) {
        var reply = Applications.Push.Output()
        reply.receipt = receipt
        reply.callback = callback
        reply.notBeforeMs = notBeforeMs
        #expect(ReceiptText.line(reply) == line + "\n")
    }
}

@Suite("The story of how a run ended")
struct TerminationTextTests {
    @Test(
        "says when and why, for each reason",
        arguments: [
            (Sample.termination(.exited, status: 0), "ended 3min ago (status 0), by itself"),
            (Sample.termination(.crashed, signal: "SIGSEGV"), "crashed 3min ago (signal SIGSEGV)"),
            (Sample.termination(.crashed, status: 70), "crashed 3min ago (status 70)"),
            (Sample.termination(.terminated), "terminated 3min ago, by order"),
            (
                Sample.termination(.memoryPressure, signal: "SIGKILL"),
                "terminated 3min ago (signal SIGKILL), because memory was short while it was suspended"
            ),
            (
                Sample.termination(.backgroundTimeOverrun),
                "terminated 3min ago, because its background time was over"
            ),
            (
                Sample.termination(.messageOverrun),
                "terminated 3min ago, because it did not finish with a silent message in time"
            ),
            (
                Sample.termination(.exitsOnSuspend),
                "ended 3min ago, because it ends when another would be suspended"
            ),
            (
                Sample.termination(.interrupted),
                "interrupted 3min ago, because the daemon or the machine stopped"
            ),
        ])
    func reasons(end: Applications.Termination, text: String) {
        #expect(TerminationText.story(end) == text)
    }

    @Test("names every task that was still held, with its age and budget")
    func held() {
        var end = Sample.termination(.backgroundTimeOverrun)
        end.backgroundMs = 180_000
        end.held = [Sample.heldTask("upload", 17, ageMs: 178_000, Sample.budget(180_000, 5000))]
        let story =
            "terminated 3min ago, because its background time was over; "
            + "it had been in the background for 3min; "
        #expect(
            TerminationText.story(end) == story
                + "it still held 1 task: upload (id 17, 2min 58s old, budget 3min, grace 5s)")
        end.held.append(Sample.heldTask("play", 18, ageMs: 61_000, nil))
        #expect(
            TerminationText.story(end) == story
                + "it still held 2 tasks: upload (id 17, 2min 58s old, budget 3min, grace 5s), "
                + "play (id 18, 1min 1s old, no limit)")
    }

    @Test("a task's name cannot steer the terminal that shows the story")
    func wildName() {
        let application = Sample.application {
            var end = Sample.termination(.terminated)
            end.held = [Sample.heldTask("a\u{1B}[2Jb", 1, ageMs: 0, nil)]
            $0.lastTermination = end
        }
        let text = ApplicationText.fields(application).text(.plain)
        #expect(text.contains("a\\x1b[2Jb (id 1, 0s old, no limit)"))
        #expect(!text.contains("\u{1B}"))
    }
}
