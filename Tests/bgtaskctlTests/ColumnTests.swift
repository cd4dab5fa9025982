import TaskAPI
import Testing
import TaskControl

@Suite struct ColumnTests {
    private let terminal = Style.terminal(width: 80, colour: false)

    /// Three tasks whose numbers are in the order of their names, and of nothing else.
    private let tasks = [
        Sample.task {
            $0.id = 1
            $0.name = "ant"
            $0.ageMs = 2000
            $0.priority = 5
            $0.endedMs = 1000
            $0.state = .ended
            $0.outcome = .failed
            $0.usedMs = nil
        },
        Sample.task {
            $0.id = 2
            $0.name = "bee"
            $0.ageMs = 3000
            $0.owner = 1000
            $0.usedMs = 9000
            $0.remaining = Sample.remaining(ms: 1, hardMs: 9000, .ownBudget)
        },
        Sample.task {
            $0.id = 3
            $0.name = "cat"
            $0.ageMs = 1000
            $0.state = .queued
            $0.owner = 7
            $0.usedMs = 1
            $0.waiting = "network"
            $0.command = ["a"]
        },
    ]

    private func ids(_ order: String) throws -> [Int] {
        try TaskOrder.parse(order).sorted(tasks) { "user\($0)" }.map(\.id)
    }

    @Test(
        "each column has an order of its own, and what it does not know comes last",
        arguments: [
            ("id", [1, 2, 3]), ("-id", [3, 2, 1]), ("-name", [3, 2, 1]), ("age", [3, 1, 2]),
            ("-age", [2, 1, 3]), ("state", [3, 2, 1]), ("priority", [2, 3, 1]),
            ("owner", [1, 3, 2]), ("user", [1, 2, 3]), ("used", [3, 2, 1]), ("-used", [2, 3, 1]),
            ("left", [2, 1, 3]), ("-left", [2, 1, 3]), ("ended", [1, 2, 3]),
            ("command", [3, 1, 2]), ("waiting", [3, 1, 2]), ("outcome,-id", [1, 3, 2]),
            ("-PRIORITY,age", [1, 3, 2]),
        ])
    func orders(order: String, expected: [Int]) throws {
        #expect(try ids(order) == expected)
    }

    @Test("in whatever order they come, what says nothing is the last", arguments: [false, true])
    func unknown(isReversed: Bool) throws {
        let tasks = isReversed ? tasks.reversed() : tasks
        for (order, expected) in [("used", [3, 2, 1]), ("-used", [2, 3, 1])] {
            let sorted = try TaskOrder.parse(order).sorted(tasks) { String($0) }
            #expect(sorted.map(\.id) == expected)
        }
    }

    @Test("of two ends the later one is the greater")
    func ends() throws {
        var tasks = tasks
        tasks[1].endedMs = 5000
        let ids = try TaskOrder.parse("ended").sorted(tasks) { String($0) }.map(\.id)
        #expect(ids == [2, 1, 3])
    }

