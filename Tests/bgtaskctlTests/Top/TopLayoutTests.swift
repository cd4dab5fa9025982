import LinuxSystem
import TaskAPI
import Testing
import TaskControl

@Suite struct TopLayoutTests {
    private func bar(
        _ left: Int, of duration: Int, grace: Int, cells: Int = 10,
        _ change: (inout Tasks.Task) -> Void = { _ in }
    ) -> String? {
        let task = Sample.task {
            $0.budget = Sample.budget(duration, grace)
            $0.remaining = Sample.remaining(
                ms: max(0, left - grace), hardMs: left, .ownBudget)
            change(&$0)
        }
        var line = StyledLine()
        BudgetBar(task, cells: cells)?.add(to: &line)
        return line.spans.isEmpty ? nil : line.text
    }

    @Test(
        "a bar shows what is used, what is left, and the grace, which has a cell also where it is short"
    )
    func bars() {
        #expect(bar(180_000, of: 180_000, grace: 5000) == "[.........:]")
        #expect(bar(100_000, of: 180_000, grace: 5000) == "[####.....:]")
        #expect(bar(5001, of: 180_000, grace: 5000) == "[########.:]")
        #expect(bar(5000, of: 180_000, grace: 5000) == "[#########:]")
        #expect(bar(0, of: 180_000, grace: 5000) == "[#########!]")
        #expect(bar(100, of: 100, grace: 40) == "[......::::]")
        #expect(bar(20, of: 100, grace: 40) == "[######!!::]")
        #expect(bar(100, of: 100, grace: 0) == "[..........]")
        #expect(bar(0, of: 100, grace: 0) == "[##########]")
        #expect(bar(1, of: 2, grace: 1, cells: 2) == "[#:]")
    }

    @Test("with its application's time a task has used what it has, of that and of what is left")
    func applicationBar() {
        let text = bar(50_000, of: 600_000, grace: 5000) {
            $0.remaining?.bound = .applicationBackgroundTime
            $0.usedMs = 50_000
        }
        #expect(text == "[####.....:]")
    }

    @Test("what has no limit, waits or has ended has no bar")
    func noBar() {
        #expect(bar(10, of: 20, grace: 5) { $0.state = .queued } == nil)
        #expect(bar(10, of: 20, grace: 5) { $0.state = .ended } == nil)
        #expect(bar(10, of: 20, grace: 5) { $0.remaining?.hardMs = nil } == nil)
    }

    @Test("extreme times are bars too", arguments: [0, 1, 3_162_240_000_000])
    func extremes(time: Int) {
        for left in [0, 1, time, 3_162_240_000_000] {
            for grace in [0, 1, time] {
                let text = bar(left, of: max(time, 1), grace: grace)
                #expect(text.map { $0.utf8.count == 12 } ?? true)
            }
        }
    }

    @Test("the pressure is read as the kernel writes it")
    func pressure() {
        let text = """
            some avg10=12.34 avg60=0.10 avg300=0.05 total=123
            full avg10=1.05 avg60=0.00 avg300=0.00 total=1
            """
        #expect(
            MemoryPressure(text)?.text == "some waited for it 12.34% of the last 10s, all 1.05%")
        #expect(
            MemoryPressure("some avg10=100.00 total=1")?.text
                == "some waited for it 100.00% of the last 10s, all 0.00%")
        for text in ["", "full avg10=1.00", "some avg10=1", "some avg10=-1.00", "some avg10=1.999"]
        {
            #expect(MemoryPressure(text) == nil)
        }
    }

    @Test("a snapshot has all tasks, no keys and no chosen line")
    func snapshot() {
        var stage = TopStage(width: 80, height: nil)
        stage.take(.listed((1...300).map { Sample.task($0, left: 1000 * $0) }))
        let text = TopLayout(stage.model, at: stage.now).snapshot().map(\.text)
        #expect(text.count == 303)
        #expect(text[2].hasPrefix("   ID  NAME"))
        #expect(text[3].hasPrefix("    1  flush"))
        #expect(!text.joined().contains(">"))
    }

    @Test("groups, slots, applications and pressure are said above, as many as there is room for")
    func head() {
        var stage = TopStage(width: 64)
        var groups = Tasks.Groups.Output()
        groups.slots = 4
        groups.groups = (1...9).map { number in
            var group = Tasks.Group()
            (group.name, group.slots, group.running) = ("group\(number)", 2, 1)
            (group.queued, group.paused) = (number % 2, number == 1)
            return group
        }
        stage.take(.grouped(groups))
        stage.take(.listed([Sample.task(1, left: 9000) { $0.slots = 2 }]))
        var mail = Applications.Application()
        (mail.id, mail.state, mail.frozen) = ("mail", .suspended, true)
        var player = Applications.Application()
        (player.id, player.state, player.remainingMs) = ("player", .background, 61_000)
        stage.take(.appeared([mail, player]))
        stage.take(.measured(MemoryPressure("some avg10=1.00")))
        stage.now += 1000
        #expect(
            stage.text.prefix(4) == [
                " tasks  1 running",
                " slots  2 of 4 used by you  group1 1 of 2, 1 queued, paused  +8",
                "  apps  player background 1min  mail frozen",
                "memory  some waited for it 1.00% of the last 10s, all 0.00%",
            ])
    }

    @Test("hostile names are one line each, as wide as others")
    func hostile() {
        let names = [
            "\u{1B}[2J\u{1B}]0;evil\u{7}", "e" + String(repeating: "\u{301}", count: 5000),
            "\u{202E}abc", String(repeating: "写", count: 3000),
            String(repeating: "x", count: 10_000),
            "👩\u{200D}👩\u{200D}👧 family", "\u{200B}", "new\nline\tand\rmore", "",
        ]
        for width in [1, 2, 20, 33, 79, 80, 81, 130, 200] {
            var stage = TopStage(width: width, isOfEverybody: true)
            stage.take(
                .listed(
                    names.enumerated().map { index, name in
                        Sample.task(index + 1, left: 60_000) {
                            ($0.name, $0.group, $0.application) = (name, name, name)
                            ($0.status, $0.command) = (name, [name, name])
                        }
                    }))
            stage.take(.printed(1, names.joined(separator: "\n"), isFirst: true))
            for mode in ["", "\r", "?", "/", "c"] {
                if mode == "\r" { stage.press(.enter) } else { stage.type(mode) }
                let lines = stage.lines
                #expect(lines.count == 24)
                for line in lines {
                    #expect(TextWidth.of(line.text) <= width)
                    #expect(VisibleText.oneLine(line.text) == line.text)
                }
                stage.press(.escape)
            }
        }
    }

    @Test("the screen can be of any size")
    func sizes() {
        for width in [1, 5, 40, 80, 300] {
            for height in 1...60 {
                var stage = TopStage(width: width, height: height)
                stage.take(.listed((1...100).map { Sample.task($0, left: 1000 * $0) }))
                stage.press(.pageDown, .pageDown, .end)
                #expect(stage.lines.count == height)
                #expect(stage.lines.contains { $0.isChosen })
                stage.type("c")
                #expect(width < 40 || stage.line(with: "cancel flush (100)?") != nil)
            }
        }
    }
}
