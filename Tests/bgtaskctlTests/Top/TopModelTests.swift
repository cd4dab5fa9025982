import TaskAPI
import Testing
import TaskControl

@Suite struct TopModelTests {
    private func stage(_ tasks: [Tasks.Task]) -> TopStage {
        var stage = TopStage()
        stage.take(.listed(tasks))
        return stage
    }

    @Test(
        "what ends next is first, then what has no limit, what stands still, and the queue as it stands"
    )
    func order() {
        let stage = stage([
            Sample.queued(1), Sample.queued(2) { $0.priority = 5 },
            Sample.task(3, left: 90_000), Sample.task(4, left: 30_000),
            Sample.task(5, left: 0) { $0.remaining = Sample.remaining(ms: nil, hardMs: nil, nil) },
            Sample.task(6, left: 4000) { $0.state = .expiring },
            Sample.task(7, left: 10_000) { $0.state = .dormant },
        ])
        #expect(stage.rows == [6, 4, 3, 5, 7, 2, 1])
    }

    @Test("the next order comes with s, and after the last the first")
    func orders() {
        var stage = stage([
            Sample.task(1, left: 10_000) { ($0.name, $0.ageMs) = ("b", 1000) },
            Sample.task(2, left: 20_000) { ($0.name, $0.ageMs, $0.owner) = ("a", 5000, 7) },
        ])
        var seen = [stage.rows]
        for _ in TopOrder.allCases {
            stage.type("s")
            seen.append(stage.rows)
        }
        #expect(seen == [[1, 2], [2, 1], [2, 1], [1, 2], [1, 2], [1, 2]])
    }

    @Test("the chosen line stays with its task, wherever that goes")
    func choice() {
        var stage = stage([
            Sample.task(1, left: 10_000), Sample.task(2, left: 20_000),
            Sample.task(3, left: 30_000),
        ])
        #expect(stage.chosen == 1)
        stage.press(.down)
        #expect(stage.chosen == 2)
        stage.happen(.extended, Sample.task(2, left: 180_000))
        #expect(stage.rows == [1, 3, 2])
        #expect(stage.chosen == 2)
        stage.press(.up)
        #expect(stage.chosen == 3)
        stage.press(.end)
        #expect(stage.chosen == 2)
        stage.press(.home, .pageDown)
        #expect(stage.chosen == 2)
    }

    @Test(
        "one that was chosen by hand stays with its outcome when it has ended, until another is chosen"
    )
    func ends() {
        var stage = stage([Sample.task(1, left: 10_000), Sample.task(2, left: 20_000)])
        // Nobody chose it.
        stage.happen(.ended, Sample.ended(.completed) { $0.id = 1 })
        #expect(stage.rows == [2])
        stage.happen(.began, Sample.task(3, left: 30_000))
        stage.press(.down, .up)
        stage.happen(.ended, Sample.ended(.failed, status: 3) { $0.id = 2 })
        #expect(stage.rows.contains(2))
        #expect(stage.line(with: ">")?.contains("failed") == true)
        #expect(stage.rows == [2, 3])
        stage.press(.down)
        #expect(stage.rows == [3])
        #expect(stage.chosen == 3)
        #expect(stage.text[0] == " tasks  1 running  |  1 completed  1 failed")
    }

    @Test("a filter looks in the number and all names, is seen, and goes with Escape")
    func filter() {
        var stage = stage([
            Sample.task(1, left: 10_000) { $0.name = "Upload photos" },
            Sample.task(2, left: 20_000) { $0.owner = 7 },
            Sample.task(30, left: 20_000) { $0.application = "Mail" },
            Sample.queued(4) { $0.group = "uploads" },
        ])
        stage.type("/UPLOAD")
        #expect(stage.rows == [1, 4])
        #expect(stage.text.last?.hasPrefix("filter: UPLOAD_") == true)
        stage.press(.enter)
        #expect(stage.text[0] == " tasks  2 with \"UPLOAD\" of 4:  3 running  1 queued")
        stage.type("/")
        stage.press(.backspace, .backspace, .backspace, .backspace, .backspace, .backspace)
        stage.type("mail")
        #expect(stage.rows == [30])
        stage.press(.escape)
        #expect(stage.rows == [1, 4])
        stage.press(.escape)
        #expect(stage.rows.count == 4)
        stage.type("/user7")
        #expect(stage.rows == [2])
        stage.press(.escape)
        stage.type("/30")
        #expect(stage.rows == [30])
        stage.type("nothing")
        #expect(stage.chosen == nil)
        #expect(stage.line(with: "no task has \"30nothing\"") != nil)
    }