    @Test("a table has the columns that were asked for, in their order, empty ones too")
    func chooses() throws {
        let choice = try ColumnChoice.parse("id,age,NAME,status")
        let table = TaskTable.chosen(tasks, choice, isPerson: true) { String($0) }
        #expect(
            table.text(terminal).split(separator: "\n") == [
                "ID  AGE  NAME  STATUS", " 1   2s  ant   -", " 2   3s  bee   -", " 3   1s  cat   -",
            ])
    }

    @Test("why a task waits stands beside its state unless it has a column of its own")
    func waiting() throws {
        for (columns, isPerson, line) in [
            ("state", true, "queued: network"), ("state", false, "queued"),
            ("state,waiting", true, "queued\tnetwork"),
        ] {
            let choice = try ColumnChoice.parse(columns)
            let table = TaskTable.chosen([tasks[2]], choice, isPerson: isPerson) { String($0) }
            #expect(table.text(.plain) == line + "\n")
        }
    }

    @Test(
        "every column says something of a task that has everything", arguments: TaskColumn.allCases)
    func says(column: TaskColumn) {
        let task = Sample.task {
            $0.state = .ended
            $0.outcome = .failed
            $0.reason = "r"
            $0.endedMs = 1
            $0.exit = Tasks.Exit()
            $0.exit?.status = 1
            $0.status = "s"
            $0.application = "a"
            $0.group = "g"
            $0.pid = 1
            $0.cpuMs = 1
            $0.memoryPeakBytes = 1
        }
        let queued = Sample.task {
            $0.state = .queued
            $0.waiting = "network"
        }
        let told = [task, queued, Sample.task()].map { column.text($0, TaskColumn.Reader()) }
        #expect(told.contains { $0 != Table.nothing })
        let ranks = [task, queued, Sample.task()].map { column.rank($0) { String($0) } }
        #expect(ranks.contains { $0 != nil })
    }

    @Test("history has the same fields for a script as ever")
    func history() {
        let ended = Sample.task {
            $0.state = .ended
            $0.outcome = .completed
            $0.endedMs = 1000
        }
        let table = TaskTable.history([ended], owners: true, isPerson: false) { String($0) }
        let fields = table.text(.plain).split(separator: "\t")
        #expect(fields.count == 7)
        #expect(fields[0...3] == ["7", "0", "flush", "completed"])
        #expect(fields[4].count == "2026-03-01 14:03:07".count)
        #expect(fields[5...] == ["5s", "sleep 60\n"])
    }

    private func daemon() throws -> FakeDaemon {
        let tasks = tasks
        return try FakeDaemon { peer in
            var output = Tasks.List.Output()
            output.tasks = tasks
            peer.expect(Tasks.List.self, reply: output)
        }
    }

    private func run(_ arguments: [String]) throws -> CommandRun {
        let daemon = try daemon()
        let run = try CommandRun(
            [CommandRun.program] + arguments, ["BGTASK_SOCKET=\(daemon.path)"])
        #expect(run.finish() == 0)
        #expect(run.errors == "")
        return run
    }

    @Test("list orders first, and cuts then; so does it in JSON")
    func lists() throws {
        for (arguments, output) in [
            (["--sort", "-age", "--limit", "2"], "2\n1\n"), (["--reverse"], "3\n2\n1\n"),
            (["--sort=-age", "--reverse", "-n", "1"], "3\n"), (["-n", "2"], "1\n2\n"),
        ] {
            #expect(try run(["list", "--columns", "id"] + arguments).output == output)
        }
        let json = try run(["list", "--json", "--sort", "-age", "--limit", "1"]).output
        #expect(timeless(json) == timeless(JSONLine.text(tasks[1])))
    }

    @Test("history is read no further than is shown, unless it has to be put in order")
    func histories() throws {
        let tasks = tasks
        let daemon = try FakeDaemon { peer in
            guard peer.nextCall() != nil else { return }
            for (index, task) in tasks.enumerated() {
                var output = Tasks.History.Output()
                output.task = task
                peer.send(output, continues: index < 2)
            }
            peer.waitForClose()
        }
        for (arguments, output) in [
            (["--limit", "2"], "1\n2\n"), (["--max", "1"], "1\n"), (["-n", "1"], "1\n"),
            (["--sort", "-id", "-n", "2"], "3\n2\n"), (["--reverse", "--limit", "1"], "3\n"),
        ] {
            let run = try CommandRun(
                [CommandRun.program, "history", "--columns", "id"] + arguments,
                ["BGTASK_SOCKET=\(daemon.path)"])
            #expect(run.finish() == 0)
            #expect(run.output == output)
        }
    }

    @Test(
        "what is no column is refused, with the nearest one and all that there are",
        arguments: [
            (
                ["list", "--columns", "id,nmae"],
                "there is no column \"nmae\"; did you mean name? There are: id"
            ),
            (["list", "--columns", ""], "there is no column \"\"; there are: id, user, "),
            (["history", "--sort", "-agee"], "there is no column \"agee\"; did you mean age?"),
            (["list", "--sort", "id,"], "there is no column \"\""),
            (["list", "--limit", "0"], "--limit must be at least 1"),
            (["history", "--limit", "1", "--max", "2"], "give --limit or --max, not both"),
        ])
    func refuses(arguments: [String], text: String) throws {
        let run = try CommandRun(
            [CommandRun.program] + arguments, ["BGTASK_SOCKET=/nowhere"])
        #expect(run.finish() == 64)
        #expect(run.errors.contains(text))
        #expect(run.errors.split(separator: "\n").count == 1)
    }
}