    @Test("cancel is asked once, and only yes is yes", arguments: ["y", "Y", "n", "c", "q", " "])
    func cancel(answer: String) {
        var stage = stage([Sample.task(7, left: 10_000)])
        #expect(stage.type("c").isEmpty)
        #expect(stage.text.last?.hasPrefix("cancel flush (7)?") == true)
        let orders = stage.type(answer)
        #expect(orders == (answer.lowercased() == "y" ? [.cancel(7)] : []))
        #expect(stage.model.mode == .list)
        #expect(stage.type("q") == [.quit])
    }

    @Test("keys are orders about the chosen task")
    func orderKeys() {
        var stage = stage([
            Sample.task(1, left: 10_000), Sample.queued(2) { $0.group = "uploads" },
        ])
        #expect(stage.type("+") == [.extend(1)])
        stage.take(.extended(1, Sample.remaining(ms: 175_000, hardMs: 180_000, .ownBudget)))
        #expect(
            stage.text.last
                == "flush (1): 2min 55s until the warning, 3min until the limit (own budget)")
        #expect(stage.type("e") == [.explain(1)])
        #expect(stage.type("p").isEmpty)
        #expect(stage.text.last == "flush (1) is in no group")
        stage.press(.down)
        #expect(stage.type("p") == [.pause("uploads")])
        stage.take(.ordered(.pause("uploads")))
        #expect(stage.text.last == "group uploads is paused; what runs goes on")
        var group = Tasks.Group()
        (group.name, group.paused) = ("uploads", true)
        var groups = Tasks.Groups.Output()
        groups.groups = [group]
        stage.take(.grouped(groups))
        #expect(stage.type("p") == [.resume("uploads")])
        stage.take(.refused(.resume("uploads"), "permission denied"))
        #expect(stage.text.last == "permission denied")
        stage.now += 10_000
        #expect(stage.text.last?.hasPrefix("q quit") == true)
        #expect(stage.press(.redraw) == [.redraw])
    }

    @Test("without a task no key does harm")
    func empty() {
        var stage = TopStage()
        let keys: [TopKey] = [
            .up, .down, .pageUp, .pageDown, .home, .end, .enter, .escape, .backspace,
            .character("e"),
            .character("c"), .character("+"), .character("p"), .character("f"), .character("é"),
        ]
        for key in keys { #expect(stage.press(key).isEmpty) }
        #expect(stage.line(with: "nothing runs or waits") != nil)
    }

    @Test("all users are an operator's; who is refused sees their own again")
    func everybody() {
        var stage = stage([])
        #expect(stage.type("a") == [.watch(everybody: true)])
        #expect(stage.line(with: "USER") != nil)
        let refusal = "permission denied: --all is for root"
        #expect(
            stage.take(.refused(.watch(everybody: true), refusal)) == [.watch(everybody: false)])
        #expect(stage.text.last == refusal)
        #expect(stage.line(with: "USER") == nil)
    }

    @Test("while the daemon is gone nothing goes on, and it is said; then it does")
    func lost() {
        var stage = stage([Sample.task(1, left: 90_000)])
        stage.now += 5000
        stage.take(.lost("bgtaskd closed the connection"))
        stage.now += 7000
        #expect(stage.text[0] == " tasks  no connection for 7s: bgtaskd closed the connection")
        #expect(stage.line(with: "running")?.contains("1min 25s") == true)
        #expect(stage.model.outputWanted == nil)
        #expect(stage.model.askedFor.isEmpty)
        for keys in ["+", "e", "cy"] {
            #expect(stage.type(keys).isEmpty)
            #expect(stage.text.last?.hasPrefix("no connection to bgtaskd: press it") == true)
        }
        stage.take(.connected)
        stage.take(.listed([Sample.task(1, left: 78_000)]))
        #expect(stage.line(with: "1min 18s") != nil)
    }

    @Test("a daemon that does not answer is named, with for how long")
    func silent() {
        var stage = stage([Sample.task(1, left: 90_000)])
        stage.take(.wentSilent)
        stage.now += 4000
        #expect(stage.text[0].contains("no answer from bgtaskd for 4s"))
        stage.take(.answered)
        #expect(!stage.text[0].contains("no answer"))
    }

    @Test("times count down, progress and output are the chosen task's")
    func pane() {
        var stage = stage([
            Sample.task(1, left: 90_000) {
                $0.status = "compressing"
                var progress = Tasks.Progress()
                (progress.completed, progress.total) = (21, 50)
                $0.progress = progress
            },
            Sample.task(2, left: 100_000),
        ])
        #expect(
            stage.line(with: ">")
                == ">  1  flush           running    [####.....:]   1min 30s  42% compressing  slee…"
        )
        stage.now += 30_000
        #expect(stage.line(with: "    1min  ") != nil)
        #expect(stage.line(with: "[####......] 42% (21 of 50)  compressing") != nil)
        #expect(stage.model.outputWanted == 1)
        stage.take(.printed(1, "one\r\ntw", isFirst: true))
        stage.take(.printed(1, "o\u{1B}[2J\tthree\n", isFirst: false))
        #expect(stage.line(with: "one") == "one")
        #expect(stage.line(with: "two") == "two\\x1b[2J    three")
        // What comes late is of a task that is not chosen any more.
        stage.press(.down)
        stage.take(.printed(1, "late\n", isFirst: false))
        #expect(stage.line(with: "one") == nil)
        #expect(stage.line(with: "late") == nil)
    }

    @Test("an explanation takes the place of the output, until another task is chosen")
    func explanation() {
        var stage = stage([Sample.queued(1), Sample.queued(2)])
        var rule = Tasks.Explanation()
        (rule.rule, rule.value, rule.text) = ("slots", 4, "all slots are taken")
        rule.earliestChangeMs = 55_000
        stage.take(.explained(1, [rule]))
        #expect(stage.line(with: "slots (4): all slots are taken; can change in 55s") != nil)
        stage.press(.down, .up)
        #expect(stage.line(with: "slots (4)") == nil)
        stage.take(.explained(1, []))
        #expect(stage.line(with: "nothing holds it back") != nil)
        #expect(stage.type("e").isEmpty)
        #expect(stage.line(with: "nothing holds it back") == nil)
        stage.take(.explained(2, [rule]))
        #expect(stage.line(with: "slots (4)") == nil)
    }

    @Test("what no event tells is taken from the answer, but an end is an end")
    func shown() {
        var stage = stage([Sample.queued(1), Sample.task(2, left: 90_000)])
        #expect(Array(stage.model.askedFor) == [2, 1])
        stage.take(.shown(Sample.queued(1) { $0.waiting = "paused" }))
        #expect(stage.line(with: "waits: paused") != nil)
        stage.happen(.ended, Sample.ended(.completed) { $0.id = 2 })
        stage.take(.shown(Sample.task(2, left: 89_000)))
        #expect(stage.rows == [1])
    }

    @Test("help names the keys, and any key goes back")
    func help() {
        var stage = stage([])
        stage.type("?")
        #expect(!stage.text.contains { $0.contains("…") })
        #expect(stage.line(with: "PgUp PgDn Home End") != nil)
        #expect(stage.press(.down).isEmpty)
        #expect(stage.line(with: "PgUp PgDn Home End") == nil)
        #expect(stage.type("hq").isEmpty)
        #expect(stage.line(with: "PgUp PgDn Home End") == nil)
    }

    @Test("each key is answered, one too that does nothing")
    func feedback() {
        var stage = stage([])
        for key in ["e", "+", "c", "p", "f"] {
            #expect(stage.type(key).isEmpty)
            #expect(stage.text.last == "there is no task to do that with", "\(key)")
        }
        stage.type("x")
        #expect(stage.text.last == "x is no key here; ? shows those that are")
        stage.take(.listed([Sample.task(1, left: 90_000)]))
        stage.type("s")
        #expect(stage.text.last == "ordered by age")
        stage.type("ssss")
        #expect(stage.text.last == "ordered by what is left")
        #expect(stage.type("cn").isEmpty)
        #expect(stage.text.last == "flush (1) was not cancelled")
    }

    @Test("the output fills the screen and comes back small")
    func following() {
        var stage = stage([Sample.task(1, left: 90_000)])
        stage.take(.printed(1, (1...40).map { "line \($0)\n" }.joined(), isFirst: true))
        stage.press(.enter)
        #expect(stage.line(with: "line 22") != nil)
        #expect(stage.line(with: "line 40") != nil)
        stage.happen(.ended, Sample.ended(.completed) { $0.id = 1 })
        #expect(stage.line(with: "line 40") != nil)
        #expect(stage.type("q").isEmpty)
        #expect(stage.line(with: "line 22") == nil)
    }
}
